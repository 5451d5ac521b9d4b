#include "replay/engine/groups.hpp"

#include <algorithm>

namespace simreplay::engine {

Group::Group(const trace::Members& members) : runs_(members.runs) {
  for (const auto& run : runs_) {
    first_rank_.push_back(size_);
    size_ += run.count;
  }
}

std::int32_t Group::world_rank(int rank) const {
  const auto run =
      static_cast<std::size_t>(std::ranges::upper_bound(first_rank_, rank) - first_rank_.begin()) - 1;
  return runs_[run].first + (rank - first_rank_[run]) * runs_[run].stride;
}

std::optional<int> Group::rank_of(std::int32_t world_rank) const {
  for (std::size_t i = 0; i < runs_.size(); i++) {
    const auto& run = runs_[i];
    const std::int32_t stride = run.stride == 0 ? 1 : run.stride;
    const std::int32_t distance = world_rank - run.first, index = distance / stride;
    if (index * stride == distance && index >= 0 && index < run.count) return first_rank_[i] + index;
  }
  return std::nullopt;
}

}  // namespace simreplay::engine
