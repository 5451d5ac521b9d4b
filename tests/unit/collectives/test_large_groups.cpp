// One member of very many: its messages are made without looking at the others.
#include "replay/collectives/algorithms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/collectives/message_machine.hpp"

using namespace simreplay;
using namespace simreplay::test;
using collectives::Call;

TEST_CASE("messages of a member of a million are few where the algorithm has few") {
  struct Few {
    Op op;
    std::string_view name;
    std::size_t most;
  };
  const int p = 1'000'000;
  for (const Few& f : {Few{Op::Barrier, "patent", 80},
                       {Op::Barrier, "tree", 80},
                       {Op::Barrier, "bruck", 60},
                       {Op::Barrier, "recursive-doubling", 63},
                       {Op::Bcast, "binomial", 22},
                       {Op::Bcast, "binary", 4},
                       {Op::Bcast, "knomial", 32},
                       {Op::Bcast, "chain", 3},
                       {Op::Bcast, "split-binary", 7},
                       {Op::Bcast, "scatter-allgather", 120},
                       {Op::Gather, "binomial", 21},
                       {Op::Scatter, "binomial", 21},
                       {Op::Allgather, "bruck", 60},
                       {Op::Alltoall, "modified-bruck", 60},
                       {Op::Reduce, "binomial", 22},
                       {Op::Reduce, "in-order-binary", 5},
                       {Op::Reduce, "rabenseifner", 90},
                       {Op::Allreduce, "recursive-doubling", 63},
                       {Op::Allreduce, "rabenseifner", 120},
                       {Op::Reduce_scatter_block, "butterfly", 70},
                       {Op::Reduce_scatter_block, "recursive-halving", 62},
                       {Op::Scan, "linear", 2}})
    for (const int rank : {0, 1, 2, 4711, 524'287, 524'288, p - 1}) {
      collectives::Rounds out;
      collectives::find(f.op, f.name).rounds({.rank = rank, .size = p, .root = 17, .bytes = 16 << 20}, out);
      INFO(info(f.op).name << " " << f.name << ", member " << rank);
      CHECK(!out.messages().empty());
      CHECK(out.messages().size() <= f.most);
    }
}

TEST_CASE("what Open MPI chooses for thousands of members can be made for one of them") {
  constexpr int most = 4100;
  collectives::Rounds out;
  for (const OpInfo& op : mpi_ops)
    for (int p = op.verb == Verb::collective ? 1 : most + 1; p <= most; p += p < 70 ? 1 : 61)
      for (const std::int64_t n : {0, 8, 3000, 1 << 20})
        for (const int rank : {0, p / 2, p - 1}) {
          const std::vector<std::int64_t> blocks(
              op.items == Items::none ? 0 : static_cast<std::size_t>(2 * p), n);
          Call c{.rank = rank, .size = p, .root = p - 1, .bytes = n};
          const auto listed = static_cast<std::size_t>(op.items == Items::blocks_twice ? 2 * p : p);
          if (!blocks.empty()) c.blocks = std::span(blocks).first(listed);
          out.clear();
          collectives::find(op.op, "openmpi").rounds(c, out);
          for (const auto& m : out.messages())
            if (m.kind != collectives::Message::Kind::finish)
              REQUIRE((m.peer >= 0 && m.peer < p && m.bytes >= 0));
        }
}
