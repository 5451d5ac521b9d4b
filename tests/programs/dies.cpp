// Process 1 ends in the way that the argument names, after some calls; the others wait for it.
//
//   dies kill | segv | abort | mpi-abort | exit | _exit | return | in-time

#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string how = argc > 1 ? argv[1] : "in-time";
  int rank = 0, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; i++) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 123, MPI_COMM_WORLD);
    if (how == "kill") std::raise(SIGKILL);
    if (how == "segv") std::raise(SIGSEGV);
    if (how == "abort") std::abort();
    if (how == "mpi-abort") MPI_Abort(MPI_COMM_WORLD, 3);
    if (how == "exit") std::exit(4);
    if (how == "_exit") _exit(5);
    if (how == "return") return 6;
  }
  if (how != "in-time") MPI_Recv(&value, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return rank == 1 ? 7 : 0;
}
