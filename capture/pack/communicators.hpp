#pragma once
// From the communicators of single processes to those of the trace.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "common/mpi_ops.hpp"
#include "common/trace/format.hpp"

namespace simreplay::pack {

/// A communicator as one process knew it, as world ranks; -1 for processes of another world.
struct LocalCommunicator {
  Op creator = Op::count;        // count: made by a call that is not recorded
  trace::Members local, remote;  // remote: of an intercommunicator, else empty
  std::int32_t id = 0;           // in the trace

  bool is_inter() const { return !remote.runs.empty(); }
};

/// Reads the items of a spool's communicator record; false if they make no sense.
bool parse(std::span<const std::int64_t> items, std::int32_t processes, LocalCommunicator& communicator);

/// Ids of communicators in the trace. Members that make a communicator all make it in the same order, so the
/// n-th one of certain members and a certain operation is the same for all of them.
class CommunicatorIds {
 public:
  explicit CommunicatorIds(std::int32_t processes);

  /// Gives ids to the communicators of one process, in the order in which it made them.
  void assign(std::span<LocalCommunicator> communicators);

  /// Members by id.
  const std::vector<trace::Members>& members() const { return members_; }

 private:
  using Key = std::vector<std::int64_t>;
  std::map<Key, std::vector<std::int32_t>> ids_;  // n-th id of those that are alike
  std::vector<trace::Members> members_;
};

/// Ranks of the communicators of one process.
class Ranks {
 public:
  /// `communicators`: local id 2 and up.
  Ranks(std::int32_t process, std::int32_t processes, std::span<const LocalCommunicator> communicators);

  bool knows(std::int32_t local_id) const {
    return local_id >= 0 && static_cast<std::size_t>(local_id) < table_.size();
  }
  bool knows_word(std::int64_t word) const {
    return word >= 0 && word < static_cast<std::int64_t>(table_.size());
  }
  std::int32_t id(std::int32_t local_id) const { return table_[static_cast<std::size_t>(local_id)].id; }
  /// World rank of a rank as spools name it, including wildcards.
  std::int32_t world_rank(std::int32_t local_id, std::int32_t rank) const;

 private:
  struct Entry {
    std::int32_t id;
    std::vector<std::int32_t> peers;  // empty: world
  };
  std::int32_t process_, processes_;
  std::vector<Entry> table_;
};

}  // namespace simreplay::pack
