// All blocking collectives, on 4 processes, with several roots and forms.

#include <mpi.h>

#include <numeric>
#include <vector>

#include "tests/programs/report.hpp"

namespace {

using Ints = std::vector<int>;

int rank = 0, size = 0;
MPI_Comm world = MPI_COMM_NULL;

Ints filled(int n, int value) { return Ints(static_cast<std::size_t>(n), value); }
int sum(const Ints& v) { return std::accumulate(v.begin(), v.end(), 0); }

/// Blocks of 1, 2, 3, ... values one behind the other.
struct Blocks {
  Ints counts, displacements;
  int total = 0;
  explicit Blocks(int n) {
    for (int i = 0; i < n; i++) {
      counts.push_back(i + 1);
      displacements.push_back(total);
      total += i + 1;
    }
  }
};

void from_a_root() {
  Ints values = filled(3, rank);
  MPI_Barrier(world);
  MPI_Bcast(values.data(), 3, MPI_INT, 2, world);
  report("bcast %d", sum(values));

  int mine = rank + 1;
  Ints all = filled(size, 0);
  MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 1, world);
  report("gather %d", sum(all));
  all[static_cast<std::size_t>(rank)] = mine;
  if (rank == 0)
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT, 0, world);
  else
    MPI_Gather(&mine, 1, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, 0, world);

  MPI_Scatter(all.data(), 1, MPI_INT, &mine, 1, MPI_INT, 0, world);
  report("scatter %d", mine);
  if (rank == 3)
    MPI_Scatter(all.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 3, world);
  else
    MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, &mine, 1, MPI_INT, 3, world);
}

void blocks_from_a_root() {
  const Blocks blocks(size);
  Ints mine = filled(rank + 1, rank), all = filled(blocks.total, 0);
  MPI_Gatherv(mine.data(), rank + 1, MPI_INT, all.data(), blocks.counts.data(), blocks.displacements.data(),
              MPI_INT, 2, world);
  report("gatherv %d", sum(all));
  MPI_Scatterv(all.data(), blocks.counts.data(), blocks.displacements.data(), MPI_INT, mine.data(), rank + 1,
               MPI_INT, 2, world);
  report("scatterv %d", sum(mine));
  if (rank == 0)
    MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all.data(), blocks.counts.data(), blocks.displacements.data(),
                MPI_INT, 0, world);
  else
    MPI_Gatherv(mine.data(), rank + 1, MPI_INT, nullptr, nullptr, nullptr, MPI_INT, 0, world);
}

void to_all() {
  const Blocks blocks(size);
  int mine = rank;
  Ints all = filled(2 * size, rank), received = filled(2 * size, 0);
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, world);
  report("allgather %d", sum(all));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT, world);

  Ints block = filled(rank + 1, rank), list = filled(blocks.total, 0);
  MPI_Allgatherv(block.data(), rank + 1, MPI_INT, list.data(), blocks.counts.data(),
                 blocks.displacements.data(), MPI_INT, world);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, list.data(), blocks.counts.data(),
                 blocks.displacements.data(), MPI_INT, world);
  report("allgatherv %d", sum(list));

  MPI_Alltoall(all.data(), 2, MPI_INT, received.data(), 2, MPI_INT, world);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received.data(), 2, MPI_INT, world);
  report("alltoall %d", sum(received));
}

/// Process i sends i + j + 1 values to process j.
void blocks_to_all() {
  Ints counts, displacements;
  int total = 0;
  for (int j = 0; j < size; j++) {
    counts.push_back(rank + j + 1);
    displacements.push_back(total);
    total += counts.back();
  }
  const Ints out = filled(total, rank);
  Ints in = filled(total, 0);
  MPI_Alltoallv(out.data(), counts.data(), displacements.data(), MPI_INT, in.data(), counts.data(),
                displacements.data(), MPI_INT, world);
  report("alltoallv %d", sum(in));
  MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, in.data(), counts.data(),
                displacements.data(), MPI_INT, world);

  Ints byte_displacements;
  for (const int d : displacements) byte_displacements.push_back(d * static_cast<int>(sizeof(int)));
  counts[0] = rank == 0 ? counts[0] : 0;  // process 0 exchanges with itself alone
  if (rank == 0) std::fill(counts.begin() + 1, counts.end(), 0);
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), MPI_INT);
  MPI_Alltoallw(out.data(), counts.data(), byte_displacements.data(), types.data(), in.data(), counts.data(),
                byte_displacements.data(), types.data(), world);
  report("alltoallw %d", sum(in));
}

/// The left operand wins: associative, but not commutative.
void take_left(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; i++) static_cast<int*>(right)[i] = static_cast<int*>(left)[i];
}

void reductions() {
  Ints mine = filled(size, rank + 1), result = filled(size, 0);
  MPI_Op left;
  MPI_Op_create(take_left, 0, &left);
  MPI_Reduce(mine.data(), result.data(), size, MPI_INT, MPI_SUM, 1, world);
  report("reduce %d", sum(result));
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : mine.data(), mine.data(), 1, MPI_INT, MPI_MAX, 0, world);
  MPI_Allreduce(mine.data(), result.data(), size, MPI_INT, left, world);
  report("allreduce %d", sum(result));
  MPI_Allreduce(MPI_IN_PLACE, result.data(), 1, MPI_INT, MPI_MIN, world);
  MPI_Op_free(&left);

  const Ints one_each = filled(size, 1);
  MPI_Reduce_scatter(mine.data(), result.data(), one_each.data(), MPI_INT, MPI_SUM, world);
  MPI_Reduce_scatter_block(mine.data(), result.data(), 1, MPI_INT, MPI_SUM, world);
  report("reduce_scatter %d", result[0]);
  MPI_Scan(mine.data(), result.data(), 2, MPI_INT, MPI_SUM, world);
  report("scan %d", result[1]);
  result[0] = 0;
  MPI_Exscan(mine.data(), result.data(), 1, MPI_INT, MPI_SUM, world);
  report("exscan %d", rank == 0 ? 0 : result[0]);
}

/// Two groups of two: process 0 sends to the other group, then both groups add up for each other.
void between_groups() {
  MPI_Comm half, inter;
  MPI_Comm_split(world, rank / 2, rank, &half);
  MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 1, &inter);
  int value = rank, total = 0;
  const int root = rank >= 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(&value, 1, MPI_INT, root, inter);
  MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, inter);
  Ints list = filled(2, 0);
  MPI_Allgather(&value, 1, MPI_INT, list.data(), 1, MPI_INT, inter);
  report("between groups %d %d %d", value, total, sum(list));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  from_a_root();
  blocks_from_a_root();
  to_all();
  blocks_to_all();
  reductions();
  between_groups();
  MPI_Finalize();
}
