// Persistent requests, on 2 processes: started one by one and together, with wildcards, cancelled, freed
// while active and while not, and to nobody.

#include <mpi.h>

#include <initializer_list>

#include "tests/programs/report.hpp"

namespace {

int rank = 0;
MPI_Comm world = MPI_COMM_NULL;

void ring() {
  int out = 0, in = -1, sum = 0;
  MPI_Request requests[2];
  MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[0]);
  MPI_Ssend_init(&out, 1, MPI_INT, 1 - rank, 7, world, &requests[1]);
  for (int step = 0; step < 3; step++) {
    out = 10 * rank + step;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum += in;
  }
  MPI_Status status;
  MPI_Wait(&requests[0], &status);  // inactive: there is nothing to wait for
  report("ring %d, handles kept %d %d", sum, requests[0] != MPI_REQUEST_NULL,
         requests[1] != MPI_REQUEST_NULL);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/// Starts in pairs with waits for any, some, and tests; another thing goes on between them.
void one_by_one() {
  int out[2] = {1 + rank, 2 + rank}, in[2] = {}, index = -1, count = 0, indices[4], flag = 0;
  MPI_Request requests[4];
  for (int i = 0; i < 2; i++) {
    MPI_Recv_init(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    MPI_Send_init(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 + i]);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  const int early = flag;
  MPI_Start(&requests[3]);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Start(&requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
  report("one by one %d %d %d %d: %d %d", early, index, count, indices[0], in[0], in[1]);
  for (MPI_Request& r : requests) MPI_Request_free(&r);
}

void freed_while_active() {
  static int data[100'000], more[100'000];  // too long to be sent at once
  MPI_Request request;
  if (rank == 0) {
    MPI_Send_init(data, 100'000, MPI_INT, 1, 1, world, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
  } else {
    MPI_Recv(more, 100'000, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(world);
}

void cancelled() {
  int value = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Recv_init(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  MPI_Start(&request);
  const int sent = 55;
  MPI_Send(&sent, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  report("cancelled %d, then %d", flag, value);
}

void nobody() {
  int value = 0;
  MPI_Request requests[2];
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, world, &requests[0]);
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, world, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  for (const auto part : {ring, one_by_one, freed_while_active, cancelled, nobody}) {
    part();
    MPI_Barrier(world);
  }
  MPI_Finalize();
}
