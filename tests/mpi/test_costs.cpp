// Costs beyond the base model, by hand to the picosecond: LogGOPS, gaps, rendezvous, synchronous sends, ways
// within a node, placement, speeds of single processes, sizes, noise.
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;

/// L = 2 us, o = 300 ns, g = 700 ns, G = 2 ps/B, O = 1 ps/B, S = 1000 B.
std::vector<std::pair<std::string, std::string>> loggops() {
  return {{"network.model", "loggops"}, {"network.latency", "2us"},        {"send.prolog", "300ns"},
          {"receive.epilog", "300ns"},  {"send.per-byte", "1ps/B"},        {"receive.per-byte", "1ps/B"},
          {"network.gap", "700ns"},     {"network.gap-per-byte", "2ps/B"}, {"network.eager-limit", "1000"}};
}

}  // namespace

TEST_CASE("LogGOPS: one message takes o + L + (s-1)max(O,G) + o") {
  SmallTrace t(2);
  t[0].send(1, 501);
  t[1].receive(0, 501);
  const Replayed r = replay(t, machine(loggops()));
  CHECK(r.end(0) == 300 * ns + 500);  // o + (s-1)O
  CHECK(r.end(1) == 300 * ns + 2 * us + 300 * ns + 500 * 2);
}

TEST_CASE("LogGOPS: messages of one sender are g + (s-1)G apart, and the receiver's adapter likewise") {
  SmallTrace t(3);
  t[0].send(2, 101).send(2, 101).send(2, 1);
  t[1].compute(500 * ns).send(2, 101);
  t[2].receive(0, 101).receive(1, 101).receive(0, 101).receive(0, 1);
  const Replayed r = replay(t, machine(loggops()));
  const std::int64_t gap = 700 * ns + 100 * 2, o = 300 * ns, hop = o + 2 * us;
  CHECK(r.end(0) == 2 * gap + o);
  const std::int64_t first = hop, second = std::max({500 * ns + hop, first + gap, first + o + 200}),
                     third = std::max(gap + hop, second + gap), fourth = std::max(2 * gap + hop, third + gap);
  CHECK(r.end(2) == fourth + o);
}

