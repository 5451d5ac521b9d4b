// What docs/models/operations.md says, by hand and to the picosecond, on any number of ranks.
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;
constexpr std::int64_t a = 100 * ns, h = 40 * ns, l = 1 * us, j = 500 * ns;

/// A = 100 ns, H = 40 ns, latency 1 us, J = 500 ns, and what `more` says.
Machine simple(std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.end(), {{"send.prolog", "100ns"},
                           {"receive.epilog", "40ns"},
                           {"network.latency", "1us"},
                           {"barrier.overhead", "500ns"}});
  return machine(more);
}

using Words = std::vector<std::int64_t>;

/// A message in a list of starts, on MPI_COMM_WORLD.
Words start(StartMode mode, int peer, std::int64_t bytes, int slot, int tag = 0) {
  return {mode, trace::world_id, peer, tag, bytes, slot, 0};
}

Words operator+(Words list, const Words& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

trace::Signature in(std::int32_t communicator, int peer = -1, std::int64_t bytes = 0) {
  return {.communicator = communicator, .peer = peer, .bytes = bytes};
}

trace::Signature of_thread(int thread, int overlaps, int peer) {
  return {.thread = static_cast<std::uint16_t>(thread),
          .overlaps = static_cast<std::uint16_t>(overlaps),
          .peer = peer};
}

void check_same_ends(const SmallTrace& one, const SmallTrace& other, const Machine& m, int processes) {
  const Replayed r = replay(one, m), s = replay(other, m);
  REQUIRE(r.failure.empty());
  REQUIRE(s.failure.empty());
  for (int p = 0; p < processes; p++) {
    INFO("process " << p);
    CHECK(r.end(static_cast<std::size_t>(p)) == s.end(static_cast<std::size_t>(p)));
  }
}

}  // namespace

TEST_CASE("each start of a persistent request is the send or receive that it starts") {
  SmallTrace persistent(2), plain(2);
  for (int step = 0; step < 3; step++)
    for (int p = 0; p < 2; p++) {
      persistent[p].compute((3 * p + step) * us);
      persistent[p]
          .call(Op::Startall, {}, start(starts_receive, 1 - p, 5000, 0) + start(starts_send, 1 - p, 5000, 1))
          .wait({0, 1});
      plain[p].compute((3 * p + step) * us).irecv(1 - p, 5000, 0).isend(1 - p, 5000, 1).wait({0, 1});
    }
  check_same_ends(persistent, plain, simple({{"network.per-byte", "10ps/B"}}), 2);
  check_same_ends(persistent, plain, simple({{"network.eager-limit", "1000B"}}), 2);
}

TEST_CASE("a synchronous persistent send ends when its receive has matched") {
  SmallTrace t(2);
  t[0].call(Op::Start, {}, start(starts_synchronous_send, 1, 0, 0)).wait({0});
  t[1].compute(9 * us).receive(0, 0);
  const Replayed r = replay(t, simple());
  CHECK(r.end(0) == 9 * us + l);
}

TEST_CASE("a non-blocking collective takes its time from where it was started") {
  SmallTrace blocking(3), waited(3), hidden(3);
  for (int p = 0; p < 3; p++) {
    blocking[p].compute(p * us).collective(Op::Allreduce, 8);
    waited[p].compute(p * us).call(Op::Iallreduce, {.request = 0, .bytes = 8}).wait({0});
    hidden[p].compute(p * us).call(Op::Iallreduce, {.request = 0, .bytes = 8}).compute(50 * us).wait({0});
  }
  check_same_ends(waited, blocking, simple(), 3);
  const Replayed r = replay(hidden, simple());
  for (std::size_t p = 0; p < 3; p++) {
    CHECK(r.end(p) == static_cast<std::int64_t>(p) * us + 50 * us);
    CHECK(r.waiting(p) == 0);
  }
}

