// The critical paths of the textbook formulas, as numbers of messages and bytes.
#include <algorithm>

#include "replay/collectives/algorithms.hpp"
#include "replay/network/alpha_beta.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using collectives::Call;
using collectives::Formula;
using collectives::Message;

namespace {

/// What a member of the operation pays by formula.
Formula formula(Op op, const Call& c) {
  collectives::Rounds out;
  collectives::find(op, "formula").rounds(c, out);
  REQUIRE(out.formulas().size() == 1);
  return out.formulas().front();
}

Formula one(int messages, std::int64_t bytes) { return {{messages, bytes}, {messages, bytes}}; }

Machine machine(const std::vector<std::pair<std::string, std::string>>& settings) {
  Machine m;
  for (const auto& [key, value] : settings) apply_setting(m, key, value, "test");
  return m;
}

}  // namespace

TEST_CASE("formulas of sixteen members are those of Thakur, Rabenseifner and Gropp") {
  const Call c{.rank = 0, .size = 16, .bytes = 1600};
  const Formula vector{{4, 4 * 1600},
                       {8, 2 * 1500}};  // lg p (alpha + n beta), 2 lg p alpha + 2 (p-1)/p n beta
  CHECK(formula(Op::Bcast, c) == vector);
  CHECK(formula(Op::Reduce, c) == vector);
  CHECK(formula(Op::Allreduce, c) == vector);
  CHECK(formula(Op::Barrier, {.rank = 0, .size = 16}) == Formula{{4, 0}, {8, 0}});
  const Formula blocks = one(4, 15 * 1600);  // lg p alpha + (p-1)/p n beta
  for (const Op op : {Op::Gather, Op::Scatter, Op::Allgather, Op::Reduce_scatter_block})
    CHECK(formula(op, c) == blocks);
  CHECK(formula(Op::Alltoall, c) == Formula{{4, 4 * 8 * 1600}, {15, 15 * 1600}});
  CHECK(formula(Op::Scan, c) == one(4, 4 * 1600));
}

TEST_CASE("formulas: logarithms and bytes are rounded up, and one member has nothing to do") {
  CHECK(formula(Op::Bcast, {.rank = 0, .size = 9, .bytes = 10}) == Formula{{4, 40}, {8, 2 * 9}});
  CHECK(formula(Op::Alltoall, {.rank = 0, .size = 3, .bytes = 5}) == Formula{{2, 2 * 8}, {2, 10}});
  for (const Op op : {Op::Bcast, Op::Alltoall, Op::Gather, Op::Scan, Op::Barrier})
    CHECK(formula(op, {.rank = 0, .size = 1, .bytes = 1000}) == one(0, 0));
}

TEST_CASE("formulas: absurd numbers of bytes are not computed with") {
  const std::int64_t most = INT64_MAX / 4 / 1000;
  const Formula f = formula(Op::Alltoall, {.rank = 0, .size = 1000, .bytes = most});
  CHECK(f.of_short.bytes >= f.of_long.bytes);
  const network::AlphaBeta line(machine({{"send.per-byte", "1ns/B"}}).between, Machine::Model::base);
  CHECK_THROWS_AS(line.of(f.of_short.messages, f.of_short.bytes), std::overflow_error);
}

TEST_CASE("a member of a million takes few steps, but for a root") {
  const int p = 1'000'000;
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective || op.items != Items::none) continue;
    for (const int rank : {0, 1, 4711, 524'288, p - 1}) {
      collectives::Rounds out;
      collectives::find(op.op, "formula").rounds({.rank = rank, .size = p, .root = 17, .bytes = 8}, out);
      INFO(op.name << ", member " << rank);
      CHECK(out.messages().size() <= 81);
    }
  }
}

TEST_CASE("alpha and beta are those of an empty and of a long message") {
  const std::vector<std::pair<std::string, std::string>> settings{
      {"send.prolog", "1us, 1KiB: 5us"}, {"send.per-byte", "9ps/B, 1MiB: 4ps/B"},
      {"send.epilog", "70us"},           {"receive.prolog", "80us"},
      {"receive.per-byte", "2ps/B"},     {"receive.epilog", "2us"},
      {"network.latency", "3us"},        {"network.per-byte", "1ps/B"},
      {"network.gap-per-byte", "5ps/B"}};
  const Machine m = machine(settings);
  CHECK(network::AlphaBeta(m.between, Machine::Model::base).of(3, 1000) ==
        Duration{18'000'000 + 1000 * (4 + 1 + 2)});
  CHECK(network::AlphaBeta(m.between, Machine::Model::loggops).of(3, 1000) ==
        Duration{18'000'000 + 1000 * (1 + 5)});
}
