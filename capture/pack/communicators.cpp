#include "capture/pack/communicators.hpp"

#include <algorithm>
#include <limits>

#include "capture/recorder/spool_format.hpp"

namespace simreplay::pack {
namespace {

using trace::Members;

/// Ranks are -1 or of the world, and a group has each at most once, but for those of other worlds.
bool is_sound(const Members::Run& run, std::int32_t processes) {
  const std::int64_t last = run.first + std::int64_t{run.count - 1} * run.stride;
  return run.count > 0 && run.count <= processes && run.first >= -1 && run.first < processes && last >= -1 &&
         last < processes;
}

bool parse_members(std::span<const std::int64_t>& items, std::int32_t processes, Members& members) {
  if (items.empty() || items[0] < 0 || static_cast<std::uint64_t>(items[0]) > (items.size() - 1) / 3)
    return false;
  const auto runs = static_cast<std::size_t>(items[0]);
  for (std::size_t i = 0; i < runs; i++) {
    const auto word = [&](std::size_t k) { return static_cast<std::int32_t>(items[1 + 3 * i + k]); };
    members.runs.push_back({word(0), word(1), word(2)});
    if (!is_sound(members.runs.back(), processes)) return false;
  }
  items = items.subspan(1 + 3 * runs);
  return true;
}

std::int32_t lowest(const Members& members) {
  std::int32_t rank = std::numeric_limits<std::int32_t>::max();
  for (const Members::Run& r : members.runs)
    if (r.count > 0) rank = std::min({rank, r.first, r.first + (r.count - 1) * r.stride});
  return rank;
}

/// Both sides of an intercommunicator see the same list: the group of the lowest rank first.
Members joined(const LocalCommunicator& c) {
  if (!c.is_inter()) return c.local;
  const bool local_first = lowest(c.local) < lowest(c.remote);
  Members all = local_first ? c.local : c.remote;
  const Members& second = local_first ? c.remote : c.local;
  all.first_group = static_cast<std::int32_t>(all.size());
  all.runs.insert(all.runs.end(), second.runs.begin(), second.runs.end());
  return all;
}

}  // namespace

bool parse(std::span<const std::int64_t> items, std::int32_t processes, LocalCommunicator& communicator) {
  return parse_members(items, processes, communicator.local) &&
         parse_members(items, processes, communicator.remote) && items.empty();
}

CommunicatorIds::CommunicatorIds(std::int32_t processes) : members_{Members::world(processes), Members{}} {}

void CommunicatorIds::assign(std::span<LocalCommunicator> communicators) {
  std::map<Key, std::size_t> made;  // by this process
  for (LocalCommunicator& c : communicators) {
    const Members all = joined(c);
    Key key{static_cast<std::int64_t>(c.creator), all.first_group};
    for (const Members::Run& r : all.runs) key.insert(key.end(), {r.first, r.stride, r.count});
    std::vector<std::int32_t>& alike = ids_[key];
    const std::size_t n = made[key]++;
    if (n == alike.size()) {
      alike.push_back(static_cast<std::int32_t>(members_.size()));
      members_.push_back(all);
    }
    c.id = alike[n];
  }
}

Ranks::Ranks(std::int32_t process, std::int32_t processes, std::span<const LocalCommunicator> communicators)
    : process_(process), processes_(processes) {
  table_.push_back({trace::world_id, {}});
  table_.push_back({trace::self_id, {process}});
  for (const LocalCommunicator& c : communicators)
    table_.push_back({c.id, (c.is_inter() ? c.remote : c.local).world_ranks()});
}

std::int32_t Ranks::world_rank(std::int32_t local_id, std::int32_t rank) const {
  if (rank == spool::any_rank) return trace::anybody;
  if (rank == spool::own_rank) return process_;
  if (rank < 0) return trace::nobody;
  const std::vector<std::int32_t>& peers = table_[static_cast<std::size_t>(local_id)].peers;
  if (local_id == trace::world_id) return rank < processes_ ? rank : trace::nobody;
  return static_cast<std::size_t>(rank) < peers.size() ? peers[static_cast<std::size_t>(rank)]
                                                       : trace::nobody;
}

}  // namespace simreplay::pack
