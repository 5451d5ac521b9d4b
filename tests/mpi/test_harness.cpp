// What the MPI test program promises: all ranks are there, and a failure on one rank ends the run.

#include <mpi.h>

#include "tests/support/catch.hpp"

namespace {

int world_rank() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

TEST_CASE("every rank enters a test case") {
  int size = 0;
  int entered = 0;
  const int one = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &entered, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(entered == size);
}

// Hidden: run by a test of its own that expects the failure.
TEST_CASE("a rank fails while the others wait for it", "[.][failing-rank]") {
  const int rank = world_rank();
  REQUIRE(rank == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}
