#include "capture/simtrace/membership.hpp"

#include <algorithm>
#include <numeric>

namespace simreplay::simtrace {
namespace {

constexpr std::size_t runs_to_walk = 8;

bool holds(const trace::Members::Run& run, std::int32_t rank) {
  const std::int64_t distance = std::int64_t{rank} - run.first;
  if (run.stride == 0) return distance == 0;
  const std::int64_t steps = distance / run.stride;
  return distance % run.stride == 0 && steps >= 0 && steps < run.count;
}

std::int64_t strangers_in(const trace::Members::Run& run) {
  if (run.stride == 0) return run.first == trace::nobody ? run.count : 0;
  return holds(run, trace::nobody) ? 1 : 0;
}

trace::Members first_group_of(const trace::Members& all) {
  trace::Members group;
  std::int32_t left = all.first_group;
  for (trace::Members::Run run : all.runs) {
    run.count = std::min(run.count, left);
    if (run.count > 0) group.runs.push_back(run);
    left -= run.count;
  }
  return group;
}

}  // namespace

bool RankSet::holds(std::int32_t rank) {
  if (members_->runs.size() <= runs_to_walk)
    return std::ranges::any_of(members_->runs,
                               [rank](const auto& run) { return simtrace::holds(run, rank); });
  if (sorted_.empty()) {
    sorted_ = members_->world_ranks();
    std::ranges::sort(sorted_);
  }
  return std::ranges::binary_search(sorted_, rank);
}

Membership::Membership(const std::vector<trace::Members>& communicators) : communicators_(communicators) {
  for (const trace::Members& m : communicators) {
    sizes_.push_back(m.size());
    strangers_.push_back(std::accumulate(
        m.runs.begin(), m.runs.end(), std::int64_t{0},
        [](std::int64_t sum, const trace::Members::Run& run) { return sum + strangers_in(run); }));
    sets_.emplace_back(m);
  }
  for (std::int32_t id = 0; exists(id); id++) {
    if (!is_inter(id)) continue;
    const trace::Members& group = first_groups_.emplace(id, first_group_of(of(id))).first->second;
    first_group_sets_.emplace(id, RankSet(group));
  }
}

bool Membership::holds(std::int32_t communicator, std::int32_t process, std::int32_t rank) {
  if (communicator == trace::self_id) return rank == process;
  return sets_[static_cast<std::size_t>(communicator)].holds(rank);
}

bool Membership::has_peer(std::int32_t communicator, std::int32_t process, std::int32_t rank) {
  return holds(communicator, process, rank) &&
         !(is_inter(communicator) && in_one_group(communicator, process, rank));
}

std::int64_t Membership::peers(std::int32_t communicator, std::int32_t process) {
  if (!is_inter(communicator)) return size(communicator);
  const std::int64_t first = of(communicator).first_group;
  return first_group_sets_.at(communicator).holds(process) ? size(communicator) - first : first;
}

bool Membership::in_one_group(std::int32_t communicator, std::int32_t a, std::int32_t b) {
  RankSet& first = first_group_sets_.at(communicator);
  return first.holds(a) == first.holds(b);
}

}  // namespace simreplay::simtrace
