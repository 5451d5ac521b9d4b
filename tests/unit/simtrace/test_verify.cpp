// Every kind of fault is found where it was planted, and said in these words.

#include <string>
#include <vector>

#include "capture/simtrace/verify.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_trace.hpp"
#include "tests/unit/simtrace/verdict.hpp"

using namespace simreplay;
using test::faults_of;
using test::SmallTrace;
using test::Texts;
using test::verdict_of;

TEST_CASE("a sound trace has no faults") {
  SmallTrace t(4);
  const std::int32_t pair = t.communicator({3, 1});
  for (int p = 0; p < 4; p++) {
    t[p].compute(1'000).irecv(p ^ 1, 64, 0).isend(p ^ 1, 64, 1).wait({0, 1});
    t[p].call(Op::Sendrecv, {.peer = (p + 1) % 4, .tag = 2, .bytes = 10}, {(p + 3) % 4, 2, 10});
    t[p].collective(Op::Barrier, 0)
        .collective(Op::Bcast, 100, 2)
        .collective(Op::Allgatherv, 1, -1, {1, 1, 1, 1});
    t[p].collective(Op::Comm_split, 0, -1,
                    p % 2 == 1 ? std::vector<std::int64_t>{pair} : std::vector<std::int64_t>{});
    t[p].call(Op::Send, {.communicator = trace::self_id, .peer = p, .bytes = 1});
    t[p].call(Op::Recv, {.communicator = trace::self_id, .peer = p, .bytes = 1});
    t[p].call(Op::Send, {.peer = trace::nobody, .bytes = 1});
    t[p].call(Op::Iprobe,
              {.flags = trace::nothing_found, .peer = trace::anybody, .tag = trace::anybody, .bytes = 17});
    t[p].call(Op::Test, {.flags = trace::nothing_found, .bytes = 3});
  }
  for (const int p : {1, 3}) t[p].collective(Op::Allreduce, 8, -1, {}, pair);
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.faults == 0);
  CHECK(v.processes == 4);
  CHECK(v.calls == 4 * 15 + 2);
  CHECK(v.messages == 4 + 4 + 4);
}

TEST_CASE("messages without their other half") {
  SmallTrace t(3);
  t[0].send(1, 8, 5);
  t[1].receive(2, 16, 7);
  t[2].call(Op::Sendrecv, {.peer = 0, .tag = 1, .bytes = 3}, {1, 2, 4});
  CHECK(faults_of(t) == Texts{"t.h5: process 0, call 1 (MPI_Send): expected a receive by process 1 "
                              "(communicator 0, tag 5), found none",
                              "t.h5: process 1, call 1 (MPI_Recv): expected a send from process 2 "
                              "(communicator 0, tag 7), found none",
                              "t.h5: process 2, call 1 (MPI_Sendrecv): expected a receive by process 0 "
                              "(communicator 0, tag 1), found none",
                              "t.h5: process 2, call 1 (MPI_Sendrecv): expected a send from process 1 "
                              "(communicator 0, tag 2), found none"});
}

TEST_CASE("channels are kept apart by communicator and tag, and keep their order") {
  SmallTrace t(2);
  const std::int32_t copy = t.communicator({0, 1});
  t[0].send(1, 1, 0).send(1, 2, 0, copy).send(1, 3, 4).send(1, 4, 0);
  t[1].receive(0, 3, 4).receive(0, 1, 0).receive(0, 4, 0).receive(0, 2, 0, copy);
  CHECK(faults_of(t) == Texts{});
}

TEST_CASE("a receive of another size than its message") {
  SmallTrace t(2);
  t[0].send(1, 8).send(1, 8, 1);
  t[1].receive(0, 9).receive(0, 7, 1);
  CHECK(faults_of(t) == Texts{"t.h5: process 1, call 1 (MPI_Recv): expected the 8 bytes that process 0 sent "
                              "in call 1, found 9 bytes",
                              "t.h5: process 1, call 2 (MPI_Recv): expected the 8 bytes that process 0 sent "
                              "in call 2, found 7 bytes"});
}

TEST_CASE("a non-blocking receive has all bytes of its message once it completes") {
  const bool receiver_first = GENERATE(false, true);
  const bool freed = GENERATE(false, true);
  SmallTrace t(2);
  const int from = receiver_first ? 1 : 0, to = 1 - from;
  t[from].send(to, 8);
  t[to].irecv(from, 0, 0);
  if (freed)
    t[to].call(Op::Request_free, {}, {0});
  else
    t[to].wait({0});
  const std::string at = "t.h5: process " + std::to_string(to) + ", call 1 (MPI_Irecv): ";
  const Texts expected{at + "expected the 8 bytes that process " + std::to_string(from) +
                       " sent in call 1, found 0 bytes"};
  CHECK(faults_of(t) == (freed ? Texts{} : expected));
}

