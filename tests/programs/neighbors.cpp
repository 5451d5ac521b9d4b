// Collectives among the neighbours of a grid, a graph and a distributed graph, on 4 processes.

#include <mpi.h>

#include <array>
#include <numeric>
#include <vector>

#include "tests/programs/report.hpp"

namespace {

int rank = 0;

int sum(const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); }

/// A grid of 2 x 2, open in the first dimension and closed in the second: two neighbours are the same.
void grid(MPI_Comm world) {
  const int sizes[2] = {2, 2}, closed[2] = {0, 1};
  MPI_Comm comm;
  MPI_Cart_create(world, 2, sizes, closed, 0, &comm);
  std::vector<int> out(4, rank), in(4, -1);
  MPI_Neighbor_allgather(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  const int gathered = sum(in);
  MPI_Request request;
  MPI_Ineighbor_alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("grid %d %d", gathered, sum(in));
  MPI_Comm_free(&comm);
}

/// 0 - 1 - 2 - 3 in a row.
void graph(MPI_Comm world) {
  const int ends[4] = {1, 3, 5, 6}, edges[6] = {1, 0, 2, 1, 3, 2};
  MPI_Comm comm;
  MPI_Graph_create(world, 4, ends, edges, 0, &comm);
  const std::vector<int> counts(2, 1), places{0, 1};
  std::vector<int> out(2, rank), in(2, 0);
  MPI_Neighbor_allgatherv(out.data(), 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT, comm);
  report("graph %d", sum(in));
  MPI_Comm_free(&comm);
}

/// Everybody sends to the next but one and to the next: i+1 numbers to the first.
void distributed_graph(MPI_Comm world) {
  const int to[2] = {(rank + 2) % 4, (rank + 1) % 4}, from[2] = {(rank + 2) % 4, (rank + 3) % 4};
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(world, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &comm);
  std::array<int, 2> sent{rank + 1, 1}, received{from[0] + 1, 1}, places{0, 8};
  std::array<MPI_Aint, 2> byte_places{0, 32};
  std::array<MPI_Datatype, 2> types{MPI_INT, MPI_INT};
  std::vector<int> out(16, rank), in(16, 0);
  MPI_Neighbor_alltoallv(out.data(), sent.data(), places.data(), MPI_INT, in.data(), received.data(),
                         places.data(), MPI_INT, comm);
  const int first = sum(in);
  MPI_Neighbor_alltoallw(out.data(), sent.data(), byte_places.data(), types.data(), in.data(),
                         received.data(), byte_places.data(), types.data(), comm);
  report("distributed graph %d %d", first, sum(in));
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  grid(MPI_COMM_WORLD);
  graph(MPI_COMM_WORLD);
  distributed_graph(MPI_COMM_WORLD);
  MPI_Finalize();
}
