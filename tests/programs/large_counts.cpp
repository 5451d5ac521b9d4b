// The functions of MPI 4 whose counts are MPI_Count, on 2 processes; and some counts that no int holds, where
// nothing is moved.

#include <mpi.h>

#include <vector>

#include "tests/programs/report.hpp"

namespace {

constexpr MPI_Count huge = 5'000'000'000;

int rank = 0, other = 0;
MPI_Comm world = MPI_COMM_NULL;

void messages() {
  int out = rank + 10, in = -1, swapped = rank, buffer[64];
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Sendrecv_c(&out, 1, MPI_INT, other, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &status);
  MPI_Sendrecv_replace_c(&swapped, 1, MPI_INT, other, 2, other, 2, world, MPI_STATUS_IGNORE);
  MPI_Irecv_c(buffer, 64, MPI_INT, other, MPI_ANY_TAG, world, &requests[0]);
  MPI_Isend_c(&out, 1, MPI_INT, other, 3, world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  report("messages %d %d %d", in, swapped, buffer[0]);
  if (rank == 0) {
    MPI_Send_c(&out, 1, MPI_INT, other, 4, world);
    MPI_Ssend_c(&out, 1, MPI_INT, other, 5, world);
    MPI_Send_c(&out, 1, MPI_INT, other, 6, world);
  } else {
    MPI_Message message;
    MPI_Count count = 0;
    MPI_Recv_c(buffer, 64, MPI_INT, other, 4, world, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    MPI_Mprobe(other, 5, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv_c(buffer, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, world, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv_c(buffer, 1, MPI_INT, &message, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    report("received %d", static_cast<int>(count));
  }
}

void persistent() {
  int out = rank, in = -1;
  MPI_Request requests[3];
  MPI_Send_init_c(&out, 1, MPI_INT, other, 7, world, &requests[0]);
  MPI_Recv_init_c(&in, 1, MPI_INT, other, 7, world, &requests[1]);
  MPI_Send_init_c(&out, huge, MPI_INT, other, 8, world, &requests[2]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  report("persistent %d", in);
}

void collectives() {
  const MPI_Count ones[] = {1, 1}, one_two[] = {1, 2};
  const MPI_Aint places[] = {0, 1}, bytes[] = {0, 4};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {-1, -1, -1, -1};
  MPI_Request request;
  MPI_Bcast_c(out, 2, MPI_INT, 0, world);
  MPI_Gather_c(out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
  MPI_Gatherv_c(out, rank + 1, MPI_INT, in, one_two, places, MPI_INT, 1, world);
  MPI_Scatterv_c(out, ones, places, MPI_INT, in, 1, MPI_INT, 1, world);
  MPI_Allgather_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
  MPI_Allgatherv_c(out, rank + 1, MPI_INT, in, one_two, places, MPI_INT, world);
  MPI_Alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, world);
  MPI_Alltoallv_c(out, ones, places, MPI_INT, in, ones, places, MPI_INT, world);
  MPI_Alltoallw_c(out, ones, bytes, types, in, ones, bytes, types, world);
  MPI_Reduce_c(out, in, 2, MPI_INT, MPI_SUM, 1, world);
  MPI_Allreduce_c(out, in, 2, MPI_INT, MPI_SUM, world);
  MPI_Reduce_scatter_c(out, in, ones, MPI_INT, MPI_SUM, world);
  MPI_Scan_c(out, in, 1, MPI_INT, MPI_SUM, world);
  MPI_Iallreduce_c(out, in, 2, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ialltoallv_c(out, ones, places, MPI_INT, in, ones, places, MPI_INT, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("collectives %d %d", in[0], in[1]);
  MPI_Bcast_c(out, huge, MPI_INT, 0, MPI_COMM_SELF);  // nobody else is there, so nothing is moved
}

void neighbors() {
  const int two = 2, periodic = 1;
  const MPI_Count ones[] = {1, 1};
  const MPI_Aint places[] = {0, 1}, bytes[] = {0, 4};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  const int out[2] = {rank, rank + 1};
  int in[2] = {-1, -1};
  MPI_Comm ring;
  MPI_Cart_create(world, 1, &two, &periodic, 0, &ring);
  MPI_Neighbor_allgatherv_c(out, 1, MPI_INT, in, ones, places, MPI_INT, ring);
  MPI_Neighbor_alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Neighbor_alltoallw_c(out, ones, bytes, types, in, ones, bytes, types, ring);
  report("neighbors %d", in[0]);
  MPI_Comm_free(&ring);
}

void windows() {
  int* memory = nullptr;
  int old[2] = {-1, -1};
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate_c(64, sizeof(int), MPI_INFO_NULL, world, &memory, &window);
  for (int i = 0; i < 16; i++) memory[i] = i;
  MPI_Win_fence(0, window);
  MPI_Put_c(&rank, 1, MPI_INT, other, 2, 1, MPI_INT, window);
  MPI_Get_c(old, 1, MPI_INT, other, 3, 1, MPI_INT, window);
  MPI_Accumulate_c(&rank, 1, MPI_INT, other, 4, 1, MPI_INT, MPI_SUM, window);
  MPI_Get_accumulate_c(&rank, 1, MPI_INT, old + 1, 1, MPI_INT, other, 5, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
  MPI_Rput_c(&rank, 1, MPI_INT, other, 6, 1, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(other, window);
  MPI_Barrier(world);
  report("windows %d %d %d %d %d", memory[2], old[0], memory[4], old[1], memory[6]);
  MPI_Win_free(&window);
}

void files(const char* path) {
  MPI_File file;
  MPI_Request request;
  int out = rank, in = -1;
  MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all_c(file, rank * MPI_Offset{4}, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iread_at_c(file, rank * MPI_Offset{4}, &in, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  report("files %d", in);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  other = 1 - rank;
  messages();
  persistent();
  collectives();
  neighbors();
  windows();
  files(argc > 1 ? argv[1] : "large_counts.bin");
  MPI_Comm_free(&world);
  MPI_Finalize();
}
