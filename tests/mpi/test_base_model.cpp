// The base model by hand, to the picosecond: every formula of docs/models/base.md, on any number of ranks.
#include <cstdio>

#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;

/// A = 100 ns, B = 10 ps/B, C = 20 ns, E = 30 ns, G = 5 ps/B, H = 40 ns, J = 500 ns, latency 1 us, speed 2.
Machine full_machine() {
  return machine({{"cpu.speedup", "2"},
                  {"send.prolog", "100ns"},
                  {"send.per-byte", "10ps/B"},
                  {"send.epilog", "20ns"},
                  {"receive.prolog", "30ns"},
                  {"receive.per-byte", "5ps/B"},
                  {"receive.epilog", "40ns"},
                  {"barrier.overhead", "500ns"},
                  {"network.latency", "1us"}});
}

}  // namespace

TEST_CASE("send and receive: the receiver waits for the send time and the latency") {
  SmallTrace t(2);
  t[0].compute(1 * us).send(1, 100);
  t[1].receive(0, 100);
  const Replayed r = replay(t, full_machine());
  REQUIRE(r.failure.empty());
  // lib_in = 1 us / 2; send time = lib_in + A + B * 100; lib_out = send time + C
  const std::int64_t send_time = 500 * ns + 100 * ns + 1 * ns;
  CHECK(r.end(0) == send_time + 20 * ns);
  CHECK(r.rows[0].computation_ps == 500 * ns);
  CHECK(r.rows[0].communication_ps == 121 * ns);
  CHECK(r.waiting(0) == 0);
  // request = E; receive time = send time + latency; lib_out = receive time + G * 100 + H
  const std::int64_t receive_time = send_time + 1 * us;
  CHECK(r.end(1) == receive_time + 500 + 40 * ns);
  CHECK(r.waiting(1) == receive_time - 30 * ns);  // F
  CHECK(r.rows[1].communication_ps == 30 * ns + 500 + 40 * ns);
  CHECK(r.messages == 1);
  CHECK(r.calls == 6);
}

TEST_CASE("send and receive: a late receiver does not wait") {
  SmallTrace t(2);
  t[0].send(1, 100);
  t[1].compute(10 * us).receive(0, 100);
  const Replayed r = replay(t, full_machine());
  CHECK(r.waiting(1) == 0);
  CHECK(r.end(1) == 5 * us + 30 * ns + 500 + 40 * ns);
}

TEST_CASE("the gap after a call is computation of the next, and after the last call it counts too") {
  SmallTrace t(2);
  t[0].compute(200 * ns).send(1, 0).compute(400 * ns).send(1, 0).compute(600 * ns);
  t[1].receive(0, 0).compute(800 * ns).receive(0, 0);
  const Replayed r = replay(t, full_machine());
  const std::int64_t first = 100 * ns + 100 * ns, second = first + 20 * ns + 200 * ns + 100 * ns;
  CHECK(r.end(0) == second + 20 * ns + 300 * ns);
  CHECK(r.rows[0].computation_ps == 600 * ns);
  const std::int64_t between = first + 1 * us + 40 * ns + 400 * ns;  // lib_in of the second receive
  CHECK(r.end(1) == std::max(between + 30 * ns, second + 1 * us) + 40 * ns);
}

TEST_CASE("tracing overhead leaves the computation, which never becomes negative") {
  SmallTrace t(1);
  t[0].compute(500 * ns).send(-1, 0).compute(40 * ns).send(-1, 0);
  t.overhead(100 * ns);
  const Replayed r = replay(t, machine({}));
  CHECK(r.end(0) == 400 * ns);
}

TEST_CASE("barrier: the latest requester plus J, for four and for five processes") {
  for (const int n : {4, 5}) {
    SmallTrace t(n);
    for (int p = 0; p < n; p++)
      t[p].compute((p == 2 ? 9 : p) * us).collective(Op::Barrier, 0).compute(2 * us);
    const Replayed r = replay(t, full_machine());
    for (int p = 0; p < n; p++) {
      const auto i = static_cast<std::size_t>(p);
      CHECK(r.end(i) == 4500 * ns + 500 * ns + 1 * us);
      CHECK(r.waiting(i) == 4500 * ns - (p == 2 ? 9 : p) * us / 2);  // I
    }
    CHECK(r.messages == 0);  // of the program's own
  }
}

