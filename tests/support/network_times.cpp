// network_times HOSTS network.model=MODEL KEY=VALUE ... < messages: how long messages take in a network
// model.
//
// Messages are lines START_MS:SOURCE:DESTINATION:BYTES; printed is a line for each, in microseconds. For
// comparison with real networks (scripts/validate.sh).

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/mpi_session.hpp"
#include "replay/network/models.hpp"
#include "tests/support/network_driver.hpp"

namespace {

using namespace simreplay;

std::vector<network::Message> read_messages(std::istream& in) {
  std::vector<network::Message> list;
  double start_ms = 0;
  char colon = 0;
  network::Message m;
  while (in >> start_ms >> colon >> m.source >> colon >> m.destination >> colon >> m.bytes) {
    m.time = TimePoint{Duration{static_cast<std::int64_t>(start_ms * 1e9)}};
    list.push_back(m);
    m.id++;
  }
  return list;
}

void run(int argc, char** argv) {
  network::register_models();
  Machine machine;
  for (int i = 2; i < argc; i++) {
    const std::string setting = argv[i];
    const auto equals = setting.find('=');
    apply_setting(machine, setting.substr(0, equals), setting.substr(equals + 1), "command line");
  }
  const auto model = network::make(machine, std::stoi(argv[1]), MPI_COMM_WORLD);
  const std::vector<network::Message> list = read_messages(std::cin);
  network::test::Driver driver(*model, MPI_COMM_WORLD);
  const auto arrivals = driver.run(list);
  for (const network::Arrival& a : arrivals) {
    const Duration taken = a.time - list[static_cast<std::size_t>(a.id)].time;
    fmt::print("{:.1f}\n", static_cast<double>(taken.count()) * 1e-6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: network_times HOSTS network.model=MODEL KEY=VALUE... < messages\n");
    return 2;
  }
  try {
    const simreplay::MpiSession mpi(&argc, &argv);
    run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "network_times: {}\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
