// Files by MPI-IO on 2 processes: one by one, together, shared, in two halves, and non-blocking.
//
//   files PATH

#include <mpi.h>

#include <vector>

#include "tests/programs/report.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> out(8, rank + 1), in(8, 0);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 32, out.data(), 8, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, (1 - rank) * 32, in.data(), 8, MPI_INT, MPI_STATUS_IGNORE);
  const int first = in[7];
  MPI_File_seek(file, 64 + rank * 16, MPI_SEEK_SET);
  MPI_File_write(file, out.data(), 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_at_all_begin(file, 128 + rank * 16, out.data(), 4, MPI_INT);
  MPI_File_write_at_all_end(file, out.data(), MPI_STATUS_IGNORE);
  MPI_Request requests[2];
  MPI_File_iwrite_at(file, 256 + rank * 4, out.data(), 1, MPI_INT, &requests[0]);
  MPI_File_iread_at(file, rank * 32, in.data(), 2, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Offset bytes = 0;
  MPI_File_get_size(file, &bytes);
  MPI_File_close(&file);
  report("files %d %d", first, in[1]);
  MPI_Finalize();
}