TEST_CASE("a cancelled receive matches nothing") {
  SmallTrace t(2);
  t[1].call(Op::Irecv, {.flags = trace::cancelled, .peer = 0, .request = 0})
      .call(Op::Cancel, {}, {0})
      .wait({0});
  t[1].call(Op::Irecv,
            {.flags = trace::cancelled, .peer = trace::anybody, .tag = trace::anybody, .request = 0});
  t[1].call(Op::Cancel, {}, {0}).wait({0});
  CHECK(faults_of(t) == Texts{});
}

TEST_CASE("requests are opened in the smallest free slot and closed once") {
  SmallTrace t(2);
  t[0].isend(1, 1, 0).isend(1, 2, 2).wait({0}).wait({0}).isend(1, 3, 0);
  t[1].receive(0, 1).receive(0, 2).receive(0, 3);
  t[1].call(Op::Cancel, {}, {5})
      .call(Op::Irecv, {.peer = trace::nobody})
      .call(Op::Send, {.peer = -1, .request = 3});
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 2 (MPI_Isend): expected request slot 1, the smallest that is free, "
              "found slot 2",
              "t.h5: process 0, call 4 (MPI_Waitall): expected an open request, found slot 0, which is free",
              "t.h5: process 0, call 5 (MPI_Isend): expected a call that completes its request, found slot 0 "
              "open at the end",
              "t.h5: process 0, call 2 (MPI_Isend): expected a call that completes its request, found slot 2 "
              "open at the end",
              "t.h5: process 1, call 4 (MPI_Cancel): expected an open request, found slot 5, which is free",
              "t.h5: process 1, call 5 (MPI_Irecv): expected a request slot, found none",
              "t.h5: process 1, call 6 (MPI_Send): expected no request slot, found slot 3"});
}

TEST_CASE("a slot that is opened while it is open") {
  SmallTrace t(1);
  t[0].isend(-1, 0, 0).isend(-1, 0, 0).wait({0});
  CHECK(faults_of(t) == Texts{"t.h5: process 0, call 2 (MPI_Isend): expected request slot 1, the smallest "
                              "that is free, found slot 0, "
                              "which call 1 opened"});
}

TEST_CASE("members of a communicator make the same operations") {
  SmallTrace t(3);
  t[0].collective(Op::Barrier, 0).collective(Op::Bcast, 4, 0);
  t[1].collective(Op::Barrier, 0).collective(Op::Bcast, 4, 0);
  t[2].collective(Op::Bcast, 4, 0).collective(Op::Barrier, 0);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 2, call 1 (MPI_Bcast): expected MPI_Barrier as process 0 in call 1, found "
              "MPI_Bcast (communicator 0)"});
}

TEST_CASE("members of a communicator agree on root and sizes") {
  SmallTrace t(2);
  t[0].collective(Op::Bcast, 4, 0).collective(Op::Allreduce, 8).collective(Op::Allgatherv, 1, -1, {1, 2});
  t[1].collective(Op::Bcast, 4, 1).collective(Op::Allreduce, 9).collective(Op::Allgatherv, 2, -1, {1, 3});
  CHECK(faults_of(t) == Texts{"t.h5: process 1, call 1 (MPI_Bcast): expected root 0 as process 0 in call 1, "
                              "found root 1 (communicator 0)",
                              "t.h5: process 1, call 2 (MPI_Allreduce): expected 8 bytes as process 0 in "
                              "call 2, found 9 bytes (communicator 0)",
                              "t.h5: process 1, call 3 (MPI_Allgatherv): expected the same blocks as process "
                              "0 in call 3, found others "
                              "(communicator 0)"});
}

TEST_CASE("an operation that a member does not make") {
  SmallTrace t(4);
  const std::int32_t some = t.communicator({3, 1, 0});
  for (const int p : {0, 1, 3}) t[p].collective(Op::Barrier, 0, -1, {}, some);
  for (const int p : {0, 3}) t[p].collective(Op::Reduce, 8, 3, {}, some);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 2 (MPI_Reduce): expected all 3 members of communicator 2, found 2; "
              "process 1 is missing"});
}

TEST_CASE("groups make communicators without the others") {
  SmallTrace t(4);
  const std::int32_t group = t.communicator({0, 2});
  for (const int p : {0, 2}) t[p].collective(Op::Comm_create_group, 0, -1, {group});
  CHECK(faults_of(t) == Texts{});
  t[1].collective(Op::Comm_create_group, 0, -1, {group});
  CHECK(faults_of(t) == Texts{"t.h5: process 1, call 1 (MPI_Comm_create_group): expected a communicator of "
                              "process 1, found communicator 2"});
}

TEST_CASE("times that go backwards or out of range") {
  SmallTrace t(2);
  t[0].compute(-5).collective(Op::Barrier, 0).collective(Op::Barrier, 0).lasts(-7);
  t[1].collective(Op::Barrier, 0).compute((std::int64_t{1} << 62) + 1).collective(Op::Barrier, 0);
  CHECK(
      faults_of(t) ==
      Texts{"t.h5: process 0, call 1 (MPI_Barrier): expected times that ascend, found a computation of -5 "
            "ticks",
            "t.h5: process 0, call 2 (MPI_Barrier): expected times that ascend, found a duration of -7 ticks",
            "t.h5: process 1, call 2 (MPI_Barrier): expected times below 4611686018427387904 ticks, found "
            "later ones"});
}

