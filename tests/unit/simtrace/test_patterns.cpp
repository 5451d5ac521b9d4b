// What the generator makes: numbers in closed form, grids, and traces that fit together.

#include <cmath>
#include <set>
#include <tuple>

#include "capture/simtrace/patterns.hpp"
#include "capture/simtrace/summary.hpp"
#include "capture/simtrace/verify.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;
using namespace simreplay::simtrace;

namespace {

struct Summed {
  Summary summary;
  Verdict verdict;
  const OperationSum& operator[](Op op) const { return summary.operations[static_cast<std::size_t>(op)]; }
};

Summed generated(const Job& job) {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  test::write_generated(job, path);
  const trace::Reader reader(path);
  return {summarize(reader), verify(reader)};
}

}  // namespace

TEST_CASE("patterns make as many calls, messages and bytes as their definitions say") {
  // Calls and messages of all processes, for P processes and S steps.
  const auto [name, calls, messages] = GENERATE(table<std::string, int (*)(int, int), int (*)(int, int)>({
      {"pingpong", [](int p, int s) { return 2 * (p / 2) * 2 * s + 2 * p; },
       [](int p, int s) { return p / 2 * 2 * s; }},
      {"ring", [](int p, int s) { return p * (s + 2); }, [](int p, int s) { return p * s; }},
      {"halo2d", [](int p, int s) { return p * (9 * s + 2); }, [](int p, int s) { return 4 * p * s; }},
      {"halo3d", [](int p, int s) { return p * (13 * s + 2); }, [](int p, int s) { return 6 * p * s; }},
      {"halo3d-allreduce", [](int p, int s) { return p * (14 * s + 2); },
       [](int p, int s) { return 6 * p * s; }},
      {"molecular", [](int p, int s) { return p * (36 * s + s / 10 + 2); },
       [](int p, int s) { return 12 * p * s; }},
      {"alltoall", [](int p, int s) { return p * (s + 2); }, [](int, int) { return 0; }},
      {"allreduce", [](int p, int s) { return p * (s + 2); }, [](int, int) { return 0; }},
      {"master-worker", [](int p, int s) { return 4 * (p - 1) * s + 2 * p; },
       [](int p, int s) { return 2 * (p - 1) * s; }},
  }));
  for (const int processes : {1, 2, 3, 8, 12, 27})
    for (const int steps : {1, 5, 11}) {
      if (processes < find_pattern(name)->least_processes) continue;
      CAPTURE(name, processes, steps);
      const Summed t = generated(test::job_of(name, processes, steps));
      CHECK(t.verdict.shown == std::vector<std::string>{});
      CHECK(t.verdict.calls == calls(processes, steps));
      CHECK(t.verdict.messages == messages(processes, steps));
      std::int64_t sent = 0;
      for (const Op op : {Op::Send, Op::Isend, Op::Sendrecv}) sent += t[op].bytes;
      CHECK(sent == messages(processes, steps) * std::int64_t{8192});
    }
}

TEST_CASE("random traces fit together for any number of processes and any seed") {
  std::set<Op> seen;
  for (std::int32_t processes = 1; processes <= 40; processes += processes < 10 ? 1 : 7)
    for (std::uint64_t seed = 0; seed < 4; seed++) {
      CAPTURE(processes, seed);
      const Summed t = generated(test::job_of("random", processes, 25, seed));
      CHECK(t.verdict.shown == std::vector<std::string>{});
      for (const OpInfo& row : mpi_ops)
        if (t[row.op].calls > 0) seen.insert(row.op);
    }
  CHECK(seen.size() >= 29);  // they would not be of much use otherwise
}

TEST_CASE("a random trace of more processes than one list of blocks can hold") {
  const Summed t = generated(test::job_of("random", 300, 20));
  CHECK(t.verdict.shown == std::vector<std::string>{});
  CHECK(t[Op::Alltoallv].calls == 0);
}

TEST_CASE("grids are as cubic as possible") {
  using Grid = std::array<std::int32_t, 3>;
  const auto [processes, dimensions, expected] =
      GENERATE(table<std::int32_t, int, Grid>({{1, 3, {1, 1, 1}},
                                               {2, 3, {2, 1, 1}},
                                               {7, 3, {7, 1, 1}},
                                               {8, 3, {2, 2, 2}},
                                               {12, 3, {3, 2, 2}},
                                               {16, 3, {4, 2, 2}},
                                               {27, 3, {3, 3, 3}},
                                               {60, 3, {5, 4, 3}},
                                               {1024, 3, {16, 8, 8}},
                                               {1'000'000, 3, {100, 100, 100}},
                                               {12, 2, {4, 3, 1}},
                                               {16, 2, {4, 4, 1}},
                                               {13, 2, {13, 1, 1}}}));
  CAPTURE(processes, dimensions);
  CHECK(balanced_grid(processes, dimensions) == expected);
}

TEST_CASE("computation deviates by the imbalance, differently for each process, step and seed") {
  Job job = test::job_of("ring", 100, 100);
  job.compute = std::chrono::microseconds(100);
  job.imbalance = 0.05;
  std::set<std::int64_t> values;
  double sum = 0;
  for (std::int32_t p = 0; p < 100; p++)
    for (std::int64_t s = 0; s < 100; s++) {
      const std::int64_t ns = computation_of(job, p, s);
      REQUIRE(ns >= 95'000);
      REQUIRE(ns <= 105'000);
      values.insert(ns);
      sum += static_cast<double>(ns);
    }
  CHECK(values.size() > 5'000);
  CHECK(std::abs(sum / 10'000 - 100'000) < 200);
  Job other = job;
  other.seed = 2;
  CHECK(computation_of(job, 3, 4) != computation_of(other, 3, 4));
  job.imbalance = 0;
  CHECK(computation_of(job, 3, 4) == 100'000);
}

TEST_CASE("patterns are found by name") {
  for (const Pattern& p : patterns()) CHECK(find_pattern(p.name) == &p);
  CHECK(find_pattern("chaos") == nullptr);
}
