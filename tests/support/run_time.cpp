// To be preloaded: how long an MPI program runs, from when its last process left MPI_Init until its last
// enters MPI_Finalize, by the clock of the computer that all processes share. Rank 0 appends the seconds as a
// line to the file named by SIMREPLAY_RUN_TIME. Two readings of the clock in the whole run: nothing is
// disturbed. Each function is there as MPI_X and PMPI_X: the Fortran bindings of Open MPI call PMPI_X.

#include <dlfcn.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double start;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int init(int* argc, char*** argv) {
  const int status = next<decltype(MPI_Init)>("PMPI_Init")(argc, argv);
  start = now();
  return status;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = next<decltype(MPI_Init_thread)>("PMPI_Init_thread")(argc, argv, required, provided);
  start = now();
  return status;
}

void report() {
  const double times[] = {start, now()};
  double last[2] = {};
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(times, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const char* path = std::getenv("SIMREPLAY_RUN_TIME");
  if (rank != 0 || path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%.9f\n", last[1] - last[0]);
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
