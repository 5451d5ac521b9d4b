// Communicators that are made, nested, used and freed, on 6 processes.

#include <mpi.h>

#include <initializer_list>

#include "tests/programs/report.hpp"

namespace {

int rank = 0;
MPI_Comm world = MPI_COMM_NULL;

int rank_in(MPI_Comm comm) {
  int r = 0;
  MPI_Comm_rank(comm, &r);
  return r;
}

// The order in which arguments are evaluated is the compiler's choice, so calls of these two stand alone.

/// A message around the ring of a communicator; peers are ranks in it.
int around(MPI_Comm comm) {
  int size = 0, in = 0;
  MPI_Comm_size(comm, &size);
  const int mine = rank, me = rank_in(comm);
  MPI_Sendrecv(&mine, 1, MPI_INT, (me + 1) % size, 1, &in, 1, MPI_INT, (me + size - 1) % size, 1, comm,
               MPI_STATUS_IGNORE);
  return in;
}

int sum_in(MPI_Comm comm) {
  int total = 0;
  MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm);
  return total;
}

/// Odd and even processes in reversed order, then a split of that, and processes that take no part.
void splits() {
  MPI_Comm half, part, none;
  MPI_Comm_split(world, rank % 2, -rank, &half);
  const int from = around(half), sum_of_half = sum_in(half);
  report("half: rank %d, from %d, sum %d", rank_in(half), from, sum_of_half);
  MPI_Comm_split(half, rank_in(half) == 0 ? 1 : 2, 0, &part);
  report("part: rank %d, sum %d", rank_in(part), sum_in(part));
  MPI_Comm_split(world, rank < 2 ? 0 : MPI_UNDEFINED, 0, &none);
  report("none: %d", none == MPI_COMM_NULL);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Comm_free(&half);
  report("part after its parent: %d", sum_in(part));
  MPI_Comm_free(&part);
}

/// Pairs that are not neighbours: (0,5) (2,1) (4,3), and columns across them.
void pairs() {
  constexpr int row_of[6] = {0, 1, 1, 2, 2, 0}, place_of[6] = {0, 1, 0, 1, 0, 1};
  MPI_Comm row, column;
  MPI_Comm_split(world, row_of[rank], place_of[rank], &row);
  MPI_Comm_split(world, place_of[rank], row_of[rank], &column);
  int value = rank;
  MPI_Bcast(&value, 1, MPI_INT, 1, row);
  const int sum_of_row = sum_in(row), sum_of_column = sum_in(column), from = around(column);
  report("row %d %d, column %d %d", sum_of_row, value, sum_of_column, from);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

void copies() {
  MPI_Comm copy, second, shared;
  MPI_Comm_dup(world, &copy);
  MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &second);
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  const int first_sum = sum_in(copy), from = around(second), second_sum = sum_in(shared);
  report("copies %d %d %d", first_sum, from, second_sum);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&second);
  MPI_Comm_free(&shared);
}

void groups() {
  MPI_Group all, some;
  const int ranks[3] = {5, 0, 3};
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 3, ranks, &some);
  MPI_Comm created, created_by_some = MPI_COMM_NULL;
  MPI_Comm_create(world, some, &created);
  const bool in_it = rank == 5 || rank == 0 || rank == 3;
  if (in_it) MPI_Comm_create_group(world, some, 9, &created_by_some);
  const int from = in_it ? around(created) : -1, sum = in_it ? sum_in(created_by_some) : -1;
  report("groups %d %d", from, sum);
  if (in_it) MPI_Comm_free(&created);
  if (in_it) MPI_Comm_free(&created_by_some);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
}

void topologies() {
  const int dimensions[2] = {2, 3}, periods[2] = {0, 1}, keep_rows[2] = {0, 1};
  MPI_Comm grid, row, graph, neighbours, adjacent;
  MPI_Cart_create(world, 2, dimensions, periods, 0, &grid);
  MPI_Cart_sub(grid, keep_rows, &row);
  const int from_in_grid = around(grid), sum_of_row = sum_in(row), from_in_row = around(row);
  report("grid %d, row %d %d", from_in_grid, sum_of_row, from_in_row);

  const int index[3] = {1, 3, 4}, edges[4] = {1, 0, 2, 1};
  MPI_Graph_create(world, 3, index, edges, 0, &graph);
  if (graph != MPI_COMM_NULL) report("graph %d", around(graph));

  const int node[1] = {rank}, degree[1] = {1}, next[1] = {(rank + 1) % 6}, previous[1] = {(rank + 5) % 6};
  MPI_Dist_graph_create(world, 1, node, degree, next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &neighbours);
  MPI_Dist_graph_create_adjacent(world, 1, previous, MPI_UNWEIGHTED, 1, next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &adjacent);
  const int from_neighbour = around(neighbours), from_adjacent = around(adjacent);
  report("neighbours %d %d", from_neighbour, from_adjacent);
  for (MPI_Comm* c : {&grid, &row, &graph, &neighbours, &adjacent})
    if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
}

/// Groups (0,2) and (1,3,4,5): messages go to ranks of the other group.
void between_groups() {
  const bool first = rank == 0 || rank == 2;
  MPI_Comm own, inter, merged;
  MPI_Comm_split(world, first ? 0 : 1, 0, &own);
  MPI_Intercomm_create(own, 0, world, first ? 1 : 0, 3, &inter);
  int value = -1;
  if (rank == 2) MPI_Send(&rank, 1, MPI_INT, 3, 4, inter);  // process 5
  if (rank == 5) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, MPI_STATUS_IGNORE);
  MPI_Intercomm_merge(inter, first ? 1 : 0, &merged);
  report("inter %d, merged rank %d sum %d", value, rank_in(merged), sum_in(merged));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&own);
  MPI_Comm_free(&merged);
}

/// The same handles come again for other members.
void made_and_freed() {
  int total = 0;
  for (int i = 0; i < 5; i++) {
    MPI_Comm part;
    MPI_Comm_split(world, rank < i + 1 ? 0 : 1, 0, &part);
    total += sum_in(part);
    MPI_Comm_free(&part);
  }
  report("made and freed %d", total);
}

/// Made by a call that is not recorded, and used.
void made_unseen() {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(world, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("made unseen %d", sum_in(copy));
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  rank = rank_in(world);
  splits();
  pairs();
  copies();
  groups();
  topologies();
  between_groups();
  made_and_freed();
  made_unseen();
  MPI_Finalize();
}