TEST_CASE("an alltoall in place exchanges with one neighbour after the other") {
  const Machine linear = simple({{"collectives.alltoall", "linear"},
                                 {"collectives.alltoallv", "linear"},
                                 {"collectives.alltoallw", "linear"}});
  for (const Op op : {Op::Alltoall, Op::Alltoallv, Op::Alltoallw}) {
    SmallTrace at_once(3), in_place(3);
    for (int p = 0; p < 3; p++) {
      const Words blocks(op == Op::Alltoall ? 0 : 6, 8);
      at_once[p].call(op, {.bytes = 8}, blocks);
      in_place[p].call(op, {.flags = trace::in_place, .bytes = 8}, blocks);
    }
    CHECK(replay(at_once, linear).end(0) < 2 * a + l + 3 * h);
    CHECK(replay(in_place, linear).end(0) == 2 * (a + l + h));
  }
}

TEST_CASE("collectives that are under way at once on a communicator follow each other, on two they do not") {
  SmallTrace one(2), two(2);
  const std::int32_t other = two.communicator({0, 1});
  for (int p = 0; p < 2; p++) {
    one[p]
        .call(Op::Iallreduce, {.request = 0, .bytes = 8})
        .call(Op::Iallreduce, {.request = 1, .bytes = 8})
        .wait({1, 0});
    two[p]
        .call(Op::Iallreduce, {.request = 0, .bytes = 8})
        .call(Op::Iallreduce, {.communicator = other, .request = 1, .bytes = 8})
        .wait({1, 0});
  }
  const std::int64_t round = a + l + h;
  CHECK(replay(one, simple()).end(0) == 2 * round);
  CHECK(replay(two, simple()).end(0) == round);
}

TEST_CASE("neighbours: all receives are posted, then all messages leave") {
  SmallTrace t(3);
  for (int p = 0; p < 3; p++) {
    const int right = (p + 1) % 3, left = (p + 2) % 3;
    t[p].compute(p * us).call(Op::Neighbor_alltoall, {.bytes = 0}, {2, right, 0, left, 0, right, 0, left, 0});
  }
  const Replayed r = replay(t, simple());
  // Process 2 starts last: its messages arrive at 2 us + A + L and 2 us + 2 A + L; the order is that of the
  // lists.
  CHECK(r.end(0) == 2 * us + a + l + 2 * h - h);
  CHECK(r.end(1) == 2 * us + 2 * a + l + 2 * h);
  CHECK(r.unreceived == 0);
}

TEST_CASE("a fence waits for the own accesses and then for everybody") {
  SmallTrace t(2);
  const std::int32_t window = t.communicator({0, 1});
  for (int p = 0; p < 2; p++) t[p].call(Op::Win_fence, in(window));
  t[0].call(Op::Put, in(window, 1, 1000)).call(Op::Win_fence, in(window));
  t[1].call(Op::Win_fence, in(window));
  const Replayed r = replay(t, simple({{"network.per-byte", "10ps/B"}}));
  const std::int64_t done = j + a + l + 10 * ns + l;  // there, and the word that it is
  CHECK(r.end(0) == done + j);
  CHECK(r.end(1) == done + j);
}

TEST_CASE("an epoch begins with a message of the target and ends with one of the origin") {
  SmallTrace t(2);
  const std::int32_t window = t.communicator({0, 1});
  t[0].compute(3 * us).call(Op::Win_post, in(window), {1}).call(Op::Win_wait, in(window), {1});
  t[1].call(Op::Win_start, in(window), {0})
      .call(Op::Get, in(window, 0, 0))
      .call(Op::Win_complete, in(window), {0});
  const Replayed r = replay(t, simple());
  const std::int64_t begun = 3 * us + a + l + h, got = begun + a + 2 * l;
  CHECK(r.end(1) == got + a);
  CHECK(r.end(0) == got + a + l + h);
}

TEST_CASE("a flush is a round trip of the origin, and requests of accesses complete by themselves") {
  SmallTrace t(2);
  const std::int32_t window = t.communicator({0, 1});
  t[0].call(Op::Win_lock, in(window, 1))
      .call(Op::Put, in(window, 1, 0))
      .call(Op::Win_flush_local, in(window, 1));
  t[0].call(Op::Win_unlock, in(window, 1));
  t[1].call(Op::Rget, {.communicator = window, .peer = 0, .request = 0, .bytes = 0}).wait({0});
  const Replayed r = replay(t, simple());
  CHECK(r.end(0) == a + 2 * l);
  CHECK(r.end(1) == a + 2 * l);
}

