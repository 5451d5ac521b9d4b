#pragma once
// Lists of plain values between the first rank of a communicator and all of them.

#include <mpi.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "common/handles.hpp"
#include "common/mpi_session.hpp"

namespace simreplay {

struct MpiTypeTraits {
  using Handle = MPI_Datatype;
  static Handle null() { return MPI_DATATYPE_NULL; }
  static void free(Handle type) { MPI_Type_free(&type); }
};
using MpiType = UniqueHandle<MpiTypeTraits>;

/// Counts are `int` in MPI: with a type of their own, values may be more than 2 GiB together.
template <class T>
MpiType mpi_type_of() {
  static_assert(std::is_trivially_copyable_v<T>);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return MpiType(type);
}

/// How many values each rank has, and where they lie one rank after another. Only on rank 0.
struct MpiBlocks {
  std::vector<int> counts, starts;
  int total = 0;

  MpiBlocks(MPI_Comm comm, std::size_t own) : counts(static_cast<std::size_t>(size_of(comm))) {
    const int mine = static_cast<int>(own);
    MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
    if (rank_in(comm) != 0) return;
    for (const int n : counts) {
      starts.push_back(total);
      total += n;
    }
  }
};

/// The values of all ranks in rank order; only on rank 0. Collective.
template <class T>
std::vector<T> gather(MPI_Comm comm, std::span<const T> own) {
  const MpiType type = mpi_type_of<T>();
  const MpiBlocks blocks(comm, own.size());
  std::vector<T> all(static_cast<std::size_t>(blocks.total));
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), type.get(), all.data(), blocks.counts.data(),
              blocks.starts.data(), type.get(), 0, comm);
  return all;
}

/// The way back: `count` values for this rank out of `all`, which rank 0 has. Collective.
template <class T>
std::vector<T> scatter(MPI_Comm comm, std::span<const T> all, std::size_t count) {
  const MpiType type = mpi_type_of<T>();
  const MpiBlocks blocks(comm, count);
  std::vector<T> own(count);
  MPI_Scatterv(all.data(), blocks.counts.data(), blocks.starts.data(), type.get(), own.data(),
               static_cast<int>(count), type.get(), 0, comm);
  return own;
}

/// The values of rank `root` for all. `List`: std::vector or std::string. Collective.
template <class List>
void broadcast(MPI_Comm comm, List& values, int root = 0) {
  const MpiType type = mpi_type_of<typename List::value_type>();
  unsigned long long count = values.size();
  MPI_Bcast(&count, 1, MPI_UNSIGNED_LONG_LONG, root, comm);
  values.resize(count);
  MPI_Bcast(values.data(), static_cast<int>(count), type.get(), root, comm);
}

}  // namespace simreplay
