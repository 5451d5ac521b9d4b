// What the members of an intercommunicator, the neighbours in a topology and the members of a window call.

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

using List = std::vector<std::int64_t>;

}  // namespace

// ---- intercommunicators ----

namespace {

/// Processes 0 and 2 are the first group of the intercommunicator 2, processes 1, 3 and 4 the other one.
SmallTrace two_groups() {
  SmallTrace t(5);
  const std::int32_t inter = t.communicator({0, 2, 1, 3, 4}, 2);
  for (int p = 0; p < 5; p++) t[p].collective(Op::Intercomm_create, 0, -1, {inter});
  return t;
}

void rooted(SmallTrace& t, Op op, const std::vector<int>& roots, const List& at_root = {}) {
  for (int p = 0; p < 5; p++)
    t[p].collective(op, 8, roots[static_cast<std::size_t>(p)],
                    roots[static_cast<std::size_t>(p)] == p ? at_root : List{}, 2);
}

}  // namespace

TEST_CASE("the two groups of an intercommunicator") {
  SmallTrace t = two_groups();
  rooted(t, Op::Bcast, {0, 0, -1, 0, 0});
  rooted(t, Op::Gatherv, {3, -1, 3, 3, -1}, {1, 2});
  rooted(t, Op::Scatterv, {-1, 2, 2, 2, 2}, {1, 2, 3});
  for (int p = 0; p < 5; p++) {
    const bool first = p % 2 == 0 && p < 4;
    t[p].collective(Op::Allgather, first ? 8 : 16, -1, {}, 2);
    t[p].collective(Op::Allgatherv, 1, -1, first ? List{1, 2, 3} : List{4, 5}, 2);
    t[p].collective(Op::Alltoallv, 1, -1, List(first ? 6 : 4, 1), 2);
    t[p].collective(Op::Reduce_scatter, 1, -1, first ? List{3, 3} : List{2, 2, 2}, 2);
    t[p].collective(Op::Intercomm_merge, 0, -1, {}, 2);
  }
  t[0].send(4, 8, 0, 2);
  t[4].receive(0, 8, 0, 2);
  CHECK(faults_of(t) == Texts{});
}

TEST_CASE("rooted operations of intercommunicators whose members disagree") {
  const auto [roots, text] = GENERATE(table<std::vector<int>, std::string>(
      {{{0, 0, -1, 0, 1},
        "process 4, call 2 (MPI_Bcast): expected a member of the other group of communicator "
        "2, found process 1"},
       {{0, 0, -1, 2, 0},
        "process 3, call 2 (MPI_Bcast): expected root 0 as process 0 in call 2, found root 2 "
        "(communicator 2)"},
       {{0, 0, -1, -1, 0},
        "process 3, call 2 (MPI_Bcast): expected root 0 as process 0 in call 2, found no "
        "root (communicator 2)"},
       {{0, -1, -1, -1, -1},
        "process 1, call 2 (MPI_Bcast): expected root 0 as process 0 in call 2, found no "
        "root (communicator 2)"},
       {{-1, 1, 1, 1, -1},
        "process 1, call 2 (MPI_Bcast): expected that process 0 names root 1, too, found "
        "that it names none (communicator 2)"},
       {{-1, 0, -1, 0, 0},
        "process 0, call 2 (MPI_Bcast): expected that process 0 names itself the root, found "
        "that it does not (communicator 2)"},
       {{-1, -1, -1, -1, -1},
        "process 1, call 2 (MPI_Bcast): expected a root, for process 0 of the other group "
        "names none, found no root (communicator 2)"}}));
  SmallTrace t = two_groups();
  rooted(t, Op::Bcast, roots);
  const Texts faults = faults_of(t);
  REQUIRE(!faults.empty());
  CHECK(faults.front() == "t.h5: " + text);
}

TEST_CASE("lists and peers of the wrong group") {
  SmallTrace t(5);
  t.communicator({0, 2, 1, 3, 4}, 2);
  t[0].collective(Op::Allgatherv, 1, -1, {1, 2}, 2).send(2, 8, 0, 2);
  t[1].collective(Op::Gatherv, 1, 1, {1, 2, 3}, 2).collective(Op::Reduce_scatter, 1, -1, {1, 2}, 2);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 1 (MPI_Allgatherv): expected 3 items, found 2 items",
              "t.h5: process 0, call 2 (MPI_Send): expected a member of the other group of communicator 2, "
              "found process 2",
              "t.h5: process 1, call 1 (MPI_Gatherv): expected 2 items, found 3 items",
              "t.h5: process 1, call 2 (MPI_Reduce_scatter): expected 3 items, found 2 items"});
}

// ---- neighbours ----

