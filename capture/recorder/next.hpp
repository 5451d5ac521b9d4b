#pragma once
// The MPI library behind the recorder. Its symbols are looked up when the program runs: the recorder is also
// loaded into launchers and shells, which have no MPI library.

#include <mpi.h>

#include <atomic>

namespace simreplay::recorder {

/// The next definition of a function or variable after ours; ends the program if there is none.
void* find_next(const char* name);

/// Whether the program's MPI library is of the kind that this recorder was made for; if not, says so. Ends a
/// program whose handles do not fit into ours.
bool library_fits();

/// A function of the MPI library, or of another tool that stands between it and us.
template <class F>
class Next;

template <class R, class... A>
class Next<R(A...)> {
 public:
  using Function = R (*)(A...);
  constexpr explicit Next(const char* name) : name_(name) {}
  constexpr explicit Next(Function function) : function_(function) {}

  R operator()(A... a) {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] {
      function = reinterpret_cast<Function>(find_next(name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(a...);
  }

 private:
  const char* name_ = nullptr;
  std::atomic<Function> function_{nullptr};
};

/// What the recorder itself asks the library. None of these communicates.
namespace mpi {
#define SIMREPLAY_NEXT(variable, function) \
  inline constinit Next<decltype(function)> variable { "P" #function }
SIMREPLAY_NEXT(initialized, MPI_Initialized);
SIMREPLAY_NEXT(query_thread, MPI_Query_thread);
SIMREPLAY_NEXT(get_library_version, MPI_Get_library_version);
SIMREPLAY_NEXT(comm_rank, MPI_Comm_rank);
SIMREPLAY_NEXT(comm_size, MPI_Comm_size);
SIMREPLAY_NEXT(comm_test_inter, MPI_Comm_test_inter);
SIMREPLAY_NEXT(topo_test, MPI_Topo_test);
SIMREPLAY_NEXT(cartdim_get, MPI_Cartdim_get);
SIMREPLAY_NEXT(cart_shift, MPI_Cart_shift);
SIMREPLAY_NEXT(graph_neighbors_count, MPI_Graph_neighbors_count);
SIMREPLAY_NEXT(graph_neighbors, MPI_Graph_neighbors);
SIMREPLAY_NEXT(dist_graph_neighbors_count, MPI_Dist_graph_neighbors_count);
SIMREPLAY_NEXT(dist_graph_neighbors, MPI_Dist_graph_neighbors);
SIMREPLAY_NEXT(comm_group, MPI_Comm_group);
SIMREPLAY_NEXT(comm_remote_group, MPI_Comm_remote_group);
SIMREPLAY_NEXT(group_size, MPI_Group_size);
SIMREPLAY_NEXT(group_translate_ranks, MPI_Group_translate_ranks);
SIMREPLAY_NEXT(group_free, MPI_Group_free);
SIMREPLAY_NEXT(type_size_x, MPI_Type_size_x);
SIMREPLAY_NEXT(get_elements_x, MPI_Get_elements_x);
SIMREPLAY_NEXT(test_cancelled, MPI_Test_cancelled);
SIMREPLAY_NEXT(op_commutative, MPI_Op_commutative);
SIMREPLAY_NEXT(error_class, MPI_Error_class);
#undef SIMREPLAY_NEXT
}  // namespace mpi

/// Predefined handles. In Open MPI they are addresses of variables, which a library that is loaded into
/// programs without MPI cannot name.
struct Predefined {
  MPI_Comm world{}, self{}, null_communicator{};
  MPI_Request null_request{};
  MPI_Datatype byte{}, null_type{};
  MPI_Group no_group{};
};
inline constinit Predefined predefined{};
void find_predefined();

}  // namespace simreplay::recorder