TEST_CASE("a small message after a large one waits for the rest of it, not for its time once more") {
  const std::vector<std::pair<std::string, std::string>> link{
      {"network.latency", "2us"}, {"network.per-byte", "10ps/B"}, {"network.gap-per-byte", "10ps/B"}};
  SmallTrace t(3);
  t[0].send(2, 100'000);
  t[1].compute(500 * ns).send(2, 100);
  t[2].receive(0, 100'000).receive(1, 100);
  const Replayed r = replay(t, machine(link));
  CHECK(r.end(2) == 2 * us + 100'000 * 10 + 100 * 10);
}

TEST_CASE("half duplex: what a process sends and receives goes one after the other") {
  const std::int64_t bytes = 5000, each = bytes * 10;
  for (const bool half : {false, true}) {
    const Machine m = machine({{"network.latency", "2us"},
                               {"network.gap-per-byte", "10ps/B"},
                               {"network.per-byte", "10ps/B"},
                               {"network.eager-limit", "1000"},
                               {"network.duplex", half ? "half" : "full"}});
    SmallTrace t(2);
    for (const int p : {0, 1})
      t[p].irecv(1 - p, bytes, 1)
          .irecv(1 - p, bytes, 2)
          .isend(1 - p, bytes, 3)
          .isend(1 - p, bytes, 4)
          .wait({1, 2, 3, 4});
    const Replayed r = replay(t, m);
    // Requests, answers, and the first data; then one more each way, or three more.
    for (const std::size_t p : {0U, 1U}) CHECK(r.end(p) == 3 * 2 * us + each + (half ? 3 : 1) * each);
  }
}

TEST_CASE("a wait for several requests that stops in their midst pays for each of them once") {
  SmallTrace t(4);
  t[0].irecv(1, 8, 1).irecv(2, 8, 2).irecv(3, 8, 3).wait({1, 2, 3});
  t[1].send(0, 8);
  t[2].receive(3, 8).send(0, 8);  // not before 3, whose own message to 0 comes first
  t[3].compute(5 * us).send(0, 8).send(2, 8);
  const Replayed r = replay(t, machine({{"network.latency", "2us"}, {"receive.epilog", "300ns"}}));
  const std::int64_t from_2 = 5 * us + 2 * us + 300 * ns + 2 * us;
  CHECK(r.end(0) == from_2 + 2 * 300 * ns);  // that of 2 and of 3; that of 1 was paid while it waited
  CHECK(r.waiting(0) == from_2 - 300 * ns);
}

TEST_CASE("as recorded: only the overhead goes, and who took a message moves no more than its sender") {
  SmallTrace t(3);
  t.overhead(100 * ns);
  t[0].compute(10 * ns).send(2, 8).compute(1 * us).send(1, 8).lasts(50 * ns).compute(1 * us).send(1, 8);
  t[1].compute(30 * ns).receive(0, 8).lasts(2 * us).compute(2 * us).receive(0, 8).lasts(90 * ns);
  t[2].compute(700 * ns).receive(0, 8).lasts(60 * ns);
  Machine m;
  m.as_recorded = true;
  const std::string predicted = scratch_name();
  const Replayed r = replay(t, m, predicted);
  // What is taken away before each call: of 0 10, 100 and 100; of 1 30 and 100; of 2 100, but 0 had lost 10.
  CHECK(r.end(0) == 2'060 * ns - 210 * ns);
  CHECK(r.end(1) == 4'120 * ns - 130 * ns);
  CHECK(r.end(2) == 760 * ns - 10 * ns);
  const Replayed again = replay_file(predicted, m);
  for (const std::size_t p : {0U, 1U, 2U}) CHECK(again.end(p) == r.end(p));
}

TEST_CASE("rendezvous: request, answer and data; the sender is free when its bytes have left") {
  for (const std::int64_t late : {0 * us, 9 * us}) {
    SmallTrace t(2);
    t[0].send(1, 5001);
    t[1].compute(late).receive(0, 5001);
    const Replayed r = replay(t, machine(loggops()));
    const std::int64_t o = 300 * ns, latency = 2 * us, match = std::max(o + latency, late);
    CHECK(r.end(0) == match + o + latency + o + 5000 * 2);
    CHECK(r.end(1) == match + o + latency + o + latency + 5000 * 2 + o);
    CHECK(r.waiting(0) == match - o);  // until the receive has matched
    CHECK(r.waiting(1) == std::max<std::int64_t>(0, o + latency - late));
  }
}

TEST_CASE("rendezvous of non-blocking calls proceeds while the processes compute") {
  SmallTrace t(2);
  t[0].isend(1, 5001, 0).compute(50 * us).wait({0});
  t[1].irecv(0, 5001, 0).compute(50 * us).wait({0});
  const Replayed r = replay(t, machine(loggops()));
  CHECK(r.end(0) == 300 * ns + 50 * us);
  CHECK(r.end(1) == 50 * us + 300 * ns + 5000 * 2);
  CHECK(r.waiting(0) == 0);
  CHECK(r.waiting(1) == 0);
}

TEST_CASE("eager up to the limit, rendezvous above it: a ring of blocking sends stands still") {
  for (const std::int64_t bytes : {1000, 1001}) {
    SmallTrace t(4);
    for (int p = 0; p < 4; p++) t[p].send((p + 1) % 4, bytes, 3).receive((p + 3) % 4, bytes, 3);
    const Replayed r = replay(t, machine(loggops()));
    if (bytes == 1000) {
      CHECK(r.failure.empty());
    } else {
      CHECK(r.failure.find("4 of 4 processes wait") != std::string::npos);
      CHECK(r.failure.find(
                "process 0, call 1 (MPI_Send): expected process 1 to receive its message with tag 3") !=
            std::string::npos);
    }
  }
}

TEST_CASE("exchanges of large messages cross") {
  SmallTrace t(4);
  for (int p = 0; p < 4; p++)
    t[p].call(Op::Sendrecv, {.peer = (p + 1) % 4, .tag = 1, .bytes = 5001}, {(p + 3) % 4, 1, 5001});
  const Replayed r = replay(t, machine(loggops()));
  REQUIRE(r.failure.empty());
  for (std::size_t p = 1; p < 4; p++) CHECK(r.end(p) == r.end(0));
}

TEST_CASE("a synchronous send ends when its receive has matched, a small one too") {
  SmallTrace t(2);
  t[0].call(Op::Ssend, {.peer = 1, .bytes = 1})
      .call(Op::Issend, {.peer = 1, .request = 0, .bytes = 1})
      .wait({0});
  t[1].compute(1000 * us).receive(0, 1).compute(1000 * us).receive(0, 1);
  const Replayed r = replay(t, machine({{"network.latency", "2us"}}));
  CHECK(r.rows[0].communication_ps == 4 * us);  // two words on their way back
  CHECK(r.waiting(0) == 2000 * us - 2 * us);
  CHECK(r.end(0) == 2000 * us + 2 * us);
}

TEST_CASE("every collective with rendezvous messages ends on one to seven processes") {
  auto settings = loggops();
  settings.push_back({"network.eager-limit", "0"});
  for (const int n : {1, 2, 3, 4, 7})
    for (const Op op : {Op::Barrier, Op::Bcast, Op::Gather, Op::Scatter, Op::Allgather, Op::Alltoall,
                        Op::Reduce, Op::Allreduce, Op::Reduce_scatter_block, Op::Scan}) {
      SmallTrace t(n);
      for (int p = 0; p < n; p++) t[p].collective(op, 64, info(op).rooted ? n / 2 : -1);
      INFO(info(op).name << " on " << n);
      const Replayed r = replay(t, machine(settings));
      CHECK(r.failure.empty());
      CHECK(r.unreceived == 0);
    }
}

TEST_CASE("within a node other costs apply; placement says who is where") {
  const auto settings = [](const std::string& scheme) {
    return std::vector<std::pair<std::string, std::string>>{{"network.latency", "10us"},
                                                            {"within.network.latency", "1us"},
                                                            {"placement.scheme", scheme},
                                                            {"placement.processes-per-node", "2"}};
  };
  SmallTrace t(4);
  t[0].send(1, 8).send(2, 8);
  t[1].receive(0, 8);
  t[2].receive(0, 8);
  Replayed r = replay(t, machine(settings("block")));
  CHECK(r.end(1) == 1 * us);
  CHECK(r.end(2) == 10 * us);
  r = replay(t, machine(settings("cyclic")));
  CHECK(r.end(1) == 10 * us);
  CHECK(r.end(2) == 1 * us);
  const SharedFile nodes("0 3\n3 0  # two of each\n");
  r = replay(t, machine(settings(nodes.name())));
  CHECK(r.end(1) == 10 * us);
  CHECK(r.end(2) == 10 * us);
  const SharedFile short_list("0 1 1\n");
  CHECK_THAT(
      replay(t, machine(settings(short_list.name()))).failure,
      Catch::Matchers::ContainsSubstring("expected a node number for each of 4 processes, found 3 numbers"));
}

TEST_CASE("speeds of single processes and nodes") {
  SmallTrace t(3);
  for (int p = 0; p < 3; p++) t[p].compute(12 * us).send(-1, 0);
  const SharedFile speeds("# slow ones\nprocess 0 0.5\nnode 1 4\n");
  const Replayed r = replay(t, machine({{"cpu.speedup", "2"}, {"cpu.speedups", speeds.name()}}));
  CHECK(r.end(0) == 24 * us);
  CHECK(r.end(1) == 3 * us);
  CHECK(r.end(2) == 6 * us);
  const SharedFile bad("process 3 2\n");
  CHECK_THAT(replay(t, machine({{"cpu.speedups", bad.name()}})).failure,
             Catch::Matchers::ContainsSubstring(":1: expected `process N SPEEDUP`, `node N SPEEDUP` "
                                                "or `region NAME SPEEDUP`, found process 3 of 3"));
}

TEST_CASE("costs by size: each holds from its size on") {
  for (const std::int64_t bytes : {100, 1000, 1001}) {
    SmallTrace t(2);
    t[0].send(1, bytes);
    t[1].receive(0, bytes);
    const Replayed r = replay(t, machine({{"send.prolog", "1us, 1000: 3us, 1001B: 5us"}}));
    CHECK(r.end(0) == (bytes < 1000 ? 1 : bytes == 1000 ? 3 : 5) * us);
  }
  CHECK_THROWS_WITH(machine({{"send.prolog", "1us, 8KiB: 3us, 4KiB: 2us"}}),
                    Catch::Matchers::ContainsSubstring("expected sizes that ascend, found ' 4KiB: 2us'"));
  CHECK_THROWS_WITH(machine({{"send.prolog", "4KiB: 2us"}}),
                    Catch::Matchers::ContainsSubstring("expected a value for all sizes first"));
}

TEST_CASE("noise changes computation by its deviation, and depends on the seed alone") {
  constexpr int calls = 400;
  SmallTrace t(4);
  for (int p = 0; p < 4; p++)
    for (int i = 0; i < calls; i++) t[p].compute(10 * us).send(-1, 0);
  const Replayed a = replay(t, machine({{"noise.deviation", "0.05"}, {"noise.seed", "7"}}));
  const Replayed b = replay(t, machine({{"noise.deviation", "0.05"}, {"noise.seed", "8"}}));
  for (std::size_t p = 0; p < 4; p++) {
    CHECK(a.end(p) != b.end(p));
    // the sum of 400 varies by 0.05 / 20 = 0.25 %
    CHECK(std::abs(a.end(p) - calls * 10 * us) < calls * 10 * us / 100);
  }
  CHECK(a.end(0) != a.end(1));
  // The same on every number of ranks: pinned.
  CHECK(a.end(0) == 4003350395);
}
