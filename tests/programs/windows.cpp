// One-sided communication on 3 processes: all ways to make a window, and all ways to synchronise.

#include <mpi.h>

#include <initializer_list>

#include <vector>

#include "tests/programs/report.hpp"

namespace {

int rank = 0, next = 0, previous = 0;
MPI_Comm world = MPI_COMM_NULL;

void fences() {
  std::vector<int> memory(10, rank), got(10, -1);
  MPI_Win window;
  MPI_Win_create(memory.data(), 40, sizeof(int), MPI_INFO_NULL, world, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, next, 3, 1, MPI_INT, window);
  MPI_Get(got.data(), 2, MPI_INT, previous, 0, 2, MPI_INT, window);
  MPI_Accumulate(&rank, 1, MPI_INT, next, 5, 1, MPI_INT, MPI_SUM, window);
  MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 3, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  report("fences %d %d %d", memory[3], got[0], memory[5]);
  MPI_Win_free(&window);
}

/// Everybody exposes its window to the previous process and accesses that of the next.
void epochs() {
  int* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(16, sizeof(int), MPI_INFO_NULL, world, &memory, &window);
  memory[0] = -1;
  MPI_Group all, to, from;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &next, &to);
  MPI_Group_incl(all, 1, &previous, &from);
  for (int i = 0; i < 2; i++) {
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    int flag = 0;
    if (i == 0) MPI_Win_wait(window);
    while (i == 1 && flag == 0) MPI_Win_test(window, &flag);
  }
  report("epochs %d", memory[0]);
  for (MPI_Group* g : {&all, &to, &from}) MPI_Group_free(g);
  MPI_Win_free(&window);
}

void locks() {
  std::vector<int> memory(8, 0);
  MPI_Win window;
  MPI_Win_create(memory.data(), 32, sizeof(int), MPI_INFO_NULL, world, &window);
  const int one = 1, zero = 0;
  int old = -1, fetched = -1, swapped = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock(0, window);
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(&one, &fetched, MPI_INT, 0, 2, MPI_SUM, window);
  MPI_Win_flush_local(0, window);
  MPI_Compare_and_swap(&one, &zero, &swapped, MPI_INT, 0, 3, window);
  MPI_Win_flush(0, window);
  MPI_Request requests[2];
  MPI_Rput(&rank, 1, MPI_INT, next, 4, 1, MPI_INT, window, &requests[0]);
  MPI_Rget(&old, 1, MPI_INT, next, 5, 1, MPI_INT, window, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush_all(window);
  MPI_Win_sync(window);
  MPI_Win_unlock_all(window);
  MPI_Barrier(world);
  report("locks %d %d %d", rank == 0 ? memory[1] : 3, rank == 0 ? memory[2] : 3, memory[4]);
  MPI_Win_free(&window);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  next = (rank + 1) % 3;
  previous = (rank + 2) % 3;
  fences();
  epochs();
  locks();
  MPI_Finalize();
}
