// Persistent requests, non-blocking collective operations, and whatever else opens a request.

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/unit/simtrace/verdict.hpp"

using namespace simreplay;
using test::faults_of;
using test::ProcessScript;
using test::SmallTrace;
using test::Texts;
using test::verdict_of;

namespace {

using Words = std::vector<std::int64_t>;

Words message(StartMode mode, int peer, std::int64_t bytes, std::int64_t slot, std::int64_t flags = 0) {
  return {mode, trace::world_id, peer, 0, bytes, slot, flags};
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

ProcessScript& starts(ProcessScript& p, const Words& words) { return p.call(Op::Startall, {}, words); }

}  // namespace

TEST_CASE("each start of a persistent request is a message") {
  SmallTrace t(2);
  t[0].call(Op::Send_init, {.peer = 1, .bytes = 8}).call(Op::Ssend_init, {.peer = 1, .bytes = 16});
  t[1].call(Op::Recv_init, {.flags = trace::any_source, .peer = trace::anybody, .bytes = 16});
  t[1].call(Op::Recv_init, {.peer = trace::nobody});
  for (int i = 0; i < 3; i++) {
    t[0].call(Op::Start, {}, message(starts_send, 1, 8, 0)).wait({0});
    starts(t[0], message(starts_synchronous_send, 1, 16, 0)).wait({0});
    starts(t[1], message(starts_receive, 0, 8, 0, trace::any_source) + message(starts_receive, -1, 0, 1));
    t[1].wait({0, 1}).receive(0, 16);
  }
  starts(t[0], {});
  t[1].call(Op::Request_free);
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.messages == 6);
}

TEST_CASE("starts without their other half, of another size, or without an end") {
  SmallTrace t(2);
  starts(t[0], message(starts_send, 1, 8, 0) + message(starts_send, 1, 9, 1)).wait({1, 0});
  starts(t[0], message(starts_receive, 1, 4, 0));
  starts(t[1], message(starts_receive, 0, 8, 0) + message(starts_receive, 0, 8, 2)).wait({0, 2});
  CHECK(
      faults_of(t) ==
      Texts{"t.h5: process 0, call 3 (MPI_Startall): expected a call that completes its request, found slot "
            "0 open at the end",
            "t.h5: process 1, call 1 (MPI_Startall): expected request slot 1, the smallest that is free, "
            "found slot 2",
            "t.h5: process 1, call 1 (MPI_Startall): expected the 9 bytes that process 0 sent in call 1, "
            "found 8 bytes",
            "t.h5: process 0, call 3 (MPI_Startall): expected a send from process 1 (communicator 0, tag "
            "0), found none"});
}

TEST_CASE("a started receive that was freed or cancelled need not have its message") {
  SmallTrace t(2);
  t[0].send(1, 8);
  starts(t[1], message(starts_receive, 0, 0, 0) + message(starts_receive, 0, 0, 1, trace::cancelled));
  t[1].call(Op::Request_free, {}, {0}).call(Op::Cancel, {}, {1}).wait({1});
  CHECK(faults_of(t) == Texts{});
}

TEST_CASE("lists of starts that make no sense") {
  const auto [word, value, text] = GENERATE(table<int, std::int64_t, std::string>(
      {{start_mode, 3, "a receive (0), a send (1) or a synchronous send (2), found 3"},
       {start_communicator, 9, "a communicator of the trace, found id 9"},
       {start_communicator, 2, "a communicator of process 0, found communicator 2"},
       {start_peer, 2, "a member of communicator 0, found process 2"},
       {start_peer, -2, "the real source of the message, found MPI_ANY_SOURCE"},
       {start_tag, std::int64_t{1} << 40, "a tag, found 1099511627776"},
       {start_bytes, -8, "a number of bytes, found -8"}}));
  SmallTrace t(2);
  t.communicator({1});
  Words words = message(starts_send, -1, 8, 0);
  words[static_cast<std::size_t>(word)] = value;
  starts(t[0], words);
  CHECK(faults_of(t) == Texts{"t.h5: process 0, call 1 (MPI_Startall): expected " + text});
}

TEST_CASE("lists of starts with a word too few or without a slot") {
  SmallTrace t(1);
  starts(t[0], {0, 0, 0, 0, 0, 0});
  starts(t[0], message(starts_send, -1, 8, -1));
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 1 (MPI_Startall): expected 7 items for each message, found 6 items",
              "t.h5: process 0, call 2 (MPI_Startall): expected a request slot, found slot -1"});
}

