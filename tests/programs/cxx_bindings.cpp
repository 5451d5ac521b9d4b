// A ring through the C++ bindings that MPI 3 removed, where the library still has them.

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
  int in = -1, sum = 0;
  MPI::Request request = MPI::COMM_WORLD.Irecv(&in, 1, MPI::INT, MPI::ANY_SOURCE, 3);
  MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, (rank + 1) % size, 3);
  MPI::Status status;
  request.Wait(status);
  MPI::COMM_WORLD.Allreduce(&in, &sum, 1, MPI::INT, MPI::SUM);
  MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, -rank);
  half.Barrier();
  half.Free();
  std::printf("rank %d: from %d got %d, sum %d\n", rank, status.Get_source(), in, sum);
  MPI::Finalize();
}
