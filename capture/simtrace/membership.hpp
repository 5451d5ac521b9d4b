#pragma once
// Who is in a communicator, asked often.

#include <cstdint>
#include <map>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Asks `members`, which outlives it, for single ranks.
class RankSet {
 public:
  explicit RankSet(const trace::Members& members) : members_(&members) {}
  bool holds(std::int32_t rank);

 private:
  const trace::Members* members_;
  std::vector<std::int32_t> sorted_;  // if there are many runs, made when first asked for
};

class Membership {
 public:
  explicit Membership(const std::vector<trace::Members>& communicators);

  bool exists(std::int64_t communicator) const {
    return communicator >= 0 && static_cast<std::uint64_t>(communicator) < communicators_.size();
  }
  bool is_inter(std::int32_t communicator) const { return of(communicator).first_group > 0; }
  std::int64_t size(std::int32_t communicator) const {
    return communicator == trace::self_id ? 1 : sizes_[static_cast<std::size_t>(communicator)];
  }
  /// Members that are processes of this trace: -1 stands for one of another program.
  std::int64_t own_size(std::int32_t communicator) const {
    return size(communicator) - strangers_[static_cast<std::size_t>(communicator)];
  }
  bool has_strangers(std::int32_t communicator) const {
    return strangers_[static_cast<std::size_t>(communicator)] > 0;
  }
  std::vector<std::int32_t> world_ranks(std::int32_t communicator) const {
    return of(communicator).world_ranks();
  }
  /// `process` asks whether `rank` is in its communicator.
  bool holds(std::int32_t communicator, std::int32_t process, std::int32_t rank);
  /// Whether it may send messages there: to the members, in an intercommunicator to those of the other group.
  bool has_peer(std::int32_t communicator, std::int32_t process, std::int32_t rank);
  std::int64_t peers(std::int32_t communicator, std::int32_t process);
  /// Of an intercommunicator.
  bool in_one_group(std::int32_t communicator, std::int32_t a, std::int32_t b);

 private:
  const trace::Members& of(std::int32_t communicator) const {
    return communicators_[static_cast<std::size_t>(communicator)];
  }

  const std::vector<trace::Members>& communicators_;
  std::vector<std::int64_t> sizes_, strangers_;
  std::map<std::int32_t, trace::Members> first_groups_;  // of intercommunicators
  std::vector<RankSet> sets_;
  std::map<std::int32_t, RankSet> first_group_sets_;
};

}  // namespace simreplay::simtrace