TEST_CASE("non-blocking collectives open slots and keep their place among the others") {
  SmallTrace t(2);
  const std::int32_t copy = t.communicator({0, 1});
  for (int p = 0; p < 2; p++) {
    t[p].call(Op::Ibarrier, {.request = 0}).call(Op::Ibcast, {.peer = 1, .request = 1, .bytes = 4});
    t[p].call(Op::Comm_idup, {.request = 2}, {copy}).collective(Op::Barrier, 0).wait({p, 1 - p, 2});
    t[p].call(Op::Iallgatherv, {.communicator = copy, .request = 0, .bytes = p}, {0, 1}).wait({0});
  }
  CHECK(faults_of(t) == Texts{});
}

TEST_CASE("a blocking collective does not match a non-blocking one") {
  SmallTrace t(2);
  t[0].call(Op::Iallreduce, {.request = 0, .bytes = 8}).wait({0});
  t[1].collective(Op::Allreduce, 8);
  CHECK(
      faults_of(t) ==
      Texts{"t.h5: process 1, call 1 (MPI_Allreduce): expected MPI_Iallreduce as process 0 in call 1, found "
            "MPI_Allreduce (communicator 0)"});
}

TEST_CASE("non-blocking collectives that disagree, are left out, not completed or without a slot") {
  SmallTrace t(2);
  for (int p = 0; p < 2; p++) t[p].call(Op::Ireduce, {.peer = p, .request = 0, .bytes = 8}).wait({0});
  t[0].call(Op::Iscan, {.request = 0, .bytes = 8});
  t[1].call(Op::Iscan, {.bytes = 8}).call(Op::Ibarrier, {.request = 0}).wait({0});
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 3 (MPI_Iscan): expected a call that completes its request, found slot 0 "
              "open at the end",
              "t.h5: process 1, call 1 (MPI_Ireduce): expected root 0 as process 0 in call 1, found root 1 "
              "(communicator 0)",
              "t.h5: process 1, call 3 (MPI_Iscan): expected a request slot, found none",
              "t.h5: process 1, call 4 (MPI_Ibarrier): expected all 2 members of communicator 0, found 1; "
              "process 0 is missing"});
}

TEST_CASE("accesses to windows and files open requests where their names say so") {
  SmallTrace t(1);
  const std::int32_t window = t.communicator({0});
  t[0].call(Op::Win_allocate, {}, {window}).call(Op::Win_lock_all, {.communicator = window});
  t[0].call(Op::Rput, {.communicator = window, .peer = 0, .request = 0, .bytes = 8});
  t[0].call(Op::File_iread, {.request = 1, .bytes = 80}).wait({1, 0});
  t[0].call(Op::File_iwrite_all, {.bytes = 80});  // it failed
  CHECK(faults_of(t) == Texts{});
  t[0].call(Op::Rget, {.communicator = window, .peer = 0, .bytes = 8});
  t[0].call(Op::Get, {.communicator = window, .peer = 0, .request = 0, .bytes = 8});
  t[0].call(Op::File_read, {.request = 0, .bytes = 80}).call(Op::Comm_idup);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 7 (MPI_Rget): expected a request slot, found none",
              "t.h5: process 0, call 8 (MPI_Get): expected no request slot, found slot 0",
              "t.h5: process 0, call 9 (MPI_File_read): expected no request slot, found slot 0",
              "t.h5: process 0, call 10 (MPI_Comm_idup): expected a request slot, found none"});
}

TEST_CASE("folded calls are at least one") {
  SmallTrace t(1);
  t[0].call(Op::Wtime, {.bytes = 4}).call(Op::Comm_free).call(Op::Comm_disconnect).call(Op::Win_sync);
  t[0].call(Op::Other).call(Op::Request_get_status, {.flags = trace::nothing_found, .bytes = 2});
  CHECK(
      faults_of(t) ==
      Texts{"t.h5: process 0, call 4 (MPI_Win_sync): expected the number of calls that were folded into one, "
            "found 0",
            "t.h5: process 0, call 5 ((other)): expected the number of calls that were folded into one, "
            "found 0"});
}
