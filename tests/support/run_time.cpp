// To be preloaded: how long an MPI program runs between leaving MPI_Init and entering MPI_Finalize.
// The slowest process counts. Rank 0 appends the seconds as a line to the
// file named by SIMREPLAY_RUN_TIME. Two readings of the clock in the whole run: nothing is disturbed.
// Each function is there as MPI_X and PMPI_X: the Fortran bindings of Open MPI call PMPI_X.

#include <dlfcn.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;
Clock::time_point start;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int init(int* argc, char*** argv) {
  const int status = next<decltype(MPI_Init)>("PMPI_Init")(argc, argv);
  start = Clock::now();
  return status;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = next<decltype(MPI_Init_thread)>("PMPI_Init_thread")(argc, argv, required, provided);
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

int finalize() {
  report();
  return next<decltype(MPI_Finalize)>("PMPI_Finalize")();
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) { return init(argc, argv); }
int PMPI_Init(int* argc, char*** argv) { return init(argc, argv); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return init_thread(argc, argv, required, provided);
}
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return init_thread(argc, argv, required, provided);
}

int MPI_Finalize() { return finalize(); }
int PMPI_Finalize() { return finalize(); }

}  // extern "C"
