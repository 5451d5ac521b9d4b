// Starts one more process, which sends its parent a number.

#include <mpi.h>

#include "tests/programs/report.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm other;
  int value = 42;
  MPI_Comm_get_parent(&other);
  if (other == MPI_COMM_NULL) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    report("the child says %d", value);
  } else {
    MPI_Send(&value, 1, MPI_INT, 0, 0, other);
  }
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
}
