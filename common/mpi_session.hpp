#pragma once
// MPI from start to end of a program, and the one way in which ranks agree on success.

#include <mpi.h>

#include <exception>
#include <string>

namespace simreplay {

/// Starts MPI; ends it in the destructor unless an exception is on its way out (then other ranks may
/// never reach MPI_Finalize: the caller ends the job with abort()).
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv) {
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiSession() {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  int rank_ = 0, size_ = 1;
};

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// A failure that all ranks know of and one of them has to report.
struct SharedFailure {
  std::string message;  // empty on ranks that need not print
};

/// Runs `work` on every rank; if it throws anywhere, every rank throws SharedFailure and the lowest rank
/// that failed holds the message. Collective.
template <class Work>
void together(MPI_Comm comm, Work&& work) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::string message;
  bool failed = false;
  try {
    work();
  } catch (const std::exception& e) {
    message = e.what();
    failed = true;
  }
  const int mine = failed ? rank : size;
  int first = size;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first < size) throw SharedFailure{rank == first ? message : std::string()};
}

}  // namespace simreplay
