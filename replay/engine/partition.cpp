#include "replay/engine/partition.hpp"

#include <exception>
#include <numeric>
#include <stdexcept>

#include "common/mpi_lists.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::engine {

Partition::Partition(std::span<const int> rank_of, int ranks) : first_(static_cast<std::size_t>(ranks) + 1) {
  for (const int rank : rank_of) first_[static_cast<std::size_t>(rank) + 1]++;
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  process_at_.resize(rank_of.size());
  place_of_.resize(rank_of.size());
  std::vector<std::int32_t> next(first_);
  for (std::size_t p = 0; p < rank_of.size(); p++) {
    const std::int32_t place = next[static_cast<std::size_t>(rank_of[p])]++;
    place_of_[p] = place;
    process_at_[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(p);
  }
}

Partition shared_partition(const trace::Reader& trace, MPI_Comm comm) {
  std::vector<std::int32_t> firsts;
  std::exception_ptr failure;
  if (rank_in(comm) == 0) try {
      firsts = Partition(trace.first_calls(0, trace.facts().processes), size_of(comm)).firsts();
    } catch (...) {
      failure = std::current_exception();
    }
  broadcast(comm, firsts);
  if (failure) std::rethrow_exception(failure);
  if (firsts.empty()) throw std::runtime_error("rank 0 cannot tell where processes begin");
  return Partition(std::move(firsts));
}

}  // namespace simreplay::engine
