// The machines that ship with the program: each is found by its name and is what its comments say.
#include <cmath>

#include "common/error.hpp"
#include "common/machine.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;

namespace {

constexpr const char* names[] = {
    "10-gigabit-ethernet", "edr",    "fdr",          "gigabit-ethernet", "hdr", "ideal", "ndr",
    "omni-path",           "patent", "shared-memory"};

Duration one_way(const Machine& m) {
  return m.between.send_prolog.at(0) + m.between.latency.at(0) + m.between.receive_epilog.at(0);
}

double gigabits_per_s(const Machine& m) { return 8000 / m.between.send_per_byte.at(1 << 20).value(); }

}  // namespace

TEST_CASE("every preset is read by its name, and the message for an unknown name lists them all") {
  std::string listed;
  for (const char* name : names) {
    INFO(name);
    CHECK(read_machine(name).name == name);
    listed += " " + std::string(name);
  }
  CHECK_THROWS_WITH(
      read_machine("infiniband-xdr"),
      "infiniband-xdr: expected a machine file or one of the presets" + listed + ", found neither");
}

TEST_CASE("rates of presets are those of the link without headers and coding") {
  struct Link {
    const char* name;
    double data_gb_per_s;
    double payload, packet;  // bytes
  };
  for (const Link& l :
       {Link{"fdr", 4 * 14.0625 * 64 / 66, 4096, 4122}, Link{"edr", 100, 4096, 4122},
        Link{"hdr", 200, 4096, 4122}, Link{"ndr", 400, 4096, 4122}, Link{"gigabit-ethernet", 1, 1448, 1538},
        Link{"10-gigabit-ethernet", 10, 1448, 1538}}) {
    INFO(l.name);
    const double expected = l.data_gb_per_s * l.payload / l.packet;
    CHECK(std::abs(gigabits_per_s(read_machine(l.name)) / expected - 1) < 2e-4);
  }
}

TEST_CASE("a barrier of a preset with a measured or published latency costs about one small message") {
  for (const char* name :
       {"10-gigabit-ethernet", "edr", "fdr", "gigabit-ethernet", "hdr", "ndr", "omni-path"}) {
    INFO(name);
    const Machine m = read_machine(name);
    const auto difference = static_cast<double>((m.barrier_overhead - one_way(m)).count());
    CHECK(std::abs(difference) < 0.02 * static_cast<double>(one_way(m).count()));
  }
}

TEST_CASE("nothing costs anything on the ideal machine") { CHECK(read_machine("ideal").settings.empty()); }
