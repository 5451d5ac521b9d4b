// All calls that send, receive or probe, on 3 processes.

#include <mpi.h>

#include <vector>

#include "tests/programs/report.hpp"

namespace {

int rank = 0, size = 0;
MPI_Comm world = MPI_COMM_NULL;

void send_modes() {
  int value = 0;
  if (rank == 0) {
    char buffer[256 + MPI_BSEND_OVERHEAD];
    int size_of_buffer = sizeof buffer;
    MPI_Buffer_attach(buffer, size_of_buffer);
    value = 7;
    MPI_Send(&value, 1, MPI_INT, 1, 1, world);
    MPI_Ssend(&value, 1, MPI_INT, 1, 2, world);
    MPI_Bsend(&value, 1, MPI_INT, 1, 3, world);
    MPI_Barrier(world);
    MPI_Rsend(&value, 1, MPI_INT, 1, 4, world);
    void* back = nullptr;
    MPI_Buffer_detach(&back, &size_of_buffer);
  } else if (rank == 1) {
    int sum = 0, last = 0;
    MPI_Request ready;
    for (int tag = 1; tag <= 3; tag++) {
      MPI_Recv(&value, 1, MPI_INT, 0, tag, world, MPI_STATUS_IGNORE);
      sum += value;
    }
    MPI_Irecv(&last, 1, MPI_INT, 0, 4, world, &ready);
    MPI_Barrier(world);
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
    report("modes %d", sum + last);
  } else {
    MPI_Barrier(world);
  }
}

void immediate_modes() {
  const int values[4] = {1, 2, 3, 4};
  int received[4] = {};
  MPI_Request requests[4];
  if (rank == 1) {
    for (int i = 0; i < 4; i++) MPI_Irecv(&received[i], 1, MPI_INT, 0, i, world, &requests[i]);
    MPI_Barrier(world);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    report("immediate modes %d%d%d%d", received[0], received[1], received[2], received[3]);
  } else {
    MPI_Barrier(world);
    if (rank != 0) return;
    char buffer[256 + MPI_BSEND_OVERHEAD];
    int size_of_buffer = sizeof buffer;
    MPI_Buffer_attach(buffer, size_of_buffer);
    MPI_Isend(&values[0], 1, MPI_INT, 1, 0, world, &requests[0]);
    MPI_Ibsend(&values[1], 1, MPI_INT, 1, 1, world, &requests[1]);
    MPI_Issend(&values[2], 1, MPI_INT, 1, 2, world, &requests[2]);
    MPI_Irsend(&values[3], 1, MPI_INT, 1, 3, world, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    void* back = nullptr;
    MPI_Buffer_detach(&back, &size_of_buffer);
  }
}

/// One sender at a time, so that it is known who comes.
void wildcards() {
  double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int sender = 1; sender < size; sender++) {
    if (rank == sender) MPI_Send(values, sender + 1, MPI_DOUBLE, 0, 10 * sender, world);
    if (rank == 0) {
      MPI_Status status;
      int count = 0;
      MPI_Recv(values, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      report("wildcard from %d tag %d count %d", status.MPI_SOURCE, status.MPI_TAG, count);
    }
    MPI_Barrier(world);
  }
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(values, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // the recorder must find out all the same
  }
  if (rank == 2) MPI_Send(values, 3, MPI_DOUBLE, 0, 77, world);
  MPI_Barrier(world);
  if (rank == 0) MPI_Recv(values, 8, MPI_DOUBLE, 1, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(values, 0, MPI_DOUBLE, 0, 78, world);
}

void nobody() {
  int value = 5;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, world);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, world, &status);
  MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1, world,
               MPI_STATUS_IGNORE);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 2, world, &requests[0]);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 2, world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  report("nobody sent: source is null %d, value still %d", status.MPI_SOURCE == MPI_PROC_NULL, value);
}

void exchanges() {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int mine = 100 + rank, theirs = 0;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, 5, &theirs, 1, MPI_INT, previous, MPI_ANY_TAG, world,
               MPI_STATUS_IGNORE);
  MPI_Status status;
  double pair[2] = {static_cast<double>(theirs), 1.0};
  MPI_Sendrecv_replace(pair, 2, MPI_DOUBLE, previous, 6, next, 6, world, &status);
  report("exchanged %d, then %.0f from %d", theirs, pair[0], status.MPI_SOURCE);
}

/// A column of a matrix, nothing, and a message to oneself.
void types_and_sizes() {
  std::vector<double> matrix(32, rank);  // two columns of 4, 5 apart, one behind the other
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (rank == 0) {
    MPI_Send(matrix.data(), 2, column, 1, 0, world);
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, world);
  } else if (rank == 1) {
    MPI_Status status;
    int count = 0;
    MPI_Recv(matrix.data(), 8, MPI_DOUBLE, 0, 0, world, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    report("column of %d", count);
  }
  MPI_Type_free(&column);

  int out = 40 + rank, in = 0;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
  MPI_Send(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("self %d", in);
}

void probes() {
  int values[4] = {1, 2, 3, 4};
  if (rank == 1)
    for (int i = 0; i < 4; i++) MPI_Send(values, i + 1, MPI_INT, 0, i, world);
  if (rank != 0) return;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int found = 0;

  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
  MPI_Recv(values, 4, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
  while (found == 0) MPI_Iprobe(1, MPI_ANY_TAG, world, &found, MPI_STATUS_IGNORE);
  MPI_Recv(values, 4, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_ANY_SOURCE, 2, world, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(values, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
  for (found = 0; found == 0;) MPI_Improbe(1, 3, world, &found, &message, &status);
  MPI_Imrecv(values, 4, MPI_INT, &message, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 0, world, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(values, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
  report("probed %d %d %d %d", values[0], values[1], values[2], values[3]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  void (*const parts[])() = {send_modes, immediate_modes, wildcards, nobody,
                             exchanges,  types_and_sizes, probes};
  for (const auto part : parts) {
    part();
    MPI_Barrier(world);
  }
  MPI_Finalize();
}