TEST_CASE("barrier of a sub-communicator leaves the others alone") {
  SmallTrace t(4);
  const auto odd = t.communicator({3, 1});
  t[1].compute(8 * us).collective(Op::Barrier, 0, -1, {}, odd);
  t[3].collective(Op::Barrier, 0, -1, {}, odd);
  const Replayed r = replay(t, full_machine());
  CHECK(r.end(0) == 0);
  CHECK(r.end(1) == 4500 * ns);
  CHECK(r.end(2) == 0);
  CHECK(r.end(3) == 4500 * ns);
}

TEST_CASE("non-blocking calls: a wait ends when its last message does") {
  SmallTrace t(3);
  t[0].irecv(1, 200, 0).irecv(2, 100, 1).compute(2 * us).wait({0, 1});
  t[1].compute(6 * us).isend(0, 200, 0).wait({0});
  t[2].isend(0, 100, 0).compute(1 * us).wait({0});
  const Replayed r = replay(t, full_machine());
  const std::int64_t from1 = 3 * us + 100 * ns + 2 * ns + 1 * us, from2 = 100 * ns + 1 * ns + 1 * us;
  CHECK(r.end(1) == from1 - 1 * us + 20 * ns);  // an eager send is complete at its lib out
  CHECK(r.end(2) == from2 - 1 * us + 20 * ns + 500 * ns);
  const std::int64_t wait_in = 2 * 30 * ns + 1 * us;
  REQUIRE(wait_in < from1);
  // in the order in which the call lists them
  CHECK(r.end(0) == std::max(from1 + 200 * 5 + 40 * ns, from2) + 100 * 5 + 40 * ns);
  CHECK(r.waiting(0) == from1 - wait_in);
}

TEST_CASE("messages of a channel are taken in order; tags and communicators keep them apart") {
  SmallTrace t(2);
  const auto pair = t.communicator({1, 0});
  t[0].send(1, 1, 7).send(1, 2, 8).send(1, 3, 7, pair).send(1, 4, 7);
  t[1].receive(0, 3, 7, pair).receive(0, 1, 7).receive(0, 4, 7).receive(0, 2, 8);
  const Replayed r = replay(t, machine({{"network.latency", "1us"}, {"send.prolog", "1us"}}));
  REQUIRE(r.failure.empty());
  CHECK(r.end(1) == 5 * us);
  CHECK(r.waiting(1) == 5 * us);
}

TEST_CASE("exchange: sends first, then receives") {
  SmallTrace t(2);
  for (int p = 0; p < 2; p++)
    t[p].compute(p * us).call(Op::Sendrecv, {.peer = 1 - p, .tag = 1, .bytes = 100}, {1 - p, 1, 100});
  const Replayed r = replay(t, full_machine());
  const auto send_time = [](int p) { return p * 500 * ns + 101 * ns; };
  for (int p = 0; p < 2; p++) {
    const std::int64_t request = send_time(p) + 20 * ns + 30 * ns;
    CHECK(r.end(static_cast<std::size_t>(p)) == std::max(request, send_time(1 - p) + 1 * us) + 500 + 40 * ns);
  }
}

TEST_CASE("probe waits for a message and leaves it") {
  SmallTrace t(2);
  t[0].compute(4 * us).send(1, 10);
  t[1].call(Op::Probe, {.flags = trace::any_source, .peer = 0, .bytes = 10}).compute(2 * us).receive(0, 10);
  const Replayed r = replay(t, full_machine());
  const std::int64_t arrival = 2 * us + 100 * ns + 100 + 1 * us;
  CHECK(r.waiting(1) == arrival);
  CHECK(r.end(1) == arrival + 1 * us + 30 * ns + 50 + 40 * ns);
}

