#pragma once
// What the ranks have, brought to rank 0 in the order of ranks. All of this is collective.

#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace simreplay::report {

template <class T>
std::vector<T> gather_rows(const std::vector<T>& mine, MPI_Comm comm) {
  static_assert(std::is_trivially_copyable_v<T>);
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  // Counted in rows, so that a million processes stay within MPI's int.
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), starts(static_cast<std::size_t>(size));
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<T> all(rank == 0 ? static_cast<std::size_t>(starts.back() + counts.back()) : 0);
  MPI_Gatherv(mine.data(), count, row, all.data(), counts.data(), starts.data(), row, 0, comm);
  MPI_Type_free(&row);
  return all;
}

/// By process; `numbers` are those of the rows, if they are not.
template <class T>
std::vector<T> in_order(std::vector<T> rows, const std::vector<std::int32_t>& numbers) {
  if (numbers.empty()) return rows;
  std::vector<T> ordered(rows.size());
  for (std::size_t i = 0; i < rows.size(); i++) ordered[static_cast<std::size_t>(numbers[i])] = rows[i];
  return ordered;
}

}  // namespace simreplay::report
