// The choice of algorithms: points of Open MPI's tables on both sides of their limits.
#include <algorithm>

#include "replay/collectives/rules.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using collectives::openmpi_choice;

TEST_CASE("the rules choose what Open MPI 4.1 chooses") {
  struct Point {
    Op op;
    int size;
    std::int64_t bytes;
    std::string_view algorithm;
    bool commutative = true;
  };
  // clang-format off
  const std::vector<Point> points{
      {Op::Barrier, 2, 0, "recursive-doubling"}, {Op::Barrier, 3, 0, "recursive-doubling"},
      {Op::Barrier, 4, 0, "linear"}, {Op::Barrier, 7, 0, "linear"}, {Op::Barrier, 8, 0, "recursive-doubling"},
      {Op::Barrier, 63, 0, "recursive-doubling"}, {Op::Barrier, 64, 0, "bruck"}, {Op::Barrier, 255, 0, "bruck"},
      {Op::Barrier, 256, 0, "tree"}, {Op::Barrier, 511, 0, "tree"}, {Op::Barrier, 512, 0, "bruck"},
      {Op::Barrier, 1023, 0, "bruck"}, {Op::Barrier, 1024, 0, "tree"}, {Op::Barrier, 4095, 0, "tree"},
      {Op::Barrier, 4096, 0, "bruck"},
      {Op::Bcast, 2, 31, "pipeline"}, {Op::Bcast, 3, 32, "binary"}, {Op::Bcast, 3, 1024, "linear"},
      {Op::Bcast, 4, 63, "binary"}, {Op::Bcast, 7, 8191, "binomial"}, {Op::Bcast, 7, 8192, "linear"},
      {Op::Bcast, 8, 7, "knomial"}, {Op::Bcast, 15, 32768, "linear"}, {Op::Bcast, 16, 4095, "knomial"},
      {Op::Bcast, 31, 1048575, "binomial"}, {Op::Bcast, 31, 1048576, "scatter-allgather"},
      {Op::Bcast, 100, 5, "knomial"}, {Op::Bcast, 255, 1, "binomial"}, {Op::Bcast, 255, 2, "binary"},
      {Op::Bcast, 1023, 16384, "split-binary"}, {Op::Bcast, 1023, 32768, "knomial"},
      {Op::Bcast, 2047, 524288, "scatter-allgather"}, {Op::Bcast, 4096, 8192, "binary"},
      {Op::Gather, 3, 1, "linear-sync"}, {Op::Gather, 3, 3, "linear"}, {Op::Gather, 7, 8191, "linear"},
      {Op::Gather, 7, 262144, "linear-sync"}, {Op::Gather, 8, 1048576, "binomial"},
      {Op::Gather, 300, 2047, "binomial"}, {Op::Gather, 300, 2048, "linear"}, {Op::Gather, 512, 4096, "binomial"},
      {Op::Scatter, 3, 1, "linear-nb"}, {Op::Scatter, 3, 131071, "linear"}, {Op::Scatter, 3, 131072, "linear-nb"},
      {Op::Scatter, 15, 16383, "binomial"}, {Op::Scatter, 15, 16384, "linear-nb"},
      {Op::Scatter, 31, 32768, "linear-nb"}, {Op::Scatter, 63, 8191, "linear-nb"},
      {Op::Scatter, 64, 511, "binomial"}, {Op::Scatter, 64, 512, "linear-nb"},
      {Op::Allgather, 2, 1048576, "two-proc"}, {Op::Allgather, 31, 1048576, "recursive-doubling"},
      {Op::Allgather, 32, 1023, "recursive-doubling"}, {Op::Allgather, 32, 1024, "neighbor"},
      {Op::Allgather, 63, 65536, "ring"}, {Op::Allgather, 511, 127, "bruck"}, {Op::Allgather, 1024, 7, "bruck"},
      {Op::Allgather, 4096, 1, "recursive-doubling"}, {Op::Allgather, 4096, 4096, "neighbor"},
      {Op::Allgatherv, 2, 2047, "ring"}, {Op::Allgatherv, 2, 2048, "two-proc"}, {Op::Allgatherv, 7, 255, "default"},
      {Op::Allgatherv, 7, 16384, "bruck"}, {Op::Allgatherv, 15, 1023, "default"},
      {Op::Allgatherv, 31, 262144, "ring"}, {Op::Allgatherv, 255, 1024, "neighbor"},
      {Op::Allgatherv, 1023, 511, "bruck"}, {Op::Allgatherv, 1023, 512, "default"},
      {Op::Allgatherv, 1024, 4095, "bruck"}, {Op::Allgatherv, 1024, 4096, "neighbor"},
      {Op::Alltoall, 2, 1, "pairwise"}, {Op::Alltoall, 2, 2, "two-proc"}, {Op::Alltoall, 2, 32768, "linear-sync"},
      {Op::Alltoall, 7, 8191, "linear-sync"}, {Op::Alltoall, 7, 8192, "linear"},
      {Op::Alltoall, 15, 262144, "linear"}, {Op::Alltoall, 31, 3, "linear-sync"},
      {Op::Alltoall, 31, 4, "modified-bruck"}, {Op::Alltoall, 63, 511, "modified-bruck"},
      {Op::Alltoall, 63, 512, "linear"}, {Op::Alltoall, 127, 262144, "pairwise"},
      {Op::Alltoall, 4096, 2047, "modified-bruck"}, {Op::Alltoall, 4096, 2048, "linear-sync"},
      {Op::Alltoallv, 3, 100, "pairwise"}, {Op::Alltoallv, 4, 100, "linear"}, {Op::Alltoallv, 63, 1, "linear"},
      {Op::Alltoallv, 64, 1, "pairwise"}, {Op::Alltoallv, 128, 1, "linear"}, {Op::Alltoallv, 256, 1, "pairwise"},
      {Op::Alltoallv, 1024, 1, "linear"},
      {Op::Reduce, 3, 7, "rabenseifner"}, {Op::Reduce, 3, 8, "binary"}, {Op::Reduce, 3, 16, "pipeline"},
      {Op::Reduce, 3, 31, "pipeline"}, {Op::Reduce, 7, 4096, "chain"}, {Op::Reduce, 7, 65536, "binomial"},
      {Op::Reduce, 15, 8191, "binary"}, {Op::Reduce, 15, 8192, "binomial"},
      {Op::Reduce, 300, 8192, "in-order-binary"}, {Op::Reduce, 300, 16384, "binomial"},
      {Op::Reduce, 4096, 31, "in-order-binary"},
      {Op::Allreduce, 2, 7, "ring"}, {Op::Allreduce, 3, 8, "recursive-doubling"}, {Op::Allreduce, 3, 4096, "ring"},
      {Op::Allreduce, 3, 65536, "segmented-ring"}, {Op::Allreduce, 3, 262144, "rabenseifner"},
      {Op::Allreduce, 7, 15, "ring"}, {Op::Allreduce, 7, 8192, "rabenseifner"},
      {Op::Allreduce, 15, 8191, "recursive-doubling"}, {Op::Allreduce, 31, 63, "segmented-ring"},
      {Op::Allreduce, 31, 4096, "rabenseifner"}, {Op::Allreduce, 63, 127, "segmented-ring"},
      {Op::Allreduce, 127, 262143, "recursive-doubling"}, {Op::Allreduce, 127, 262144, "rabenseifner"},
      {Op::Allreduce, 255, 131071, "nonoverlapping"}, {Op::Allreduce, 2047, 2048, "recursive-doubling"},
      {Op::Allreduce, 4095, 4095, "segmented-ring"}, {Op::Allreduce, 4096, 32767, "recursive-doubling"},
      {Op::Reduce_scatter, 3, 65535, "ring"}, {Op::Reduce_scatter, 3, 65536, "butterfly"},
      {Op::Reduce_scatter, 7, 7, "nonoverlapping"}, {Op::Reduce_scatter, 7, 8, "recursive-halving"},
      {Op::Reduce_scatter, 31, 262144, "ring"}, {Op::Reduce_scatter, 63, 2047, "recursive-halving"},
      {Op::Reduce_scatter, 63, 2048, "butterfly"}, {Op::Reduce_scatter, 127, 2048, "recursive-halving"},
      {Op::Reduce_scatter, 4096, 8191, "recursive-halving"},
      {Op::Reduce_scatter_block, 3, 3, "recursive-doubling"}, {Op::Reduce_scatter_block, 3, 4, "butterfly"},
      {Op::Reduce_scatter_block, 7, 8, "recursive-doubling"}, {Op::Reduce_scatter_block, 15, 3, "linear"},
      {Op::Reduce_scatter_block, 31, 31, "linear"}, {Op::Reduce_scatter_block, 31, 4194304, "butterfly"},
      {Op::Reduce_scatter_block, 32, 3, "recursive-halving"}, {Op::Reduce_scatter_block, 32, 4, "linear"},
      {Op::Reduce_scatter_block, 32, 262144, "butterfly"},
      {Op::Reduce, 3, 7, "in-order-binary", false}, {Op::Reduce, 3, 8, "linear", false},
      {Op::Reduce, 7, 1, "linear", false}, {Op::Reduce, 15, 1023, "in-order-binary", false},
      {Op::Reduce, 15, 1024, "linear", false}, {Op::Reduce, 255, 512, "linear", false},
      {Op::Reduce, 1000, 1, "in-order-binary", false},
      {Op::Allreduce, 3, 131071, "recursive-doubling", false}, {Op::Allreduce, 3, 131072, "linear", false},
      {Op::Allreduce, 15, 1048576, "nonoverlapping", false}, {Op::Allreduce, 300, 4095, "nonoverlapping", false},
      {Op::Allreduce, 300, 4096, "recursive-doubling", false}, {Op::Allreduce, 1000, 2047, "nonoverlapping", false},
      {Op::Allreduce, 1000, 2048, "recursive-doubling", false},
      {Op::Reduce_scatter, 100, 100, "nonoverlapping", false},
      {Op::Reduce_scatter_block, 100, 100, "linear", false},
      {Op::Gatherv, 1000, 1, "linear"}, {Op::Scatterv, 7, 1 << 20, "linear"}, {Op::Alltoallw, 64, 8, "linear"},
      {Op::Scan, 64, 8, "linear"}, {Op::Exscan, 64, 8, "linear"}};
  // clang-format on
  for (const Point& p : points) {
    INFO(info(p.op).name << " of " << p.size << ", " << p.bytes << " bytes, commutative " << p.commutative);
    CHECK(openmpi_choice(p.op, p.size, p.bytes, p.commutative) == p.algorithm);
  }
}

