#include "common/trace/format.hpp"

#include <algorithm>

namespace simreplay::trace {

Members Members::of(std::span<const std::int32_t> ranks) {
  Members m;
  for (std::size_t i = 0; i < ranks.size();) {
    Run run{ranks[i], 1, 1};
    if (i + 1 < ranks.size()) run.stride = ranks[i + 1] - ranks[i];
    while (i + static_cast<std::size_t>(run.count) < ranks.size() &&
           ranks[i + static_cast<std::size_t>(run.count)] == run.first + run.count * run.stride)
      run.count++;
    if (run.count == 1) run.stride = 1;
    m.runs.push_back(run);
    i += static_cast<std::size_t>(run.count);
  }
  return m;
}

std::int64_t Members::size() const {
  std::int64_t n = 0;
  for (const Run& r : runs) n += r.count;
  return n;
}

std::vector<std::int32_t> Members::world_ranks() const {
  std::vector<std::int32_t> ranks;
  ranks.reserve(static_cast<std::size_t>(size()));
  for (const Run& r : runs)
    for (std::int32_t i = 0; i < r.count; i++) ranks.push_back(r.first + i * r.stride);
  return ranks;
}

bool Members::has_strangers() const {
  return std::ranges::any_of(
      runs, [](const Run& r) { return r.first == nobody || r.first + (r.count - 1) * r.stride == nobody; });
}

}  // namespace simreplay::trace