TEST_CASE("files take their recorded time, by their own speed") {
  SmallTrace t(1);
  t[0].call(Op::File_write_at, {.bytes = 100}).lasts(8 * us);
  t[0].call(Op::File_iread_at, {.request = 0, .bytes = 100})
      .lasts(2 * us)
      .compute(4 * us)
      .wait({0})
      .lasts(6 * us);
  const Replayed r = replay(t, machine({{"io.speedup", "2"}, {"cpu.speedup", "4"}}));
  CHECK(r.end(0) == 4 * us + 1 * us + 1 * us + 3 * us);
}

TEST_CASE("between two groups: the root sends to the first of the other group, which hands it on") {
  SmallTrace t(4);
  const std::int32_t both = t.communicator({0, 1, 2, 3}, 2);
  t[0].compute(5 * us).call(Op::Bcast, in(both, 0, 8));
  t[1].call(Op::Bcast, in(both, -1, 8));
  for (int p = 2; p < 4; p++) t[p].call(Op::Bcast, in(both, 0, 8));
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  CHECK(r.end(0) == 5 * us + a);
  CHECK(r.end(1) == 0);
  CHECK(r.end(2) == 5 * us + a + l + h + a);
  CHECK(r.end(3) == 5 * us + 2 * (a + l + h));
}

TEST_CASE("threads: one may send what leads to the answer that another waits for") {
  SmallTrace t(2);
  // The receive of thread 0 ended first, but thread 1 began its send before.
  t[0].call(Op::Recv, of_thread(0, 0, 1))
      .compute(2 * us)
      .call(Op::Send, of_thread(1, 1, 1))
      .call(Op::Send, of_thread(1, 0, 1));
  t[1].receive(0, 0).send(0, 0).receive(0, 0);
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  const std::int64_t answered = 2 * us + a + l + h + a + l + h;
  CHECK(r.end(0) == answered + a);  // the last send began after the receive had ended
  CHECK(r.end(1) == answered + a + l + h);
}

TEST_CASE("threads: of two that receive on one channel the first gets the first message") {
  SmallTrace t(2);
  t[0].call(Op::Recv, of_thread(0, 0, 0))
      .call(Op::Send, of_thread(1, 1, 0))
      .call(Op::Recv, of_thread(2, 2, 0));
  t[0].compute(50 * us).call(Op::Send, of_thread(1, 1, 0)).call(Op::Send, of_thread(0, 3, 1));
  t[1].receive(0, 0);
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  CHECK(r.end(1) == 2 * (a + l + h));
}

TEST_CASE("messages that were under way when recording began") {
  SmallTrace t(2);
  t[0].send(1, 5000).send(1, 5000);        // the receive of the first was not recorded
  t[1].receive(0, 5000).receive(0, 0, 7);  // nor the send of the second
  t.skipped({.source = 0, .destination = 1, .communicator = 0, .tag = 0, .messages = -1});
  t.skipped({.source = 0, .destination = 1, .communicator = 0, .tag = 7, .messages = 1});
  for (const char* limit : {"1000B", "10kB"}) {  // also where the sender waits for its receive
    const Replayed r = replay(t, simple({{"network.eager-limit", limit}}));
    CHECK(r.failure.empty());
    CHECK(r.unreceived == 0);
    CHECK(r.end(1) > a + l);
  }
}

TEST_CASE("calls that meet a process that was left out, and collectives alone, take as long as they did") {
  SmallTrace t(3);
  t[0].call(Op::Recv, in(0, 2)).lasts(3 * us).collective(Op::Barrier, 0).lasts(4 * us).send(1, 0);
  t[1].receive(0, 0).collective(Op::Barrier, 0).lasts(1 * us);
  t[2].left_out();
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  CHECK(r.end(0) == 7 * us + a);
  CHECK(r.end(1) == 7 * us + a + l + h + 1 * us);
  SmallTrace u(2);
  u[0].call(Op::Barrier, {.flags = trace::alone}).lasts(2 * us).collective(Op::Barrier, 0);
  u[1].collective(Op::Barrier, 0);
  CHECK(replay(u, simple()).end(1) == 2 * us + j);
}
