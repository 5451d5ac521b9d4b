#include "replay/engine/partition.hpp"

#include <exception>
#include <stdexcept>

#include "common/mpi_lists.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::engine {

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