TEST_CASE("rules that do not look at commutativity are the same for both kinds of operations") {
  CHECK(openmpi_choice(Op::Bcast, 8, 100, false) == openmpi_choice(Op::Bcast, 8, 100, true));
  CHECK(openmpi_choice(Op::Scan, 8, 100, false) == "linear");
}

TEST_CASE("the decisive size is a block, the message, the mean of the blocks or their sum") {
  const std::vector<std::int64_t> blocks{10, 0, 25, 6};
  const collectives::Call c{.rank = 1, .size = 4, .bytes = 0, .blocks = blocks};
  CHECK(collectives::decisive_bytes(Op::Allgatherv, c) == 10);  // 41 / 4
  CHECK(collectives::decisive_bytes(Op::Reduce_scatter, c) == 41);
  CHECK(collectives::decisive_bytes(Op::Bcast, {.size = 4, .bytes = 12}) == 12);
  CHECK(collectives::decisive_bytes(Op::Reduce_scatter_block, {.size = 4, .bytes = 12}) == 12);
}

TEST_CASE("there is a choice for every size, and it exists") {
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective) continue;
    const auto valid = collectives::algorithms(op.op);
    for (int p = 1; p <= 4100; p++)
      for (const std::int64_t bytes : {0LL, 1LL, 1000LL, 1LL << 20, 1LL << 40})
        for (const bool commutative : {true, false}) {
          const auto name = openmpi_choice(op.op, p, bytes, commutative);
          REQUIRE(std::ranges::find(valid, name, &collectives::Algorithm::name) != valid.end());
        }
  }
}

