#pragma once
// Work for several ranks, in blocks.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace simreplay::pack {

/// Cuts a row of things into at most `blocks` blocks of about equal size: the block of each.
inline std::vector<int> deal(const std::vector<std::uint64_t>& sizes, int blocks) {
  const auto total = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  std::vector<int> block_of;
  double before = 0;
  for (const std::uint64_t size : sizes) {
    const double middle = before + static_cast<double>(size) / 2;
    block_of.push_back(total > 0 ? std::min(static_cast<int>(middle / total * blocks), blocks - 1) : 0);
    before += static_cast<double>(size);
  }
  return block_of;
}

}  // namespace simreplay::pack
