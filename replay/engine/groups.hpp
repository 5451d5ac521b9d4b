#pragma once
// Ranks in a communicator against ranks in the world.

#include <cstdint>
#include <optional>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::engine {

/// One communicator, by its runs: neither direction of translation needs a table of its members.
class Group {
 public:
  explicit Group(const trace::Members& members);

  int size() const { return size_; }
  std::int32_t world_rank(int rank) const;
  std::optional<int> rank_of(std::int32_t world_rank) const;

 private:
  std::vector<trace::Members::Run> runs_;
  std::vector<int> first_rank_;  // of each run
  int size_ = 0;
};

}  // namespace simreplay::engine
