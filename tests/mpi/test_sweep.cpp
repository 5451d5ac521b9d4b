// Sweeps of traces that machines cannot share: the pass is given up, and each machine is replayed alone.
#include <algorithm>
#include <cstdio>

#include "common/trace/reader.hpp"
#include "replay/sweep/passes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

/// Process 0 has two threads, and hears from all others; those stay far ahead of it.
SmallTrace with_threads(int processes, int messages) {
  SmallTrace t(processes);
  for (int p = 1; p < processes; p++)
    for (int m = 0; m < messages; m++) {
      t[p].compute((p + m) * 1'000'000).send(0, 100);
      t[0].call(Op::Recv, {.thread = static_cast<std::uint16_t>(m % 2), .peer = p, .bytes = 100});
    }
  return t;
}

std::vector<sweep::Variant> latencies(std::initializer_list<const char*> values) {
  std::vector<sweep::Variant> all;
  for (const char* latency : values)
    all.push_back({{latency}, machine({{"network.latency", latency}, {"send.prolog", "100ns"}})});
  return all;
}

}  // namespace

TEST_CASE("a sweep over processes with threads replays machine by machine") {
  const auto variants = latencies({"1us", "20us", "300us"});
  const SmallTrace trace = with_threads(5, 400);
  const std::string path = scratch_name();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) trace.write(path);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int again = 0; again < 5; again++) {
    const trace::Reader reader(path);
    const sweep::Result result = sweep::run(reader, variants, MPI_COMM_WORLD, [](double, TimePoint) {});
    REQUIRE(result.passes == variants.size());
    for (std::size_t i = 0; i < variants.size(); i++) {
      const Replayed alone = replay_file(path, variants[i].machine);
      REQUIRE(alone.failure.empty());
      std::int64_t end = 0;
      double waiting = 0;
      for (const report::ProcessRow& row : alone.rows) {
        end = std::max(end, row.end_ps);
        waiting += static_cast<double>(row.waiting_ps);
      }
      if (rank != 0) continue;
      CHECK(result.rows[i].predicted_ps == end);
      CHECK(result.rows[i].total.waiting_ps == waiting);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::remove(path.c_str());
}