TEST_CASE("the choice is the default, except for the barrier of the patent") {
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective) continue;
    CHECK(collectives::find(op.op, "").name == (op.op == Op::Barrier ? "patent" : "openmpi"));
    CHECK(collectives::find(op.op, "openmpi").name == "openmpi");
  }
}

TEST_CASE("an algorithm of another operation is refused with the valid ones") {
  CHECK_THROWS_WITH(collectives::find(Op::Scatter, "pairwise"),
                    "expected an algorithm of MPI_Scatter (openmpi, linear, binomial, linear-nb, formula), "
                    "found 'pairwise'");
  CHECK(collectives::algorithms(Op::Send).empty());
}

TEST_CASE("Open MPI sends nothing if nothing is to be moved, but its barriers do") {
  collectives::Rounds out;
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective || op.op == Op::Barrier) continue;
    const std::vector<std::int64_t> none(op.items == Items::blocks_twice ? 10 : 5, 0);
    collectives::Call c{.rank = 1, .size = 5};
    if (op.items != Items::none) c.blocks = none;
    collectives::find(op.op, "openmpi").rounds(c, out);
    INFO(op.name);
    CHECK(out.messages().empty());
  }
  collectives::find(Op::Barrier, "openmpi").rounds({.rank = 1, .size = 5}, out);
  CHECK(out.messages().size() == 2);
}