TEST_CASE("a failed test or probe costs nothing; what it does not find is waited for later") {
  SmallTrace t(2);
  t[0].compute(4 * us).send(1, 0);
  t[1].irecv(0, 0, 0)
      .call(Op::Test, {.flags = trace::nothing_found, .bytes = 100})
      .lasts(1 * us)
      .call(Op::Test, {}, {0});
  const Replayed r = replay(t, machine({}));
  CHECK(r.end(1) == 4 * us);
  CHECK(r.waiting(1) == 4 * us);
}

TEST_CASE("MPI_PROC_NULL, cancelled requests and messages to oneself") {
  SmallTrace t(2);
  t[0].send(-1, 100).receive(-1, 0).isend(-1, 5, 0).irecv(-1, 5, 1).wait({0, 1});
  t[0].irecv(0, 8, 0, 3).isend(0, 8, 1, 3).wait({1, 0});
  t[0].call(Op::Irecv, {.flags = trace::cancelled, .peer = 1, .tag = 9, .request = 0})
      .call(Op::Cancel, {}, {0})
      .wait({0});
  t[0].irecv(1, 4, 0, 9).wait({0});
  t[1].send(0, 4, 9);
  const Replayed r = replay(t, machine({{"network.latency", "1us"}}));
  REQUIRE(r.failure.empty());
  CHECK(r.end(0) == 1 * us);
  CHECK(r.unreceived == 0);
}

TEST_CASE("a freed receive still takes its message, and its slot serves again") {
  SmallTrace t(2);
  t[0].irecv(1, 1, 0, 5).call(Op::Request_free, {}, {0}).irecv(1, 2, 0, 5).wait({0});
  t[1].send(0, 1, 5).compute(3 * us).send(0, 2, 5);
  const Replayed r = replay(t, machine({}));
  REQUIRE(r.failure.empty());
  CHECK(r.end(0) == 3 * us);
  CHECK(r.unreceived == 0);
}

TEST_CASE("MPI_Init and MPI_Finalize are left out of both times, computation before them is kept") {
  SmallTrace t(1);
  t[0].lasts(70 * us);  // of MPI_Init
  t[0].compute(5 * us).send(-1, 0).lasts(2 * us).compute(1 * us);
  const Replayed r = replay(t, machine({}));
  CHECK(r.end(0) == 6 * us);
  CHECK(r.rows[0].recorded_ps == 8 * us);
}

TEST_CASE("broadcast and reduction on a binomial tree of four") {
  SmallTrace t(4);
  for (int p = 0; p < 4; p++) t[p].collective(Op::Bcast, 1000, 1);
  const Machine m = machine({{"send.prolog", "100ns"},
                             {"send.per-byte", "1ps/B"},
                             {"network.latency", "1us"},
                             {"collectives.bcast", "binomial"},
                             {"collectives.reduce", "binomial"}});
  Replayed r = replay(t, m);
  const std::int64_t send = 100 * ns + 1 * ns, way = 1 * us;
  CHECK(r.end(1) == 2 * send);                 // root: to v = 1, then v = 2
  CHECK(r.end(2) == send + way + send);        // v = 1: hears the root, serves v = 3
  CHECK(r.end(3) == 2 * send + way);           // v = 2
  CHECK(r.end(0) == send + way + send + way);  // v = 3

  SmallTrace u(4);
  for (int p = 0; p < 4; p++) u[p].collective(Op::Reduce, 1000, 1);
  r = replay(u, m);
  CHECK(r.end(2) == send);               // v = 1 tells the root
  CHECK(r.end(0) == send);               // v = 3 tells v = 2
  CHECK(r.end(3) == send + way + send);  // v = 2 hears it, tells the root
  CHECK(r.end(1) == send + way + send + way);
}

TEST_CASE("allreduce by recursive doubling, three and four processes") {
  const Machine m = machine({{"send.prolog", "100ns"},
                             {"network.latency", "1us"},
                             {"collectives.allreduce", "recursive-doubling"}});
  for (const int n : {3, 4}) {
    SmallTrace t(n);
    for (int p = 0; p < n; p++) t[p].collective(Op::Allreduce, 8);
    const Replayed r = replay(t, m);
    const std::int64_t hop = 100 * ns + 1 * us;
    if (n == 4) {
      for (std::size_t p = 0; p < 4; p++) CHECK(r.end(p) == 2 * hop);
    } else {
      // 0 hands its value to 1, which exchanges with 2 (whose message is there already) and hands the result
      // back
      CHECK(r.end(1) == hop + 100 * ns + 100 * ns);
      CHECK(r.end(2) == hop + hop);
      CHECK(r.end(0) == r.end(1) + 1 * us);
    }
  }
}

