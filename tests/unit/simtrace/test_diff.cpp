// Comparison of traces, summaries, and the text of calls.

#include <string>

#include "capture/simtrace/diff.hpp"
#include "capture/simtrace/info.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::simtrace;
using test::SmallTrace;

namespace {

SmallTrace two_processes() {
  SmallTrace t(2);
  t[0].compute(100).send(1, 8).lasts(10).compute(1'000).send(1, 8).lasts(10);
  t[1].compute(100).receive(0, 8).lasts(10).compute(1'000).receive(0, 8).lasts(10);
  return t;
}

Difference difference_of(const SmallTrace& a, const SmallTrace& b) {
  const test::ScratchFolder folder;
  a.write(folder.file("a.h5"));
  b.write(folder.file("b.h5"));
  return compare(trace::Reader(folder.file("a.h5")), trace::Reader(folder.file("b.h5")));
}

}  // namespace

TEST_CASE("a trace does not differ from itself") {
  const Difference d = difference_of(two_processes(), two_processes());
  CHECK(d.same());
  CHECK(d.largest_ps == 0);
}

TEST_CASE("times differ: the largest and the mean difference, and the first") {
  SmallTrace slower = two_processes();
  slower[1].lasts(35);  // its last receive leaves 25 ps later, so does MPI_Finalize
  const Difference d = difference_of(two_processes(), slower);
  CHECK_FALSE(d.same());
  CHECK_FALSE(d.structure);
  CHECK(d.largest_ps == 25);
  CHECK(d.first->process == 1);
  CHECK(d.first->call == 2);
  CHECK(d.first->operation == "MPI_Recv");
  CHECK(d.largest->call == 2);
  CHECK(d.mean_ps == Catch::Approx(25.0 * 3 / 16));  // 3 of 2 * 8 times
}

TEST_CASE("the structure differs: where, and how") {
  SmallTrace other = two_processes();
  other[1].receive(0, 8);
  CHECK(difference_of(two_processes(), other).structure ==
        "process 1, call 3: MPI_Finalize against MPI_Recv, from 0 tag 0, 8 B, communicator 0");
  CHECK(difference_of(two_processes(), SmallTrace(3)).structure == "2 processes against 3");
  SmallTrace larger = two_processes();
  larger.communicator({1, 0});
  CHECK(difference_of(two_processes(), larger).structure == "the communicators differ");
  SmallTrace shorter = two_processes();
  shorter[1].cut_short();
  CHECK(difference_of(two_processes(), shorter).structure == "process 1: 4 calls against 3");
}

TEST_CASE("how a process was cut into segments makes no difference") {
  // One writes all signatures of a process into one table, the other has to cut it.
  SmallTrace a(1), b(1);
  for (int i = 0; i < 70'000; i++) {
    a[0].send(-1, i);
    b[0].send(-1, i);
  }
  CHECK(difference_of(a, b).same());
}

TEST_CASE("a summary adds up calls, times and bytes") {
  const test::ScratchFolder folder;
  SmallTrace t = two_processes();
  t[1].cut_short();
  t.write(folder.file("t.h5"));
  const Summary s = summarize(trace::Reader(folder.file("t.h5")));
  const auto& sends = s.operations[static_cast<std::size_t>(Op::Send)];
  CHECK(sends.calls == 2);
  CHECK(sends.ticks == 20);
  CHECK(sends.bytes == 16);
  CHECK(s.longest_ticks == 1'120);
  CHECK(s.incomplete == std::vector<std::int32_t>{1});
  CHECK(s.incomplete_count == 1);
  CHECK(s.hosts.at("host") == 2);
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

TEST_CASE("ranges of calls") {
  const CallRange all = parse_call_range("3"), some = parse_call_range("3:10:20");
  CHECK((all.process == 3 && all.first == 0 && all.count == INT64_MAX));
  CHECK((some.process == 3 && some.first == 10 && some.count == 20));
  for (const char* wrong : {"", "x", "1:2:3:4", "1:-2", "1::2"})
    CHECK_THROWS_AS(parse_call_range(wrong), UsageError);
}