TEST_CASE("a process that did not come to its end") {
  SmallTrace t(3);
  t[1].irecv(trace::anybody, 0, 0).cut_short();
  CHECK(faults_of(t) == Texts{"t.h5: process 1: expected MPI_Finalize, found the end of the trace"});
}

TEST_CASE("calls that cannot be followed") {
  SmallTrace t(2);
  const std::int32_t alone = t.communicator({1});
  t[0].send(1, 4, 0, alone);
  t[1].send(0, 4, 0, alone);
  t[1].call(Op::Sendrecv, {.peer = 0}, {0, 0});
  t[1].call(Op::Sendrecv, {.peer = -1}, {7, 0, 1});
  t[1].call(Op::Sendrecv, {.peer = -1}, {0, 0, -1});
  t[1].collective(Op::Gatherv, 1, 1, {1, 2}, alone);
  t[1].collective(Op::Comm_dup, 0, -1, {77}, alone);
  t[1].collective(Op::Bcast, 1, -1, {}, alone);
  t[1].receive(trace::anybody, 1);
  t[1].call(Op::Cancel);
  CHECK(
      faults_of(t) ==
      Texts{
          "t.h5: process 0, call 1 (MPI_Send): expected a communicator of process 0, found communicator 2",
          "t.h5: process 1, call 1 (MPI_Send): expected a member of communicator 2, found process 0",
          "t.h5: process 1, call 2 (MPI_Sendrecv): expected 3 items, found 2 items",
          "t.h5: process 1, call 3 (MPI_Sendrecv): expected a member of communicator 0, found process 7",
          "t.h5: process 1, call 4 (MPI_Sendrecv): expected a number of bytes, found -1",
          "t.h5: process 1, call 5 (MPI_Gatherv): expected 1 item, found 2 items",
          "t.h5: process 1, call 6 (MPI_Comm_dup): expected a communicator of the trace, found id 77",
          "t.h5: process 1, call 7 (MPI_Bcast): expected a root, found process -1",
          "t.h5: process 1, call 8 (MPI_Recv): expected the real source of the message, found MPI_ANY_SOURCE",
          "t.h5: process 1, call 9 (MPI_Cancel): expected 1 item, found 0 items"});
}

TEST_CASE("many faults are counted and the first are shown") {
  SmallTrace t(1);
  for (int i = 0; i < 50; i++) t[0].send(0, 4, i);
  const simtrace::Verdict v = verdict_of(t, 20);
  CHECK(v.faults == 50);
  CHECK(v.shown.size() == 20);
}

TEST_CASE("processes of very different speed") {
  // The master makes as many calls as all others together: they must not be read far ahead of it.
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  test::write_generated(test::job_of("master-worker", 50, 400), path);
  const simtrace::Verdict v = simtrace::verify(trace::Reader(path));
  CHECK(v.shown == Texts{});
  CHECK(v.messages == 2 * 49 * 400);
}

TEST_CASE("regions and timers that do not begin and end in pairs are no faults") {
  SmallTrace t(3);
  const std::int32_t solver = t.region("solver"), output = t.region("output"), clock = t.timer("clock");
  const std::int32_t n = t.counter("n");
  t[0].begin(solver).begin(output).end(output).begin(output).end(solver).end(output);
  t[0].mark(Op::Timer_while, clock, {n}).mark(Op::Counter_set, n, {-3});
  t[1].begin(solver).mark(Op::Region_begin, output, {}, 1).end(solver).mark(Op::Region_end, output, {}, 1);
  t[1].mark(Op::Timer_start, clock).mark(Op::Timer_start, clock).mark(Op::Timer_stop, clock);
  t[2].mark(Op::Timer_stop, clock).begin(solver);
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.faults == 0);
  CHECK(
      v.remarks ==
      Texts{"t.h5: process 0, call 4 (simcapture_region_begin): region 'output' is still open where a region "
            "around it ends",
            "t.h5: process 0, call 6 (simcapture_region_end): region 'output' is ended, but was not begun",
            "t.h5: process 1, call 5 (simcapture_timer_start): timer 'clock' is never stopped",
            "t.h5: process 2, call 1 (simcapture_timer_stop): timer 'clock' is stopped, but was not started",
            "t.h5: process 2, call 2 (simcapture_region_begin): region 'solver' is never ended"});

  SmallTrace cut(1);
  cut.region("solver");
  cut[0].begin(0).cut_short();
  CHECK(verdict_of(cut).remarks == Texts{});

  SmallTrace many(1);
  many.region("solver");
  for (int i = 0; i < 30; i++) many[0].begin(0);
  const Texts remarks = verdict_of(many).remarks;
  REQUIRE(remarks.size() == 21);
  CHECK(remarks[0] == "t.h5: process 0, call 1 (simcapture_region_begin): region 'solver' is never ended");
  CHECK(remarks[20] == "t.h5: 10 more regions and timers are not in pairs");
}
