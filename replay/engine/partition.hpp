#pragma once
// Which rank of the simulator hosts which virtual processors: blocks of about equal numbers of calls, or
// where the network wants them.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/trace/reader.hpp"

namespace simreplay::engine {

class Partition {
 public:
  /// The first process of each rank, and the end.
  explicit Partition(std::vector<std::int32_t> firsts) : first_(std::move(firsts)) {}
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

  /// As a list says, by process.
  Partition(std::span<const int> rank_of, int ranks);

  const std::vector<std::int32_t>& firsts() const { return first_; }
  /// The places of a rank; processes have places in their order, unless a list said otherwise.
  std::int32_t first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }
  std::int32_t count(int rank) const { return first(rank + 1) - first(rank); }
  bool is_in_order() const { return process_at_.empty(); }
  std::int32_t process_at(std::int32_t place) const {
    return is_in_order() ? place : process_at_[static_cast<std::size_t>(place)];
  }
  std::int32_t place_of(std::int32_t process) const {
    return is_in_order() ? process : place_of_[static_cast<std::size_t>(process)];
  }
  int owner(std::int32_t process) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), place_of(process)) -
                            first_.begin()) -
           1;
  }

 private:
  std::vector<std::int32_t> first_;  // per rank, and the end
  std::vector<std::int32_t> process_at_, place_of_;
};

/// Of a trace among the ranks of `comm`. Rank 0 reads where the processes begin: of millions among thousands
/// of ranks that is too much to be read by each. Collective; where rank 0 throws, all do.
Partition shared_partition(const trace::Reader& trace, MPI_Comm comm);

}  // namespace simreplay::engine
