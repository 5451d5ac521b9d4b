// Waits by asking for the time again and again, computes, and asks many small things.

#include <mpi.h>

#include "tests/programs/report.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  constexpr int calls = 100'000;
  int rank = 0, size = 0;
  double last = MPI_Wtime();
  bool ascends = true;
  for (int i = 1; i < calls; i++) {
    const double t = MPI_Wtime();
    ascends = ascends && t >= last;
    last = t;
  }
  for (int i = 0; i < calls; i++) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  report("ascends %d, %d", ascends, size);
  MPI_Finalize();
}