TEST_CASE("alltoallv moves what its lists say") {
  SmallTrace t(3);
  t[0].collective(Op::Alltoallv, 30, -1, {0, 10, 20, 0, 100, 200});
  t[1].collective(Op::Alltoallv, 100, -1, {100, 0, 0, 10, 0, 0});
  t[2].collective(Op::Alltoallv, 200, -1, {200, 0, 0, 20, 0, 0});
  const Replayed r =
      replay(t, machine({{"receive.per-byte", "1ns/B"}, {"collectives.alltoallv", "pairwise"}}));
  REQUIRE(r.failure.empty());
  CHECK(r.end(0) == 300 * ns);
  CHECK(r.end(1) == 10 * ns);
  CHECK(r.end(2) == 200 * ns + 20 * ns);  // 0 sends to it after it has taken the 200 bytes
}

TEST_CASE("every collective on one to eight processes ends, and nobody is left with a message") {
  struct Case {
    Op op;
    bool rooted;
    int items;
  };  // items per member, at every member or (negative) at the root
  const std::vector<Case> cases{
      {Op::Barrier, false, 0},   {Op::Bcast, true, 0},           {Op::Gather, true, 0},
      {Op::Gatherv, true, -1},   {Op::Scatter, true, 0},         {Op::Scatterv, true, -1},
      {Op::Allgather, false, 0}, {Op::Allgatherv, false, 1},     {Op::Alltoall, false, 0},
      {Op::Alltoallv, false, 2}, {Op::Alltoallw, false, 2},      {Op::Reduce, true, 0},
      {Op::Allreduce, false, 0}, {Op::Reduce_scatter, false, 1}, {Op::Reduce_scatter_block, false, 0},
      {Op::Scan, false, 0},      {Op::Exscan, false, 0},         {Op::Comm_dup, false, 0}};
  const Machine m = machine({{"network.latency", "1us"}, {"send.per-byte", "1ns/B"}});
  for (const int n : {1, 2, 3, 5, 8})
    for (const Case& c : cases) {
      SmallTrace t(n);
      const int root = n - 1;
      for (int p = 0; p < n; p++) {
        const int each = c.items < 0 ? (p == root ? 1 : 0) : c.items;
        t[p].collective(c.op, 16, c.rooted ? root : -1,
                        std::vector<std::int64_t>(static_cast<std::size_t>(each * n), 16));
      }
      INFO(info(c.op).name << " on " << n);
      const Replayed r = replay(t, m);
      CHECK(r.failure.empty());
      CHECK(r.unreceived == 0);
    }
}

TEST_CASE("faster in every parameter is never slower") {
  SmallTrace t(5);
  for (int p = 0; p < 5; p++) {
    t[p].compute((p * 37 % 11) * us)
        .irecv((p + 4) % 5, 300, 0)
        .isend((p + 1) % 5, 300, 1)
        .compute(300 * ns)
        .wait({0, 1});
    t[p].collective(Op::Allreduce, 8).compute(p * 100 * ns).collective(Op::Barrier, 0);
  }
  const Replayed slow = replay(t, full_machine());
  const Replayed fast = replay(t, machine({{"cpu.speedup", "3"},
                                           {"send.prolog", "90ns"},
                                           {"send.per-byte", "7ps/B"},
                                           {"send.epilog", "19ns"},
                                           {"receive.prolog", "20ns"},
                                           {"receive.per-byte", "5ps/B"},
                                           {"receive.epilog", "39ns"},
                                           {"barrier.overhead", "400ns"},
                                           {"network.latency", "0.9us"}}));
  for (std::size_t p = 0; p < 5; p++) CHECK(fast.end(p) < slow.end(p));
  const Replayed free = replay(t, machine({{"cpu.speedup", "1e9"}}));
  for (std::size_t p = 0; p < 5; p++) CHECK(free.end(p) < 10);  // one picosecond for each gap, rounded up
}

