#pragma once
// The collective operations of all communicators: their members make the same ones in the same order.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/simtrace/fault_log.hpp"
#include "capture/simtrace/membership.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Memory follows the operations that some members have made and others have not.
class CollectiveLog {
 public:
  CollectiveLog(Membership& members, std::int32_t processes)
      : members_(members), made_(static_cast<std::size_t>(processes)) {}

  /// The number of the operation within its communicator; none if that makes no sense any more.
  std::optional<std::uint64_t> add(const CallName& at, const trace::Signature& s, FaultLog& faults);
  /// All members have made it.
  bool is_complete(std::int32_t communicator, std::uint64_t number) const;
  /// At the end of all processes. Of one that `is_cut`, it is not known what else it made.
  void expect_all_complete(const std::function<bool(std::int32_t)>& is_cut, FaultLog& faults) const;

 private:
  /// One operation, as the first member made it.
  struct Operation {
    CallName first;
    std::int32_t root;  // that somebody named
    std::int64_t bytes;
    std::uint64_t items;  // a hash
    std::int64_t members_there = 0;
    std::int32_t rootless = trace::nobody;  // in an intercommunicator: a member that named no root
    bool root_there = false;                // and whether the root named itself
  };
  struct Sequence {
    std::deque<Operation> open;
    std::uint64_t completed = 0;
    bool broken = false;  // members made different operations: what follows says nothing
  };

  std::uint64_t& next_of(std::int32_t process, std::int32_t communicator);
  static void compare(const CallName& at, const trace::Signature& s, const Operation& o, FaultLog& faults);
  void compare_roots_of_groups(const CallName& at, const trace::Signature& s, Operation& o, FaultLog& faults);
  bool has_known_root(Op op, std::int32_t communicator) const;
  void take_complete(std::int32_t communicator, Sequence& sequence, FaultLog& faults);
  std::int32_t first_missing(std::int32_t communicator, std::uint64_t number) const;

  Membership& members_;
  std::unordered_map<std::int32_t, Sequence> sequences_;
  // Per process and communicator: how many operations it has made.
  std::vector<std::vector<std::pair<std::int32_t, std::uint64_t>>> made_;
};

}  // namespace simreplay::simtrace
