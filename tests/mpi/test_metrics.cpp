// Regions, counters and timers of the program, by hand to the picosecond.
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;
constexpr std::int64_t latency = 2 * us;

Machine simple(const std::string& speedups = "", const std::string& speedup = "1") {
  std::vector<std::pair<std::string, std::string>> settings{{"network.latency", "2us"},
                                                            {"cpu.speedup", speedup}};
  if (!speedups.empty()) settings.emplace_back("cpu.speedups", speedups);
  return machine(settings);
}

}  // namespace

TEST_CASE("regions: time is computation, communication and waiting, here and as recorded") {
  SmallTrace t(2);
  const std::int32_t solver = t.region("solver");
  t[0].compute(5 * us).begin(solver).compute(1 * us).send(1, 8).lasts(40 * ns).compute(2 * us).end(solver);
  t[1].begin(solver).compute(1 * us).receive(0, 8).lasts(9 * us).compute(3 * us).end(solver).compute(7 * us);
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  const observe::Row &a = r.metric(0, solver), &b = r.metric(1, solver);
  CHECK(a.times == 1);
  CHECK(a.sum.time == 3 * us);
  CHECK(a.sum.computation == 3 * us);
  CHECK(a.sum.waiting == 0);
  CHECK(a.sum.recorded_time == 3 * us + 40 * ns);
  CHECK(a.sum.recorded_computation == 3 * us);
  // The message leaves at 6 us.
  CHECK(b.sum.time == 6 * us + latency + 3 * us);
  CHECK(b.sum.computation == 4 * us);
  CHECK(b.sum.waiting == 5 * us + latency);
  CHECK(b.sum.communication() == 0);
  CHECK(b.sum.recorded_time == 13 * us);
  CHECK(r.warnings.empty());
}

TEST_CASE("regions: those inside of others, in themselves, and again") {
  SmallTrace t(1);
  const std::int32_t outer = t.region("outer"), inner = t.region("inner");
  t[0].begin(outer).compute(1 * us);
  for (int i = 0; i < 3; i++) t[0].begin(inner).compute(2 * us).end(inner).compute(1 * us);
  t[0].begin(outer).compute(4 * us).end(outer).compute(5 * us).end(outer).compute(9 * us);
  const Replayed r = replay(t, simple());
  CHECK(r.metric(0, outer).times == 2);
  CHECK(r.metric(0, outer).sum.time == (1 + 3 * 3 + 4 + 5) * us);
  CHECK(r.metric(0, inner).times == 3);
  CHECK(r.metric(0, inner).sum.time == 3 * 2 * us);
}

TEST_CASE("regions without end last to the end, and the summary names them") {
  SmallTrace t(2);
  const std::int32_t a = t.region("a"), b = t.region("b");
  const std::int32_t timer = t.timer("clock");
  t[0].begin(a).compute(1 * us).begin(b).compute(2 * us).end(a).compute(4 * us).end(b);
  t[1].compute(1 * us).begin(a).mark(Op::Timer_start, timer).compute(3 * us);
  const Replayed r = replay(t, simple());
  CHECK(r.metric(0, a).sum.time == 3 * us);
  CHECK(r.metric(0, b).sum.time == 2 * us);
  CHECK(r.metric(1, a).sum.time == 3 * us);
  CHECK(r.metric(1, timer).sum.time == 3 * us);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(r.warnings,
             ContainsSubstring("process 0, call 2: region 'b' is still open where a region around it ends") &&
                 ContainsSubstring("process 0, call 4: region 'b' is ended, but was not begun") &&
                 ContainsSubstring("process 1, call 1: region 'a' is never ended") &&
                 ContainsSubstring("process 1, call 2: timer 'clock' is never stopped"));
}

