// A loop of which MPI_Pcontrol chooses two steps, on 2 processes.

#include <mpi.h>

#include "tests/programs/report.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, in = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = 1 - rank;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int step = 0; step < 6; step++) {
    MPI_Pcontrol(step == 2 || step == 4 ? 1 : 0);
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, step, copy, &requests[0]);
    MPI_Isend(&step, 1, MPI_INT, peer, step, copy, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, copy);
  }
  MPI_Comm_free(&copy);
  report("sum %d", sum);
  MPI_Finalize();
}