TEST_CASE("a prediction replayed on the same machine at speed 1 gives the same times") {
  SmallTrace t(4);
  for (int p = 0; p < 4; p++) {
    t[p].compute((p * 7 % 5) * us).irecv((p + 3) % 4, 64, 0).isend((p + 1) % 4, 64, 1).wait({1, 0});
    t[p].compute(200 * ns).collective(Op::Allreduce, 8).collective(Op::Bcast, 500, 2).compute(1 * us);
  }
  const std::string first = scratch_name(), second = scratch_name();
  const Replayed a = replay(t, full_machine(), first);
  Machine again = full_machine();
  apply_setting(again, "cpu.speedup", "1", "test");
  const Replayed b = replay_file(first, again, second);
  REQUIRE(b.failure.empty());
  for (std::size_t p = 0; p < 4; p++) {
    CHECK(a.end(p) == b.end(p));
    CHECK(a.waiting(p) == b.waiting(p));
    CHECK(a.end(p) == b.rows[p].recorded_ps);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::remove(first.c_str());
    std::remove(second.c_str());
  }
}

TEST_CASE("a replay that cannot go on names each process, its call and what it waits for") {
  SmallTrace t(3);
  t[0].receive(1, 8, 4);
  t[1].receive(0, 8, 5);
  t[2].send(-1, 0);
  const Replayed r = replay(t, machine({}));
  CHECK(r.failure.find("2 of 3 processes wait for messages that were never sent") != std::string::npos);
  CHECK(r.failure.find("process 0, call 1 (MPI_Recv): expected a message from process 1 with tag 4 on "
                       "communicator 0, found none") != std::string::npos);
  CHECK(r.failure.find("process 1, call 1 (MPI_Recv): expected a message from process 0 with tag 5") !=
        std::string::npos);
}

TEST_CASE("a trace that was cut short is replayed up to its last common point") {
  SmallTrace t(2);
  t[0].compute(3 * us).send(1, 8, 4).compute(5 * us).cut_short();
  t[1].irecv(0, 8, 0, 4).wait({0}).compute(1 * us).irecv(0, 8, 0, 4).wait({0}).compute(7 * us).send(0, 8);
  const Replayed r = replay(t, machine({}));
  CHECK(r.failure.empty());
  CHECK(r.warnings.find("the records of 1 of 2 processes end before MPI_Finalize") != std::string::npos);
  CHECK(r.warnings.find("process 1, call 4 (MPI_Waitall)") != std::string::npos);
  CHECK(r.warnings.find("the trace of process 0 ends before MPI_Finalize") != std::string::npos);
  CHECK(r.end(0) == 3 * us);
  CHECK(r.end(1) == 4 * us);
  CHECK(r.rows[1].recorded_ps == 1 * us);  // what came after is in neither time
}

TEST_CASE("messages that nobody receives are reported, and the replay ends") {
  SmallTrace t(2);
  t[0].send(1, 8, 4).send(1, 8, 4);
  const Replayed r = replay(t, machine({}));
  CHECK(r.failure.empty());
  CHECK(r.unreceived == 2);
  CHECK(r.warnings.find("process 0: 2 times a message to process 1 with tag 4") != std::string::npos);
}

TEST_CASE("an error inside one process's trace ends all ranks with one message") {
  SmallTrace t(4);
  for (int p = 0; p < 4; p++) t[p].collective(Op::Barrier, 0);
  t[3].collective(Op::Gatherv, 8, 3, {8, 8});  // two blocks for four members
  const Replayed r = replay(t, machine({}));
  CHECK(r.failure.find("process 3, MPI_Gatherv: expected sizes of 4 blocks, found 2") != std::string::npos);
}

TEST_CASE("an unknown algorithm is refused with the valid ones") {
  SmallTrace t(1);
  CHECK_THAT(replay(t, machine({{"collectives.barrier", "oak"}})).failure,
             Catch::Matchers::ContainsSubstring(
                 "expected an algorithm of MPI_Barrier (patent, dissemination, openmpi, linear, "
                 "double-ring, recursive-doubling, bruck, two-proc, tree, formula), found 'oak'"));
}
