#pragma once
// Replays a SmallTrace on all ranks of the test and gives every rank the whole result.

#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/performance/hypotheses.hpp"
#include "replay/report/summary.hpp"
#include "tests/support/small_trace.hpp"

namespace simreplay::test {

struct Replayed {
  std::vector<report::ProcessRow> rows;
  std::int64_t calls = 0, messages = 0, unreceived = 0;
  std::string failure;  // empty if the replay came to its end
  std::string warnings;
  std::vector<observe::Row> metrics;  // regions, counters and timers of all processes
  /// That of a predicate names its counter.
  const observe::Row& metric(std::int32_t process, std::int32_t number, std::int32_t counter = -1) const;
  std::int64_t end(std::size_t process) const { return rows.at(process).end_ps; }
  std::int64_t waiting(std::size_t process) const { return rows.at(process).waiting_ps; }
};

/// Collective over MPI_COMM_WORLD. The trace lies in a file only meanwhile; with `predicted` the rewritten
/// trace is kept there.
Replayed replay(const SmallTrace& trace, const Machine& machine, const std::string& predicted = "");
/// The same for a file that exists.
Replayed replay_file(const std::string& path, const Machine& machine, const std::string& predicted = "");
/// What an observed replay finds out; the same on all ranks. Not of traces that cannot be replayed.
performance::Run observed_run(const SmallTrace& trace, const Machine& machine);
/// A name for a temporary file, the same on all ranks.
std::string scratch_name();

/// A file that all ranks of the test can read while it lives.
class SharedFile {
 public:
  explicit SharedFile(const std::string& text) : name_(scratch_name()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) std::ofstream(name_) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) std::remove(name_.c_str());
  }
  const std::string& name() const { return name_; }

 private:
  int rank_ = 0;
  std::string name_;
};

/// A machine from "key=value" settings.
Machine machine(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace simreplay::test
