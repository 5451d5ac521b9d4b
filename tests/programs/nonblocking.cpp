// Non-blocking collectives on 4 processes: each once, several under way at once and beside messages, in
// place, and communicators that are made meanwhile.

#include <mpi.h>

#include <initializer_list>
#include <vector>

#include "tests/programs/report.hpp"

namespace {

int rank = 0, size = 0;
MPI_Comm world = MPI_COMM_NULL;

void finish(MPI_Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

void each() {
  std::vector<int> out(8, rank + 1), in(8, 0), counts(4, 2), places{0, 2, 4, 6}, bytes(4, 8),
      byte_places{0, 8, 16, 24};
  std::vector<MPI_Datatype> types(4, MPI_INT);
  MPI_Request r;
  int* const o = out.data();
  int* const i = in.data();
  MPI_Ibarrier(world, &r), finish(r);
  MPI_Ibcast(o, 2, MPI_INT, 1, world, &r), finish(r);
  MPI_Igather(o, 2, MPI_INT, i, 2, MPI_INT, 2, world, &r), finish(r);
  MPI_Igatherv(o, 2, MPI_INT, i, counts.data(), places.data(), MPI_INT, 0, world, &r), finish(r);
  MPI_Iscatter(o, 2, MPI_INT, i, 2, MPI_INT, 3, world, &r), finish(r);
  MPI_Iscatterv(o, counts.data(), places.data(), MPI_INT, i, 2, MPI_INT, 0, world, &r), finish(r);
  MPI_Iallgather(o, 2, MPI_INT, i, 2, MPI_INT, world, &r), finish(r);
  MPI_Iallgatherv(o, 2, MPI_INT, i, counts.data(), places.data(), MPI_INT, world, &r), finish(r);
  MPI_Ialltoall(o, 2, MPI_INT, i, 2, MPI_INT, world, &r), finish(r);
  MPI_Ialltoallv(o, counts.data(), places.data(), MPI_INT, i, counts.data(), places.data(), MPI_INT, world,
                 &r),
      finish(r);
  counts.assign(4, 2);
  MPI_Ialltoallw(o, counts.data(), byte_places.data(), types.data(), i, counts.data(), byte_places.data(),
                 types.data(), world, &r),
      finish(r);
  MPI_Ireduce(o, i, 8, MPI_INT, MPI_SUM, 1, world, &r), finish(r);
  MPI_Iallreduce(MPI_IN_PLACE, o, 8, MPI_INT, MPI_MAX, world, &r), finish(r);
  MPI_Ireduce_scatter(o, i, counts.data(), MPI_INT, MPI_SUM, world, &r), finish(r);
  MPI_Ireduce_scatter_block(o, i, 2, MPI_INT, MPI_SUM, world, &r), finish(r);
  MPI_Iscan(o, i, 8, MPI_INT, MPI_SUM, world, &r), finish(r);
  MPI_Iexscan(o, i, 8, MPI_INT, MPI_SUM, world, &r), finish(r);
  report("last %d", rank == 0 ? 0 : in[0]);
}

/// Three at once, in another order of completion, with a ring of messages meanwhile.
void several() {
  int a = rank, sum = 0, b = rank, token = rank, in = -1, flag = 0;
  MPI_Request requests[3], message;
  MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, world, &requests[0]);
  MPI_Ibcast(&b, 1, MPI_INT, 2, world, &requests[1]);
  MPI_Ibarrier(world, &requests[2]);
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, world, &message);
  MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 1, world);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  while (flag == 0) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
  report("several %d %d %d", sum, b, in);
}

/// Two duplicates at once, one of a half.
void duplicates() {
  MPI_Comm half, copies[2];
  MPI_Request requests[2];
  MPI_Comm_split(world, rank / 2, -rank, &half);
  MPI_Comm_idup(half, &copies[1], &requests[1]);
  MPI_Comm_idup(world, &copies[0], &requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int place[2] = {};
  MPI_Comm_rank(copies[0], &place[0]);
  MPI_Comm_rank(copies[1], &place[1]);
  MPI_Barrier(copies[1]);
  MPI_Barrier(copies[0]);
  report("duplicates %d %d", place[0], place[1]);
  for (MPI_Comm* c : {&copies[0], &copies[1], &half}) MPI_Comm_free(c);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  for (const auto part : {each, several, duplicates}) part();
  MPI_Finalize();
}
