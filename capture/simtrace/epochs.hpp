#pragma once
// Epochs of windows that name a group: what their targets and their origins call must meet.

#include "capture/simtrace/channels.hpp"
#include "capture/simtrace/fault_log.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// For each window, target and origin there are as many calls of MPI_Win_post, _start, _complete and _wait.
/// Memory follows the calls that have not met each other.
class Epochs {
 public:
  void add(const CallName& at, const trace::Signature& s);
  /// At the end of all processes.
  void expect_all_met(FaultLog& faults) const;

 private:
  Channels channels_;  // from origin to target; the tag says which of their calls meet
};

}  // namespace simreplay::simtrace