TEST_CASE("what one neighbour sends the other one receives") {
  SmallTrace t(3);
  const std::int32_t ring = t.communicator({0, 1, 2}), pair = t.communicator({0, 1});
  for (int p = 0; p < 3; p++) {
    const int left = (p + 2) % 3, right = (p + 1) % 3;
    t[p].collective(Op::Neighbor_alltoallv, 24, -1, {2, left, 8, right, 16, left, 16, right, 8}, ring);
    t[p].call(Op::Ineighbor_allgather, {.communicator = ring, .request = 0, .bytes = 5},
              {1, right, 5, left, 5, trace::nobody, 5});
    t[p].wait({0});
  }
  // A periodic grid of two processes: on both sides the same neighbour.
  for (int p = 0; p < 2; p++)
    t[p].collective(Op::Neighbor_alltoallv, 24, -1, {2, 1 - p, 8, 1 - p, 16, 1 - p, 16, 1 - p, 8}, pair);
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.messages == 0);
}

TEST_CASE("neighbours that do not know each other or disagree about the size") {
  SmallTrace t(2);
  const std::int32_t c = t.communicator({0, 1});
  t[0].collective(Op::Neighbor_allgather, 8, -1, {1, 1, 8}, c);
  t[1].collective(Op::Neighbor_allgather, 8, -1, {0, 0, 9}, c);
  t[0].collective(Op::Neighbor_alltoall, 8, -1, {1, 1, 8}, c);
  t[1].collective(Op::Neighbor_alltoall, 0, -1, {0}, c);
  t[0].collective(Op::Neighbor_alltoall, 0, -1, {0}, c);
  t[1].collective(Op::Neighbor_alltoall, 0, -1, {0, 0, 8}, c);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 1, call 1 (MPI_Neighbor_allgather): expected the 8 bytes that process 0 sent in "
              "call 1, found 9 bytes",
              "t.h5: process 0, call 2 (MPI_Neighbor_alltoall): expected process 1 to have process 0 as a "
              "source (communicator 2), found that it has not",
              "t.h5: process 1, call 3 (MPI_Neighbor_alltoall): expected process 0 to have process 1 as a "
              "destination (communicator 2), found that it has not"});
}

TEST_CASE("a missing operation among neighbours is said once") {
  SmallTrace t(2);
  const std::int32_t c = t.communicator({0, 1});
  t[0].collective(Op::Neighbor_alltoall, 8, -1, {1, 1, 8, 1, 8}, c);
  CHECK(
      faults_of(t) ==
      Texts{
          "t.h5: process 0, call 1 (MPI_Neighbor_alltoall): expected all 2 members of communicator 2, found "
          "1; process 1 is missing"});
}

TEST_CASE("lists of neighbours that make no sense") {
  const auto [list, text] =
      GENERATE(table<List, std::string>({{List{}, "an odd number of items, found 0 items"},
                                         {{1, 0}, "an odd number of items, found 2 items"},
                                         {{2, 0, 8}, "0 to 1 destinations, found 2"},
                                         {{-1, 0, 8}, "0 to 1 destinations, found -1"},
                                         {{1, 1, 8}, "a member of communicator 0, found process 1"},
                                         {{0, -2, 8}, "the real source of the message, found MPI_ANY_SOURCE"},
                                         {{1, 0, -8}, "a number of bytes, found -8"}}));
  SmallTrace t(1);
  t[0].collective(Op::Neighbor_alltoall, 8, -1, list);
  CHECK(faults_of(t) == Texts{"t.h5: process 0, call 1 (MPI_Neighbor_alltoall): expected " + text});
}

// ---- windows ----

namespace {

constexpr std::int32_t window = 2;

/// Processes 0, 1 and 2 make the window 2.
SmallTrace with_window() {
  SmallTrace t(4);
  t.communicator({0, 1, 2});
  for (int p = 0; p < 4; p++) t[p].collective(Op::Win_create, 0, -1, p < 3 ? List{window} : List{});
  return t;
}

ProcessScript& on_window(ProcessScript& p, Op op, List ranks = {}, std::uint16_t flags = 0) {
  return p.call(op, {.flags = flags, .communicator = window, .bytes = flags == 0 ? 0 : 3}, std::move(ranks));
}

}  // namespace

TEST_CASE("a window in all its epochs") {
  SmallTrace t = with_window();
  for (int p = 0; p < 3; p++) {
    on_window(t[p], Op::Win_fence).call(Op::Put, {.communicator = window, .peer = (p + 1) % 3, .bytes = 8});
    on_window(t[p], Op::Win_fence);
  }
  on_window(t[0], Op::Win_post, {1, 2});
  for (const int p : {1, 2}) {
    on_window(t[p], Op::Win_start, {0}).call(Op::Get, {.communicator = window, .peer = 0, .bytes = 8});
    on_window(t[p], Op::Win_complete, {0});
  }
  on_window(t[0], Op::Win_test, {}, trace::nothing_found);
  on_window(t[0], Op::Win_test, {1, 2});
  for (int p = 0; p < 3; p++) {
    t[p].call(Op::Win_lock, {.communicator = window, .peer = 1});
    t[p].call(Op::Fetch_and_op, {.communicator = window, .peer = 1, .bytes = 4});
    t[p].call(Op::Win_flush_local_all, {.communicator = window});
    t[p].call(Op::Win_unlock, {.communicator = window, .peer = 1});
    on_window(t[p], Op::Win_free);
  }
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.messages == 0);
}

