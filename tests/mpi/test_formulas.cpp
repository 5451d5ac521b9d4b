// Collectives by formula, to the picosecond: who waits for whom, and what docs/models/collectives.md says
// they pay then; on any number of ranks.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;
constexpr std::int64_t alpha = 100 * ns + 1 * us + 40 * ns;  // A + L + H
constexpr std::int64_t beta = 10 + 3 + 5;                    // B + of the way + G, ps/B
constexpr std::int64_t a_and_c = 100 * ns + 20 * ns;         // of a send, and 10 ps/B

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A = 100 ns, B = 10 ps/B, C = 20 ns, E = 30 ns, G = 5 ps/B, H = 40 ns, L = 1 us, 3 ps/B of the way.
Machine by_formula(const Settings& more = {}) {
  Settings all{{"collectives.all", "formula"}, {"send.prolog", "100ns"},    {"send.per-byte", "10ps/B"},
               {"send.epilog", "20ns"},        {"receive.prolog", "30ns"},  {"receive.per-byte", "5ps/B"},
               {"receive.epilog", "40ns"},     {"barrier.overhead", "7us"}, {"network.latency", "1us"},
               {"network.per-byte", "3ps/B"}};
  all.insert(all.end(), more.begin(), more.end());
  return machine(all);
}

/// When process p of 5 enters.
std::int64_t enters(int p) { return (p == 2 ? 9 : p + 1) * us; }
constexpr std::int64_t latest = 9 * us;

using Words = std::vector<std::int64_t>;

/// Five processes, one call each, with the items that `items` gives for a process.
template <class ItemsOf>
Replayed five_listed(Op op, std::int64_t bytes, int root, ItemsOf&& items, const Machine& m = by_formula()) {
  SmallTrace t(5);
  for (int p = 0; p < 5; p++) t[p].compute(enters(p)).collective(op, bytes, root, items(p));
  Replayed r = replay(t, m);
  REQUIRE(r.failure.empty());
  REQUIRE(r.unreceived == 0);
  return r;
}

Replayed five(Op op, std::int64_t bytes, int root = -1, const Machine& m = by_formula()) {
  return five_listed(
      op, bytes, root, [](int) { return Words{}; }, m);
}

void check_all_end_at(const Replayed& r, std::int64_t end) {
  for (const auto& row : r.rows) CHECK(row.end_ps == end);
}

}  // namespace