TEST_CASE("regions: computation in one is faster, elsewhere as before") {
  SmallTrace t(2);
  const std::int32_t solver = t.region("solver"), part = t.region("a part of it"), other = t.region("other");
  for (int p = 0; p < 2; p++)
    t[p].compute(10 * us)
        .begin(other)
        .compute(20 * us)
        .end(other)
        .begin(solver)
        .compute(40 * us)
        .begin(other)  // says nothing of its own
        .compute(80 * us)
        .end(other)
        .begin(part)
        .compute(160 * us)
        .end(part)
        .compute(320 * us)
        .end(solver)
        .compute(640 * us);
  const std::int64_t outside = (10 + 20 + 640) * us, inside = (40 + 80 + 320) * us, part_of_it = 160 * us;
  SECTION("against the processor, whatever its speed is") {
    const SharedFile file("region solver 2  # twice as fast\nregion a part of it 0.5\nprocess 1 4\n");
    const Replayed r = replay(t, simple(file.name()));
    REQUIRE(r.failure.empty());
    CHECK(r.end(0) == outside + inside / 2 + part_of_it * 2);
    CHECK(r.end(1) == outside / 4 + inside / 8 + part_of_it / 2);
    CHECK(r.metric(0, solver).sum.computation == inside / 2 + part_of_it * 2);
    CHECK(r.metric(0, other).sum.computation == 20 * us + 80 * us / 2);
    CHECK(r.metric(0, solver).sum.recorded_computation == inside + part_of_it);
  }
  SECTION("exact where it does not divide") {
    const SharedFile file("region solver 3\n");
    const Replayed r = replay(t, simple(file.name(), "1.1"));
    const auto over = [](std::int64_t ps, std::int64_t num, std::int64_t den) {
      return (ps * den + num - 1) / num;
    };
    std::int64_t end = 0;
    for (const std::int64_t n : {10, 20, 640}) end += over(n * us, 11, 10);
    for (const std::int64_t n : {40, 80, 160, 320}) end += over(n * us, 33, 10);
    CHECK(r.end(0) == end);
  }
}

TEST_CASE("regions that the trace does not have are refused") {
  SmallTrace t(1);
  t.region("solver");
  t.region("output");
  t.timer("clock");
  const SharedFile file("\nregion clock 2\n");
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(replay(t, simple(file.name())).failure,
             ContainsSubstring(":2: expected a region of the trace (solver, output), found 'clock'"));
  const SharedFile wrong("region 2\n");
  CHECK_THAT(replay(t, simple(wrong.name())).failure,
             ContainsSubstring("`region NAME SPEEDUP`, found 'region 2'"));
}

TEST_CASE("counters: their mean is over predicted time, from the first change to the end") {
  SmallTrace t(1);
  const std::int32_t queue = t.counter("queue");
  t[0].compute(100 * us)
      .mark(Op::Counter_set, queue, {4})
      .compute(10 * us)
      .mark(Op::Counter_add, queue, {-6})
      .compute(20 * us)
      .mark(Op::Counter_add, queue, {5})
      .compute(30 * us);
  const Replayed r = replay(t, simple("", "2"));
  const observe::Row& row = r.metric(0, queue);
  CHECK(row.times == 3);
  CHECK(row.last == 3);
  CHECK(row.least == -2);
  CHECK(row.most == 4);
  CHECK(row.sum.time == 30 * us);
  CHECK(static_cast<std::int64_t>(row.area) == (4 * 5 - 2 * 10 + 3 * 15) * us);
}

TEST_CASE("timers: with a counter above 0, and of MPI functions") {
  SmallTrace t(2);
  const std::int32_t sends = t.timer("sends"), of_receives = t.timer("MPI_Recv"), of_mpi = t.timer("MPI");
  const std::int32_t in_f = t.counter("in f");
  t[0].mark(Op::Timer_while, sends, {in_f}).mark(Op::Timer_start, sends).compute(3 * us);
  t[0].mark(Op::Counter_add, in_f, {1}).compute(5 * us).mark(Op::Timer_stop, sends).compute(7 * us);
  t[0].mark(Op::Counter_add, in_f, {1}).mark(Op::Timer_start, sends).mark(Op::Timer_start, sends);
  t[0].compute(11 * us).mark(Op::Timer_stop, sends).compute(13 * us).mark(Op::Counter_add, in_f, {-1});
  t[0].compute(17 * us).mark(Op::Counter_set, in_f, {0}).compute(19 * us).mark(Op::Timer_stop, sends);
  t[0].send(1, 0).send(1, 0);
  const std::int64_t sent = (3 + 5 + 7 + 11 + 13 + 17 + 19) * us;
  t[1].mark(Op::Timer_while, of_receives, {in_f}).receive(0, 0).lasts(33 * ns);
  t[1].mark(Op::Counter_set, in_f, {1}).compute(1 * us).receive(0, 0).lasts(44 * ns);
  t[1].collective(Op::Barrier, 0, -1, {}, trace::self_id);
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  CHECK(r.metric(0, sends).times == 3);
  CHECK(r.metric(0, sends).sum.time == (3 + 5 + 11 + 13 + 17 + 19) * us);
  CHECK(r.metric(0, sends, in_f).sum.time == (5 + 11 + 13 + 17) * us);
  CHECK(r.metric(0, sends, in_f).sum.computation == (5 + 11 + 13 + 17) * us);
  CHECK(r.metric(0, of_mpi).times == 2);
  CHECK(r.metric(1, of_receives).times == 2);
  CHECK(r.metric(1, of_receives).sum.time == sent + latency);
  CHECK(r.metric(1, of_receives).sum.waiting == sent + latency);
  CHECK(r.metric(1, of_receives).sum.recorded_time == 77 * ns);
  CHECK(r.metric(1, of_receives, in_f).sum.time == 0);  // it is there already
  CHECK(r.metric(1, of_receives, in_f).sum.recorded_time == 44 * ns);
  CHECK(r.metric(1, of_mpi).times == 3);
}