TEST_CASE("members of a window make the same fences") {
  SmallTrace t = with_window();
  on_window(t[0], Op::Win_fence);
  on_window(on_window(t[1], Op::Win_fence), Op::Win_free);
  on_window(on_window(t[2], Op::Win_fence), Op::Win_fence);
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 2, call 3 (MPI_Win_fence): expected MPI_Win_free as process 1 in call 3, found "
              "MPI_Win_fence (communicator 2)"});
  SmallTrace missing = with_window();
  for (const int p : {0, 2}) on_window(missing[p], Op::Win_free);
  CHECK(faults_of(missing) ==
        Texts{"t.h5: process 0, call 2 (MPI_Win_free): expected all 3 members of communicator 2, found 2; "
              "process 1 is missing"});
}

TEST_CASE("processes make a window together") {
  SmallTrace t = with_window();
  for (int p = 0; p < 4; p++) t[p].collective(p == 3 ? Op::Win_allocate : Op::Win_create, 0, -1, {});
  CHECK(
      faults_of(t) ==
      Texts{
          "t.h5: process 3, call 2 (MPI_Win_allocate): expected MPI_Win_create as process 0 in call 2, found "
          "MPI_Win_allocate (communicator 0)"});
}

TEST_CASE("epochs whose origins and targets do not call what the other side waits for") {
  SmallTrace t = with_window();
  on_window(t[0], Op::Win_post, {1, 2});
  on_window(t[0], Op::Win_wait, {1, 2});
  on_window(t[1], Op::Win_start, {0});
  on_window(t[2], Op::Win_start, {0, 1});
  on_window(t[2], Op::Win_complete, {0, 1});
  CHECK(
      faults_of(t) ==
      Texts{
          "t.h5: process 0, call 3 (MPI_Win_wait): expected a call of MPI_Win_complete by process 1 that "
          "names process 0 (window 2), found none",
          "t.h5: process 1, call 2 (MPI_Win_start): expected a call of MPI_Win_complete by process 1 that "
          "names process 0 (window 2), found none",
          "t.h5: process 2, call 2 (MPI_Win_start): expected a call of MPI_Win_post by process 1 that names "
          "process 2 (window 2), found none",
          "t.h5: process 2, call 3 (MPI_Win_complete): expected a call of MPI_Win_wait by process 1 that "
          "names process 2 (window 2), found none"});
}

TEST_CASE("accesses and epochs name members of the window") {
  SmallTrace t = with_window();
  t[0].call(Op::Accumulate, {.communicator = window, .peer = 3, .bytes = 8});
  t[0].call(Op::Win_lock, {.communicator = window, .peer = 3});
  on_window(t[0], Op::Win_start, {3});
  on_window(t[0], Op::Win_test, {1}, trace::nothing_found);
  on_window(t[3], Op::Win_fence);
  const std::string member = "expected a member of communicator 2, found process 3";
  CHECK(faults_of(t) ==
        Texts{"t.h5: process 0, call 2 (MPI_Accumulate): " + member,
              "t.h5: process 0, call 3 (MPI_Win_lock): " + member,
              "t.h5: process 0, call 4 (MPI_Win_start): " + member,
              "t.h5: process 0, call 5 (MPI_Win_test): expected 0 items, found 1 item",
              "t.h5: process 3, call 2 (MPI_Win_fence): expected a communicator of process 3, found "
              "communicator 2"});
}

// ---- other programs ----

TEST_CASE("a program that meets another one is sound, but remarked on") {
  SmallTrace t(3);
  for (int p = 0; p < 3; p++) t[p].call(Op::File_open).call(Op::Comm_spawn).call(Op::File_close);
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.remarks ==
        Texts{"t.h5: process 0, call 2 (MPI_Comm_spawn): the program meets processes of another MPI "
              "program, which are not in this trace; it cannot be replayed"});
  CHECK(verdict_of(SmallTrace(2)).remarks == Texts{});
}

TEST_CASE("processes of another program take part unseen") {
  SmallTrace t(2);
  const std::int32_t inter = t.communicator({-1, -1, 0, 1}, 2), merged = t.communicator({0, -1, 1, -1});
  for (int p = 0; p < 2; p++) {
    t[p].collective(Op::Bcast, 8, trace::nobody, {}, inter)
        .collective(Op::Intercomm_merge, 0, -1, {merged}, inter);
    t[p].collective(Op::Bcast, 8, p, {}, inter).send(trace::nobody, 8, 0, inter);
    t[p].collective(Op::Bcast, 8, trace::nobody, {}, merged);
    t[p].collective(Op::Allgatherv, 1, -1, {1, 2, 3, 4}, merged);
  }
  const simtrace::Verdict v = verdict_of(t);
  CHECK(v.shown == Texts{});
  CHECK(v.remarks == Texts{"t.h5: the program meets processes of another MPI program, which are not in this "
                           "trace; it cannot be replayed"});
  t[1].collective(Op::Barrier, 0, -1, {}, merged);
  CHECK(faults_of(t) == Texts{"t.h5: process 1, call 7 (MPI_Barrier): expected all 2 members of communicator "
                              "3, found 1; process 0 is missing"});
}
