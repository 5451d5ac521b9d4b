#pragma once
// The ranks that pack together.

#include <mpi.h>

#include <span>
#include <utility>
#include <vector>

#include "common/mpi_lists.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::pack {

/// Without a communicator there is one member, who needs no MPI. What follows is collective otherwise.
class Team {
 public:
  Team() = default;
  explicit Team(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)) {}

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  bool is_first() const { return rank_ == 0; }

  /// Runs `work` on every rank. If it fails anywhere, all throw; the exception is SharedFailure unless alone.
  template <class Work>
  void together(Work&& work) const {
    if (is_alone())
      work();
    else
      simreplay::together(comm_, std::forward<Work>(work));
  }

  /// The values of all ranks in rank order; only on rank 0.
  template <class T>
  std::vector<T> gather(std::vector<T> own) const {
    return is_alone() ? std::move(own) : simreplay::gather(comm_, std::span<const T>(own));
  }

  /// The values of rank `root` for all.
  template <class List>
  void broadcast(List& values, int root = 0) const {
    if (!is_alone()) simreplay::broadcast(comm_, values, root);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace simreplay::pack
