// The packet-level model divided among ranks finds the bits of one rank.

#include <mpi.h>

#include <algorithm>

#include "common/mpi_session.hpp"
#include "replay/network/infiniband/packets/parallel_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infiniband/small_network.hpp"

namespace simreplay::infiniband {
namespace {

/// Messages of all sizes that meet: from everywhere to everywhere, every third to one host.
std::vector<Injection> contended(int hosts) {
  std::vector<Injection> list;
  for (std::int64_t i = 0; i < 400; i++) {
    Injection m{.time = at_ps(i * i % 97 * 300'000), .id = i, .bytes = i * 7919 % 300'000};
    m.source = static_cast<std::int32_t>(i % hosts);
    m.destination = static_cast<std::int32_t>(i % 3 == 0 ? 1 : (i * 31 + i / hosts) % hosts);
    list.push_back(m);
  }
  return list;
}

void compare(const Net& net, const Settings& settings) {
  const std::vector<Injection> list = contended(net.fabric.hosts());
  const Run serial = run(net, settings, list);
  ParallelNetwork parallel(MPI_COMM_WORLD, net.fabric, net.tables, settings);
  for (const Injection& m : list)
    if (parallel.owns(m.source)) parallel.inject(m);
  parallel.run(at_ps(5'000'000));
  parallel.run(EventQueue::never);
  parallel.check_progress();
  std::vector<Arrival> mine = parallel.take_arrivals();
  sort_by_id(mine);
  std::size_t next = 0;
  bool equal = true;
  for (const Arrival& a : serial.arrivals) {
    if (!parallel.owns(a.destination)) continue;
    equal = equal && next < mine.size() && same(mine[next], a);
    next++;
  }
  CHECK(equal);
  CHECK(next == mine.size());
  const Figures all = parallel.gather_figures();
  CHECK(all.messages == 400);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  bool ports_equal = true;
  for (std::size_t p = 0; p < all.ports.size(); p++)
    ports_equal = ports_equal && same(all.ports[p], serial.figures.ports[p]);
  CHECK(ports_equal);
  CHECK(all.busy_ps == serial.figures.busy_ps);
  CHECK(all.latency.counts() == serial.figures.latency.counts());
}

}  // namespace

TEST_CASE("Ranks that share a fabric find the bits of one rank", "[packets]") {
  compare(Net("fat-tree:leaves=4,spines=2,hosts=3", "ftree"), {.bin = Duration{10'000'000}});
  compare(Net("torus:4x4", "torus-2QoS"), {.input_order = InputOrder::round_robin, .switch_buffer = 8448});
  compare(Net("fat-tree:leaves=5,spines=1,hosts=2", "updn"),
          {.congestion_control = true, .ccti_timer = Duration{5'000'000}});
}

TEST_CASE("Ranks that a fabric has no hosts for own nothing", "[packets]") {
  const Net net("single:2");
  ParallelNetwork parallel(MPI_COMM_WORLD, net.fabric, net.tables, {});
  if (parallel.owns(0)) parallel.inject({.id = 5, .source = 0, .destination = 1, .bytes = 1});
  parallel.run(EventQueue::never);
  CHECK(parallel.gather_figures().messages == 1);
  CHECK(parallel.take_arrivals().size() == (parallel.owns(1) ? 1U : 0U));
}

}  // namespace simreplay::infiniband