TEST_CASE("metrics are those of threads") {
  SmallTrace t(2);
  const std::int32_t solver = t.region("solver"), in_f = t.counter("in f");
  const auto of = [](std::uint16_t thread, std::uint16_t overlaps, std::int32_t peer) {
    return trace::Signature{.thread = thread, .overlaps = overlaps, .peer = peer};
  };
  const std::int32_t receives = t.timer("MPI_Recv");
  t[0].mark(Op::Timer_while, receives, {in_f}).begin(solver).compute(10 * us);
  t[0].mark(Op::Region_begin, solver, {}, 1).mark(Op::Counter_add, in_f, {1}, 1);
  t[0].compute(3 * us).call(Op::Recv, of(1, 0, 1));
  t[0].mark(Op::Region_end, solver, {}, 1).compute(20 * us).end(solver).mark(Op::Counter_add, in_f, {2});
  t[1].compute(50 * us).send(0, 0);
  const SharedFile file("region solver 2\n");
  const Replayed r = replay(t, simple(file.name()));
  REQUIRE(r.failure.empty());
  const observe::Row& row = r.metric(0, solver);
  CHECK(row.times == 2);
  CHECK(row.last == 0);
  CHECK(r.metric(0, in_f).last == 3);
  CHECK(r.metric(0, in_f).most == 2);
  CHECK(r.metric(0, receives).sum.time > 0);
  CHECK(r.metric(0, receives, in_f).sum.time == r.metric(0, receives).sum.time);
  CHECK(r.warnings.empty());
}

TEST_CASE("a prediction keeps the regions, and is replayed again") {
  SmallTrace t(1);
  const std::int32_t solver = t.region("solver");
  t[0].begin(solver).compute(8 * us).end(solver);
  const std::string predicted = scratch_name();
  CHECK(replay(t, simple("", "2"), predicted).metric(0, solver).sum.time == 4 * us);
  const Replayed again = replay_file(predicted, simple());
  CHECK(again.metric(0, solver).sum.time == 4 * us);
  CHECK(again.metric(0, solver).sum.recorded_time == 4 * us);
}

TEST_CASE("as recorded: regions last as long as they did") {
  SmallTrace t(1);
  const std::int32_t solver = t.region("solver");
  t.overhead(100 * ns);
  t[0].compute(1 * us).begin(solver).compute(2 * us).send(-1, 0).lasts(3 * us).compute(4 * us).end(solver);
  Machine m;
  m.as_recorded = true;
  const Replayed r = replay(t, m);
  // Of the gaps that one after the message has overhead in it: marks have none.
  CHECK(r.metric(0, solver).sum.time == 9 * us - 100 * ns);
  CHECK(r.metric(0, solver).sum.recorded_time == 9 * us);
}

TEST_CASE("a trace that was cut counts its regions up to there") {
  SmallTrace t(2);
  const std::int32_t solver = t.region("solver");
  t[0].begin(solver).compute(2 * us).receive(1, 0).lasts(5 * us).compute(1 * us).end(solver);
  t[1].compute(3 * us).cut_short();
  const Replayed r = replay(t, simple());
  REQUIRE(r.failure.empty());
  CHECK(r.metric(0, solver).sum.time == 2 * us);
  CHECK(r.metric(0, solver).sum.recorded_time == 2 * us);
}
