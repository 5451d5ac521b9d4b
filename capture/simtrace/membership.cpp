#include "capture/simtrace/membership.hpp"

#include <algorithm>

namespace simreplay::simtrace {
namespace {

constexpr std::size_t runs_to_walk = 8;

bool holds(const trace::Members::Run& run, std::int32_t rank) {
  const std::int64_t distance = std::int64_t{rank} - run.first;
  if (run.stride == 0) return distance == 0;
  const std::int64_t steps = distance / run.stride;
  return distance % run.stride == 0 && steps >= 0 && steps < run.count;
}

}  // namespace

bool Membership::holds(std::int32_t communicator, std::int32_t process, std::int32_t rank) {
  if (communicator == trace::self_id) return rank == process;
  const trace::Members& members = communicators_[static_cast<std::size_t>(communicator)];
  if (members.runs.size() <= runs_to_walk)
    return std::ranges::any_of(members.runs, [rank](const auto& run) { return simtrace::holds(run, rank); });
  std::vector<std::int32_t>& sorted = sorted_[static_cast<std::size_t>(communicator)];
  if (sorted.empty()) {
    sorted = members.world_ranks();
    std::ranges::sort(sorted);
  }
  return std::ranges::binary_search(sorted, rank);
}

}  // namespace simreplay::simtrace
