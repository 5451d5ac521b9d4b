// Four threads of each of 2 processes exchange messages at the same time, if MPI allows it.

#include <mpi.h>

#include <thread>
#include <vector>

#include "tests/programs/report.hpp"

namespace {

constexpr int threads = 4, messages = 500;

void exchange(int rank, int thread, int* sum) {
  for (int i = 0; i < messages; i++) {
    int in = 0;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, thread, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&i, 1, MPI_INT, 1 - rank, thread, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    *sum += in;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> sums(threads, 0);
  if (provided == MPI_THREAD_MULTIPLE) {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; t++)
      workers.emplace_back(exchange, rank, t, &sums[static_cast<std::size_t>(t)]);
    for (std::thread& worker : workers) worker.join();
  } else {
    for (int t = 0; t < threads; t++) exchange(rank, t, &sums[static_cast<std::size_t>(t)]);
  }
  for (const int sum : sums) report("sum %d", sum);
  MPI_Finalize();
}
