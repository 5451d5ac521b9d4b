// The life of requests, on 2 processes: null ones, lists of indices, cancelled, freed, and handles that MPI
// uses again.

#include <mpi.h>

#include "tests/programs/report.hpp"

namespace {

constexpr int guard = 0x5a5a5a5a;
int rank = 0;
MPI_Comm world = MPI_COMM_NULL;

void null_requests() {
  MPI_Request nulls[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int index = 0, flag = 0, count = 0, indices[3] = {};
  MPI_Wait(&nulls[0], &status);
  MPI_Waitall(3, nulls, MPI_STATUSES_IGNORE);
  MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
  MPI_Waitany(3, nulls, &index, &status);
  MPI_Waitsome(3, nulls, &count, indices, MPI_STATUSES_IGNORE);
  report("waits on null: %d %d %d", index == MPI_UNDEFINED, count == MPI_UNDEFINED,
         status.MPI_SOURCE == MPI_ANY_SOURCE);
  MPI_Test(&nulls[0], &flag, &status);
  const int tested = flag;
  MPI_Testall(3, nulls, &flag, MPI_STATUSES_IGNORE);
  const int all = flag;
  MPI_Testany(3, nulls, &index, &flag, &status);
  const int any = flag;
  MPI_Testsome(3, nulls, &count, indices, MPI_STATUSES_IGNORE);
  report("tests of null: %d %d %d %d %d", tested, all, any, index == MPI_UNDEFINED, count == MPI_UNDEFINED);
}

/// Messages to oneself are there at once, so which requests complete is known.
void lists_of_indices() {
  int in[4] = {}, out[4] = {10, 11, 12, 13}, index = 0, flag = 0, count = 0;
  MPI_Request requests[4];
  MPI_Status statuses[6];
  int indices[6] = {guard, guard, guard, guard, guard, guard};
  for (MPI_Status& s : statuses) s.MPI_TAG = guard;
  const auto post = [&](int first, int last) {
    for (int i = first; i <= last; i++) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  };
  const auto send = [&](int i) { MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF); };

  post(0, 3);
  send(2);
  MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  report("waitany %d", index);
  send(0);
  send(3);
  MPI_Waitsome(4, requests, &count, indices, statuses);
  report("waitsome %d: %d %d, tags %d %d", count, indices[0], indices[1], statuses[0].MPI_TAG,
         statuses[1].MPI_TAG);
  MPI_Testsome(4, requests, &count, indices, statuses);
  report("testsome %d", count);
  MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
  report("testany flag %d", flag);
  send(1);
  MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
  report("testany flag %d index %d", flag, index);
  report("guards %d %d %d %d", indices[4] == guard, indices[5] == guard, statuses[4].MPI_TAG == guard,
         statuses[5].MPI_TAG == guard);

  post(0, 1);
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  const int early = flag;
  send(0);
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  const int late = flag;
  MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  const int half = flag;
  send(1);
  MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  report("test %d %d, testall %d %d", early, late, half, flag);
}

/// A receive that is cancelled takes no message; one that has its message cannot be cancelled any more.
void cancelled() {
  int value = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_SELF, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  const int first = flag;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_SELF, &request);
  const int sent = 55;
  MPI_Send(&sent, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  report("cancelled %d, then %d with %d", first, flag, value);
}

/// The handle of the freed send may come back at once for the next one.
void freed() {
  constexpr int n = 100'000;  // too long to be sent at once
  static int data[n], more[n];
  MPI_Request request, next;
  if (rank == 0) {
    MPI_Isend(data, n, MPI_INT, 1, 6, world, &request);
    MPI_Request_free(&request);
    MPI_Isend(data, n, MPI_INT, 1, 7, world, &next);
    MPI_Wait(&next, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(more, n, MPI_INT, 0, 6, world, MPI_STATUS_IGNORE);
    MPI_Recv(more, n, MPI_INT, 0, 7, world, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(world);
  report("freed: request is null %d", rank == 0 ? request == MPI_REQUEST_NULL : 1);
}

/// Short sends all return the same handle, long ones different handles again and again.
void used_again() {
  const int peer = 1 - rank, counts[3] = {1, 500, 20'000};
  static double out[3][20'000], in[3][20'000];
  MPI_Request requests[6];
  double sum = 0;
  for (int step = 0; step < 50; step++) {
    for (int i = 0; i < 3; i++) {
      out[i][0] = step + i;
      MPI_Irecv(in[i], counts[i], MPI_DOUBLE, peer, i, world, &requests[i]);
    }
    for (int i = 0; i < 3; i++) MPI_Isend(out[i], counts[i], MPI_DOUBLE, peer, i, world, &requests[3 + i]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (const auto& message : in) sum += message[0];
  }
  MPI_Isend(out[0], 1, MPI_DOUBLE, peer, 8, world, &requests[0]);
  MPI_Isend(out[0], 1, MPI_DOUBLE, peer, 9, world, &requests[1]);
  MPI_Recv(in[0], 1, MPI_DOUBLE, peer, 8, world, MPI_STATUS_IGNORE);
  MPI_Recv(in[0], 1, MPI_DOUBLE, peer, 9, world, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  report("50 steps: %.0f", sum);
}

/// Process 1 sends only after process 0 has looked in vain: a recorder that waits instead would hang here.
void polled() {
  int value = 0, count = -1, index = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&value, 1, MPI_INT, 1, 1, world, &request);
    MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
    const int first = count;
    MPI_Send(&count, 1, MPI_INT, 1, 2, world);
    while (count == 0) MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
    report("polled %d, then %d with %d", first, count, value);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
    value = 66;
    MPI_Send(&value, 1, MPI_INT, 0, 1, world);
  }
}

/// Persistent requests and those of non-blocking collectives go through the same waits.
void other_kinds() {
  int out = rank, in = -1, sum = 0;
  MPI_Request requests[4];
  MPI_Recv_init(&in, 1, MPI_INT, 1 - rank, 3, world, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, 1 - rank, 3, world, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, world, &requests[2]);
    MPI_Ibarrier(world, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);  // inactive
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  report("other kinds %d %d", in, sum);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  void (*const parts[])() = {null_requests, lists_of_indices, cancelled,  freed,
                             used_again,    polled,           other_kinds};
  for (const auto part : parts) {
    part();
    MPI_Barrier(world);
  }
  MPI_Finalize();
}
