#pragma once
// The collective operations of all communicators: their members make the same ones in the same order.

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/simtrace/fault_log.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Memory follows the operations that some members have made and others have not.
class CollectiveLog {
 public:
  CollectiveLog(const std::vector<trace::Members>& communicators, std::int32_t processes);

  void add(const CallName& at, const trace::Signature& s, FaultLog& faults);
  /// At the end of all processes.
  void expect_all_complete(FaultLog& faults) const;

  bool is_inter(std::int32_t communicator) const { return inter_[static_cast<std::size_t>(communicator)]; }

 private:
  /// One operation, as the first member made it.
  struct Operation {
    CallName first;
    std::int32_t root;
    std::int64_t bytes;
    std::uint64_t items;  // a hash
    std::int64_t members_there;
  };
  struct Sequence {
    std::deque<Operation> open;
    std::uint64_t completed = 0;
    bool broken = false;  // members made different operations: what follows says nothing
  };

  std::uint64_t& next_of(std::int32_t process, std::int32_t communicator);
  void note_creation(const trace::Signature& s);
  void compare(const CallName& at, const trace::Signature& s, Sequence& sequence, const Operation& first,
               FaultLog& faults) const;
  std::int32_t first_missing(std::int32_t communicator, std::uint64_t number) const;

  const std::vector<trace::Members>& communicators_;
  std::vector<std::int64_t> sizes_;
  std::vector<bool> inter_;  // intercommunicators: roots and sizes differ between the groups
  std::unordered_map<std::int32_t, Sequence> sequences_;
  // Per process and communicator: how many operations it has made.
  std::vector<std::vector<std::pair<std::int32_t, std::uint64_t>>> made_;
};

}  // namespace simreplay::simtrace
