// Comparison of traces.

#include <string>

#include "capture/simtrace/diff.hpp"
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