TEST_CASE("formulas: all wait for the latest, then pay the same") {
  // lg 5 = 3. Short vectors go whole in 3 rounds, long ones in halves in 2 * 3.
  check_all_end_at(five(Op::Barrier, 0), latest + 3 * alpha);
  check_all_end_at(five(Op::Allreduce, 8), latest + 3 * alpha + 3 * 8 * beta);
  check_all_end_at(five(Op::Allreduce, 1'000'000), latest + 6 * alpha + 2 * 800'000 * beta);
  check_all_end_at(five(Op::Allgather, 1000), latest + 3 * alpha + 4000 * beta);
  check_all_end_at(five(Op::Reduce_scatter_block, 1000), latest + 3 * alpha + 4000 * beta);
  // All blocks are 5000 bytes, of which half in each of 3 rounds; or 4 blocks in 4 rounds.
  check_all_end_at(five(Op::Alltoall, 1000), latest + 3 * alpha + 3 * 2500 * beta);
  check_all_end_at(five(Op::Alltoall, 100'000), latest + 4 * alpha + 400'000 * beta);
}

TEST_CASE("formulas: listed blocks count all together, those of alltoallv each member's own") {
  const Words blocks{100, 0, 300, 7, 600};
  const auto listed = [&](int) { return blocks; };
  const std::int64_t all_but_a_fifth = 1007 - 201;
  check_all_end_at(five_listed(Op::Allgatherv, 0, -1, listed), latest + 3 * alpha + all_but_a_fifth * beta);
  check_all_end_at(five_listed(Op::Reduce_scatter, 0, -1, listed),
                   latest + 3 * alpha + all_but_a_fifth * beta);
  // Process p sends 10 p bytes to each: it receives 0 + 10 + .. + 40 without its own.
  const auto exchanged = [](int p) {
    Words words(5, 10 * p);
    for (int from = 0; from < 5; from++) words.push_back(10 * from);
    return words;
  };
  for (const Op op : {Op::Alltoallv, Op::Alltoallw}) {
    const Replayed r = five_listed(op, 0, -1, exchanged);
    for (int p = 0; p < 5; p++)
      CHECK(r.end(static_cast<std::size_t>(p)) == latest + 4 * alpha + std::max(40 * p, 100 - 10 * p) * beta);
  }
}

TEST_CASE("formulas: what comes from a root waits for the root alone") {
  const int root = 3;
  const auto check = [&](const Replayed& r, std::int64_t formula) {
    for (int p = 0; p < 5; p++)
      CHECK(r.end(static_cast<std::size_t>(p)) ==
            std::max(p == root ? 0 : enters(p), enters(root) + formula));
  };
  check(five(Op::Bcast, 8, root), 3 * alpha + 3 * 8 * beta);
  check(five(Op::Bcast, 1'000'000, root), 6 * alpha + 2 * 800'000 * beta);
  check(five(Op::Scatter, 1000, root), 3 * alpha + 4000 * beta);
  const Words blocks{100, 0, 300, 7, 600};
  check(five_listed(Op::Scatterv, 0, root, [&](int p) { return p == root ? blocks : Words{}; }),
        3 * alpha + (1007 - 201) * beta);
}

TEST_CASE("formulas: what goes to a root lets the others go on after a send") {
  const int root = 3;
  const auto check = [&](const Replayed& r, std::int64_t sent, std::int64_t formula) {
    for (int p = 0; p < 5; p++)
      CHECK(r.end(static_cast<std::size_t>(p)) ==
            (p == root ? latest + formula : enters(p) + a_and_c + sent * 10));
  };
  check(five(Op::Reduce, 8, root), 8, 3 * alpha + 3 * 8 * beta);
  check(five(Op::Reduce, 1'000'000, root), 1'000'000, 6 * alpha + 2 * 800'000 * beta);
  check(five(Op::Gather, 1000, root), 1000, 3 * alpha + 4000 * beta);
  const Words blocks{100, 100, 100, 100, 100};
  check(five_listed(Op::Gatherv, 100, root, [&](int p) { return p == root ? blocks : Words{}; }), 100,
        3 * alpha + 400 * beta);
}

TEST_CASE("formulas: a scan waits for the ranks before") {
  for (const Op op : {Op::Scan, Op::Exscan}) {
    const Replayed r = five(op, 8);
    std::int64_t latest_so_far = 0;
    for (int p = 0; p < 5; p++) {
      latest_so_far = std::max(latest_so_far, enters(p));
      CHECK(r.end(static_cast<std::size_t>(p)) == latest_so_far + 3 * alpha + 3 * 8 * beta);
    }
  }
}

TEST_CASE("formulas: waiting is told from paying, and a lone member pays nothing") {
  const Replayed r = five(Op::Allreduce, 8);
  for (int p = 0; p < 5; p++) {
    CHECK(r.waiting(static_cast<std::size_t>(p)) == latest - enters(p));
    CHECK(r.rows[static_cast<std::size_t>(p)].communication_ps == 3 * alpha + 3 * 8 * beta);
  }
  CHECK(r.messages == 0);
  for (const Op op : {Op::Barrier, Op::Bcast, Op::Reduce, Op::Alltoall, Op::Scan, Op::Gather}) {
    SmallTrace t(1);
    t[0].compute(1 * us).collective(op, 5000, info(op).rooted ? 0 : -1);
    CHECK(replay(t, by_formula()).end(0) == 1 * us);
  }
}

TEST_CASE("formulas: non-blocking collectives take the same time beside their process") {
  SmallTrace waited(5), hidden(5);
  for (int p = 0; p < 5; p++) {
    waited[p].compute(enters(p)).call(Op::Iallreduce, {.request = 0, .bytes = 8}).wait({0});
    hidden[p].compute(enters(p)).call(Op::Ibcast, {.peer = 3, .request = 0, .bytes = 8});
    hidden[p].compute(50 * us).wait({0});
  }
  check_all_end_at(replay(waited, by_formula()), latest + 3 * alpha + 3 * 8 * beta);
  const Replayed r = replay(hidden, by_formula());
  for (int p = 0; p < 5; p++) CHECK(r.end(static_cast<std::size_t>(p)) == enters(p) + 50 * us);
}

TEST_CASE("formulas: a communicator inside a node pays what messages cost there") {
  const Machine m = by_formula({{"placement.scheme", "block"},
                                {"placement.processes-per-node", "2"},
                                {"within.network.latency", "200ns"},
                                {"within.receive.per-byte", "1ps/B"}});
  SmallTrace t(4);
  const std::int32_t near = t.communicator({3, 2}), far = t.communicator({0, 1, 2});
  for (const int p : {2, 3}) t[p].collective(Op::Bcast, 100, 2, {}, near);
  for (const int p : {0, 1, 2}) t[p].collective(Op::Allreduce, 100, -1, {}, far);
  const Replayed r = replay(t, m);
  REQUIRE(r.failure.empty());
  const std::int64_t inside = 340 * ns + 100 * (10 + 3 + 1);
  CHECK(r.end(3) == inside);
  for (const std::size_t p : {0U, 1U, 2U}) CHECK(r.end(p) == inside + 2 * alpha + 200 * beta);
}

TEST_CASE("formulas: in LogGOPS a byte costs the larger of O and G and what it takes on the way") {
  const Machine m = machine({{"collectives.allgather", "formula"},
                             {"network.model", "loggops"},
                             {"network.latency", "2us"},
                             {"send.prolog", "300ns"},
                             {"receive.epilog", "300ns"},
                             {"send.per-byte", "5ps/B"},
                             {"receive.per-byte", "5ps/B, 1MiB: 1ps/B"},  // beta is that of long messages
                             {"network.gap-per-byte", "2ps/B"}});
  check_all_end_at(five(Op::Allgather, 1000, -1, m), latest + 3 * 2600 * ns + 4000 * 2);
}

TEST_CASE("formulas between two groups: within a group by formula, between their first members by message") {
  SmallTrace t(5);
  const std::int32_t both = t.communicator({0, 1, 2, 3, 4}, 2);
  t[0].compute(5 * us).call(Op::Bcast, {.communicator = both, .peer = 0, .bytes = 8});
  t[1].call(Op::Bcast, {.communicator = both, .peer = -1, .bytes = 8});
  for (int p = 2; p < 5; p++) t[p].call(Op::Bcast, {.communicator = both, .peer = 0, .bytes = 8});
  const Replayed r = replay(t, by_formula());
  REQUIRE(r.failure.empty());
  const std::int64_t there = 5 * us + alpha + 8 * beta;
  CHECK(r.end(0) == 5 * us + a_and_c + 80);
  CHECK(r.end(1) == 0);
  for (const std::size_t p : {2U, 3U, 4U}) CHECK(r.end(p) == there + 2 * alpha + 2 * 8 * beta);
}

TEST_CASE("formulas: making a communicator and a fence are collectives, too") {
  SmallTrace t(2);
  const std::int32_t made = t.communicator({0, 1});
  for (int p = 0; p < 2; p++) t[p].compute(p * us).call(Op::Comm_dup, {}, {made});
  for (int p = 0; p < 2; p++) t[p].call(Op::Win_fence, {.communicator = made});
  check_all_end_at(replay(t, by_formula()), 1 * us + alpha + 4 * beta + alpha);
}

TEST_CASE("one algorithm for all collectives, but for those that have their own") {
  const Settings chosen{{"collectives.all", "formula"}, {"collectives.barrier", "patent"}};
  for (const bool all_first : {true, false}) {
    Machine m = by_formula();
    for (std::size_t i = 0; i < 2; i++) {
      const auto& [key, value] = chosen[all_first ? i : 1 - i];
      apply_setting(m, key, value, "test");
    }
    check_all_end_at(five(Op::Barrier, 0, -1, m), latest + 7 * us);
    check_all_end_at(five(Op::Allreduce, 8, -1, m), latest + 3 * alpha + 24 * beta);
  }
  SmallTrace t(1);
  CHECK_THAT(replay(t, machine({{"collectives.all", "ring"}})).failure,
             Catch::Matchers::ContainsSubstring(
                 "collectives.all: expected an algorithm of MPI_Barrier (patent, dissemination"));
}
