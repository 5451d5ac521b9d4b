#pragma once
// Collective operations among neighbours: what one process sends, the other one receives.

#include "capture/simtrace/channels.hpp"
#include "capture/simtrace/collective_log.hpp"
#include "capture/simtrace/fault_log.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Memory follows the messages whose other half has not been seen.
class Neighborhoods {
 public:
  /// `number` of the operation within its communicator.
  void add(const CallName& at, const trace::Signature& s, std::uint64_t number, FaultLog& faults);
  /// At the end of all processes. Where a member has not made an operation, that is said elsewhere.
  void expect_all_met(const CollectiveLog& operations, FaultLog& faults) const;

 private:
  Channels channels_;  // the tag is the number of the operation
};

}  // namespace simreplay::simtrace
