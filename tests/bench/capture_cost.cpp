// What a recorded call costs: run it bare and under simcapture, and compare (tests/bench/capture_cost.sh).
//
//   capture_cost [calls]
//
// Prints "name ns_per_call" for calls that MPI itself finishes in a few nanoseconds. Of many short rounds the
// fastest counts: all disturbances make a round slower.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int rounds = 50;

/// `work` makes `calls_each` MPI calls.
template <class Work>
void measure(const char* name, long calls, int calls_each, Work work) {
  double best = 1e30;
  for (int round = 0; round < rounds; round++) {
    const double begin = MPI_Wtime();
    for (long i = 0; i < calls; i += calls_each) work();
    best = std::min(best, (MPI_Wtime() - begin) / static_cast<double>(calls));
  }
  std::printf("%-28s %8.1f\n", name, best * 1e9);
}

void measure_all(long calls) {
  const MPI_Comm self = MPI_COMM_SELF;
  char out = 0, in = 0;
  measure("send to nobody", calls, 1, [&] { MPI_Send(&out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD); });
  measure("receive from nobody", calls, 1,
          [&] { MPI_Recv(&in, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  measure("probe without success", calls, 1, [&] {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, self, &found, MPI_STATUS_IGNORE);
  });
  measure("message to itself, 3 calls", calls, 3, [&] {
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_CHAR, 0, 0, self, &requests[0]);
    MPI_Isend(&out, 1, MPI_CHAR, 0, 0, self, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  });
  measure("reduction of one", calls, 1, [&] {
    double value = 1, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, self);
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  measure_all(argc > 1 ? std::atol(argv[1]) : 20'000);
  MPI_Finalize();
}
