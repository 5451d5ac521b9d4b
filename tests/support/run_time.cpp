// To be preloaded: how long an MPI program runs between leaving MPI_Init and entering MPI_Finalize, the time
// that traces and predictions give. The slowest process counts. Rank 0 appends the seconds as a line to the
// file named by SIMREPLAY_RUN_TIME. Two readings of the clock in the whole run: nothing is disturbed.

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;
Clock::time_point start;

int started(int status) {
  start = Clock::now();
  return status;
}

void report() {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  double slowest = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const char* path = std::getenv("SIMREPLAY_RUN_TIME");
  if (rank != 0 || path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%.9f\n", slowest);
    std::fclose(file);
  }
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) { return started(PMPI_Init(argc, argv)); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return started(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize() {
  report();
  return PMPI_Finalize();
}

}  // extern "C"
