#pragma once
// Which rank of the simulator hosts which virtual processors: blocks of about equal numbers of calls.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace simreplay::engine {

class Partition {
 public:
  /// `first_call` as in Reader::first_calls of all processes. Every process weighs its calls plus one.
  Partition(std::span<const std::uint64_t> first_call, int ranks) {
    const std::size_t processes = first_call.size() - 1;
    const auto weight = [&](std::size_t p) { return first_call[p] - first_call[0] + p; };
    const std::uint64_t total = weight(processes);
    first_.push_back(0);
    std::size_t p = 0;
    for (int r = 1; r < ranks; r++) {
      const std::uint64_t goal = total / static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(r);
      while (p < processes && weight(p) < goal) p++;
      first_.push_back(static_cast<std::int32_t>(p));
    }
    first_.push_back(static_cast<std::int32_t>(processes));
  }

  std::int32_t first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }
  std::int32_t count(int rank) const { return first(rank + 1) - first(rank); }
  int owner(std::int32_t process) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), process) - first_.begin()) - 1;
  }

 private:
  std::vector<std::int32_t> first_;  // per rank, and the end
};

}  // namespace simreplay::engine
