// Summaries, and the text of calls.

#include <string>
#include <utility>
#include <vector>

#include "capture/simtrace/describe.hpp"
#include "capture/simtrace/info.hpp"
#include "capture/simtrace/summary.hpp"
#include "capture/simtrace/timeline.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::simtrace;
using test::SmallTrace;

TEST_CASE("a summary adds up calls, times and bytes") {
  const test::ScratchFolder folder;
  SmallTrace t(2);
  t[0].compute(100).send(1, 8).lasts(10).compute(1'000).send(1, 8).lasts(10);
  t[1].compute(100).receive(0, 8).lasts(10).compute(1'000).receive(0, 8).lasts(10).cut_short();
  t.write(folder.file("t.h5"));
  const Summary s = summarize(trace::Reader(folder.file("t.h5")));
  const auto& sends = s.operations[static_cast<std::size_t>(Op::Send)];
  CHECK(sends.calls == 2);
  CHECK(sends.rows == 2);
  CHECK(sends.ticks == 20);
  CHECK(sends.bytes == 16);
  CHECK(s.longest_ticks == 1'120);
  CHECK(s.incomplete == std::vector<std::int32_t>{1});
  CHECK(s.incomplete_count == 1);
  CHECK(s.hosts.at("host") == 2);
}

TEST_CASE("a summary counts folded calls, messages and accesses to windows") {
  const test::ScratchFolder folder;
  SmallTrace t(2);
  const std::int32_t window = t.communicator({0, 1});
  t[0].call(Op::Wtime, {.bytes = 40}).call(Op::Wtime, {.bytes = 2}).call(Op::Comm_free);
  t[0].call(Op::Test, {.flags = trace::nothing_found, .bytes = 5}).isend(1, 100, 0).send(-1, 7);
  t[0].call(Op::Send_init, {.peer = 1, .bytes = 50});
  t[0].call(Op::Startall, {}, {1, 0, 1, 0, 50, 1, 0, /**/ 0, 0, 1, 0, 60, 2, 0, /**/ 2, 0, -1, 0, 0, 3, 0});
  t[0].call(Op::Put, {.communicator = window, .peer = 1, .bytes = 8});
  t[0].call(Op::Get, {.communicator = window, .peer = 1, .bytes = 9});
  t.write(folder.file("t.h5"));
  const Summary s = summarize(trace::Reader(folder.file("t.h5")));
  const auto of = [&](Op op) { return s.operations[static_cast<std::size_t>(op)]; };
  CHECK(of(Op::Wtime).rows == 2);
  CHECK(of(Op::Wtime).calls == 42);
  CHECK(of(Op::Wtime).bytes == 0);
  CHECK(of(Op::Comm_free).calls == 1);
  CHECK(of(Op::Test).calls == 5);
  CHECK(of(Op::Send_init).bytes == 0);
  CHECK(of(Op::Startall).bytes == 110);
  CHECK(s.calls == 4 + 42 + 1 + 5 + 6);
  CHECK(s.messages.count == 2);
  CHECK(s.messages.bytes == 150);
  CHECK(s.accesses.count == 2);
  CHECK(s.accesses.bytes == 17);
}

TEST_CASE("calls of threads count from the call before of the same thread") {
  trace::SignatureTable table;
  table.push_back({.op = Op::Barrier});
  table.push_back({.op = Op::Send, .thread = 1, .overlaps = 1});
  table.push_back({.op = Op::Send, .thread = 1});
  Timeline timeline;
  const auto add = [&](std::uint16_t signature, std::int64_t computation, std::int64_t duration) {
    const auto [enter, leave] = timeline.add(signature, computation, duration);
    return std::pair(enter, leave);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  timeline.use(table);
  CHECK(add(0, 10, 10) == Pair{10, 20});
  CHECK(add(0, 5, 5) == Pair{25, 30});
  CHECK(add(1, 3, 20) == Pair{23, 43});  // began before the call at 25, after that at 20
  CHECK(add(0, 20, 1) == Pair{50, 51});
  CHECK(add(2, 1, 2) == Pair{44, 46});
  CHECK(timeline.latest() == 51);
}

TEST_CASE("a thread that begins in a later segment") {
  trace::SignatureTable alone, parted;
  alone.push_back({.op = Op::Barrier});
  parted.push_back({.op = Op::Barrier});
  parted.push_back({.op = Op::Barrier, .thread = 1});
  Timeline timeline;
  timeline.use(alone);
  timeline.add(0, 10, 10);
  timeline.use(parted);
  CHECK(timeline.add(1, 1, 10).leave == 31);
  CHECK(timeline.add(0, 2, 1).leave == 23);
}

TEST_CASE("the recorded time of a process with threads is that of its last call") {
  const test::ScratchFolder folder;
  SmallTrace t(1);
  t[0].compute(100).call(Op::Barrier).lasts(10);
  t[0].compute(100).call(Op::Barrier, {.thread = 1}).lasts(200);
  t[0].compute(50).call(Op::Barrier, {.overlaps = 1}).lasts(10);
  t.write(folder.file("t.h5"));
  CHECK(summarize(trace::Reader(folder.file("t.h5"))).longest_ticks == 410);
}

TEST_CASE("calls are described with the arguments that they have") {
  const std::vector<std::int64_t> half{3, 4, 5}, slots{0, 1, 2};
  CHECK(describe({.op = Op::Isend, .peer = 7, .tag = 3, .request = 2, .bytes = 8}) ==
        "MPI_Isend, to 7 tag 3, 8 B, communicator 0, request 2");
  CHECK(
      describe(
          {.op = Op::Recv, .flags = trace::any_source, .communicator = 4, .peer = 7, .tag = 3, .bytes = 8}) ==
      "MPI_Recv, from 7 tag 3, 8 B, communicator 4, any source");
  CHECK(describe({.op = Op::Sendrecv, .peer = -1, .tag = 0, .items = half}) ==
        "MPI_Sendrecv, to none tag 0, 0 B, communicator 0, received from 3 tag 4 5 B");
  CHECK(describe({.op = Op::Waitall, .items = slots}) == "MPI_Waitall, requests [0 1 2]");
  CHECK(describe({.op = Op::Bcast, .peer = 2, .bytes = 64}) == "MPI_Bcast, root 2, 64 B, communicator 0");
  CHECK(describe({.op = Op::Finalize}) == "MPI_Finalize");
}

TEST_CASE("every kind of call is described") {
  const auto text = [](trace::Signature s, std::vector<std::int64_t> items = {}) {
    s.items = items;
    return describe(s);
  };
  CHECK(text({.op = Op::Recv_init, .flags = trace::any_tag, .peer = 1, .tag = -2, .bytes = 8}) ==
        "MPI_Recv_init, from 1 tag any, 8 B, communicator 0, any tag");
  CHECK(text({.op = Op::Startall}, {0, 3, 4, 7, 80, 0, trace::any_source, 2, 3, 2, 7, 8, 1, 0}) ==
        "MPI_Startall, [receive from 4 tag 7 80 B communicator 3 request 0 any source, synchronous send to 2 "
        "tag 7 8 B communicator "
        "3 request 1]");
  CHECK(text({.op = Op::Ireduce, .peer = 2, .request = 4, .bytes = 64}) ==
        "MPI_Ireduce, root 2, 64 B, communicator 0, request 4");
  CHECK(text({.op = Op::Neighbor_alltoallv, .communicator = 3, .bytes = 24}, {2, 1, 8, 2, 16, 5, 9}) ==
        "MPI_Neighbor_alltoallv, 24 B, communicator 3, to [1 8 B, 2 16 B] from [5 9 B]");
  CHECK(text({.op = Op::Comm_idup, .request = 0}, {3}) ==
        "MPI_Comm_idup, communicator 0, request 0, new communicator [3]");
  CHECK(text({.op = Op::Win_create}, {4}) == "MPI_Win_create, communicator 0, new window [4]");
  CHECK(text({.op = Op::Rput, .communicator = 4, .peer = 1, .request = 0, .bytes = 8}) ==
        "MPI_Rput, target 1, 8 B, window 4, request 0");
  CHECK(text({.op = Op::Win_fence, .communicator = 4}) == "MPI_Win_fence, window 4");
  CHECK(text({.op = Op::Win_post, .communicator = 4}, {0, 2}) == "MPI_Win_post, window 4, processes [0 2]");
  CHECK(text({.op = Op::Win_test, .flags = trace::nothing_found, .communicator = 4, .bytes = 3}) ==
        "MPI_Win_test, window 4, nothing found, 3 times");
  CHECK(text({.op = Op::Win_lock, .communicator = 4, .peer = 1}) == "MPI_Win_lock, target 1, window 4");
  CHECK(text({.op = Op::Win_flush_all, .communicator = 4}) == "MPI_Win_flush_all, window 4");
  CHECK(text({.op = Op::File_iwrite_at, .request = 1, .bytes = 80}) == "MPI_File_iwrite_at, 80 B, request 1");
  CHECK(text({.op = Op::Iprobe, .flags = trace::nothing_found, .peer = -2, .tag = 1, .bytes = 1}) ==
        "MPI_Iprobe, from any tag 1, communicator 0, nothing found, once");
  CHECK(text({.op = Op::Comm_rank, .bytes = 1}) == "MPI_Comm_rank");
  CHECK(text({.op = Op::Comm_rank, .bytes = 12}) == "MPI_Comm_rank, 12 times");
  CHECK(text({.op = Op::Comm_disconnect, .communicator = 2}) == "MPI_Comm_disconnect, communicator 2");
  CHECK(text({.op = Op::Comm_spawn}) == "MPI_Comm_spawn");
  CHECK(text({.op = Op::Barrier, .thread = 2, .bytes = 0}) == "MPI_Barrier, 0 B, communicator 0, thread 2");
}

TEST_CASE("ranges of calls") {
  const CallRange all = parse_call_range("3"), some = parse_call_range("3:10:20");
  CHECK((all.process == 3 && all.first == 0 && all.count == INT64_MAX));
  CHECK((some.process == 3 && some.first == 10 && some.count == 20));
  for (const char* wrong : {"", "x", "1:2:3:4", "1:-2", "1::2"})
    CHECK_THROWS_AS(parse_call_range(wrong), UsageError);
}
