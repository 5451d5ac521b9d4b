// The generator makes the same file with any number of ranks.

#include <mpi.h>

#include <string>

#include "capture/simtrace/generate.hpp"
#include "capture/simtrace/verify.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;

namespace {

bool is_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

}  // namespace

TEST_CASE("a generated trace has the same bits whether one rank or all ranks write it") {
  const std::string together = test::scratch_name(), alone = together + ".alone";
  for (const simtrace::Pattern& pattern : simtrace::patterns())
    for (const std::int32_t processes : {2, 3, 37}) {  // also fewer than ranks
      simtrace::Job job;
      job.pattern = &pattern;
      job.processes = processes;
      job.steps = 9;
      generate(job, together, MPI_COMM_WORLD);
      if (is_first()) {
        generate(job, alone, MPI_COMM_SELF);
        CAPTURE(pattern.name, processes);
        CHECK((test::content_of(together) == test::content_of(alone)));
        CHECK(simtrace::verify(trace::Reader(together)).shown == std::vector<std::string>{});
        std::filesystem::remove(together);
        std::filesystem::remove(alone);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
}
