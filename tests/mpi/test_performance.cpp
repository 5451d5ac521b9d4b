// What an observed replay says of tasks and channels: by hand to the picosecond, and all of a whole that adds
// up.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/performance/query.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;
using performance::Cell;

namespace {

constexpr std::int64_t ns = 1'000, us = 1'000'000;
constexpr std::int64_t A = 300 * ns, C = 70 * ns, H = 200 * ns, L = 5 * us;

using Settings = std::vector<std::pair<std::string, std::string>>;
Machine costly(const Settings& more = {}) {
  Settings s{{"network.latency", "5us"},
             {"send.prolog", "300ns"},
             {"send.epilog", "70ns"},
             {"receive.epilog", "200ns"}};
  s.insert(s.end(), more.begin(), more.end());
  return machine(s);
}

std::int64_t of(const performance::Run& run, std::size_t task, Cell cell) {
  return run.figures.tasks.at(task)[cell];
}

const performance::Cells& channel(const performance::Run& run, std::int32_t from, std::int32_t to) {
  for (std::size_t i = 0; i < run.figures.channels.size(); i++)
    if (run.figures.channels[i].source == from && run.figures.channels[i].destination == to)
      return run.figures.channel_cells[i];
  throw std::out_of_range("no such channel");
}

constexpr Cell causes[] = {Cell::late_sender, Cell::late_receiver, Cell::barrier,   Cell::collective,
                           Cell::transfer,    Cell::contention,    Cell::one_sided, Cell::after_end};

void check_sums(const performance::Run& run) {
  for (std::size_t t = 0; t < run.figures.tasks.size(); t++) {
    INFO("task " << t);
    CHECK(of(run, t, Cell::time) == run.time.count());
    CHECK(of(run, t, Cell::computation) + of(run, t, Cell::communication) + of(run, t, Cell::idle) ==
          of(run, t, Cell::time));
    std::int64_t sum = 0;
    for (const Cell c : causes) sum += of(run, t, c);
    CHECK(sum == of(run, t, Cell::idle));
  }
}

}  // namespace

TEST_CASE("observed: a receive waits for its sender, then for the message") {
  SmallTrace t(2);
  t[0].compute(10 * us).send(1, 500);
  t[1].compute(2 * us).receive(0, 500).compute(us);
  const performance::Run run = observed_run(t, costly());
  check_sums(run);
  CHECK(of(run, 1, Cell::late_sender) == 8 * us);
  CHECK(of(run, 1, Cell::transfer) == A + L);
  CHECK(of(run, 1, Cell::communication) == H);
  CHECK(of(run, 0, Cell::after_end) == run.time.count() - 10 * us - A - C);
  const performance::Cells& c = channel(run, 0, 1);
  CHECK(c[Cell::sends] == 1);
  CHECK(c[Cell::bytes_received] == 500);
  CHECK(c[Cell::send_time] == A + C);
  CHECK(c[Cell::receive_time] == 8 * us + A + L + H);
  CHECK(c[Cell::receive_max] == c[Cell::receive_time]);
  CHECK(c[Cell::receive_wait] == 8 * us + A + L);
  CHECK(c[Cell::in_flight] == A + L);
  CHECK(c[Cell::queue_max] == 1);
}

TEST_CASE("observed: messages queue until they are received") {
  SmallTrace t(2);
  for (int i = 0; i < 5; i++) t[0].send(1, 8);
  t[1].compute(100 * us);
  for (int i = 0; i < 4; i++) t[1].receive(0, 8);
  const performance::Run run = observed_run(t, costly());
  check_sums(run);
  const performance::Cells& c = channel(run, 0, 1);
  CHECK(c[Cell::queue] == 1);
  CHECK(c[Cell::queue_max] == 4);
  CHECK(c[Cell::receive_wait] == 0);
  std::int64_t in_flight = 0;
  for (int i = 0; i < 4; i++) in_flight += 100 * us + i * H - i * (A + C);
  CHECK(c[Cell::in_flight] == in_flight);
}

TEST_CASE("observed: a send waits for its receiver") {
  SmallTrace t(2);
  t[0].call(Op::Ssend, {.peer = 1, .bytes = 100});
  t[1].compute(50 * us).receive(0, 100);
  const performance::Run run = observed_run(t, costly());
  check_sums(run);
  CHECK(of(run, 0, Cell::late_receiver) == 50 * us - A - C);
  CHECK(of(run, 1, Cell::late_sender) == 0);
  // The receiver was there first: nobody is late, all of the wait is the messages' way.
  SmallTrace first(2);
  first[0].compute(50 * us).call(Op::Ssend, {.peer = 1, .bytes = 100});
  first[1].receive(0, 100);
  const performance::Run early = observed_run(first, costly());
  check_sums(early);
  CHECK(of(early, 0, Cell::late_receiver) == 0);
  CHECK(of(early, 0, Cell::transfer) > 0);
  CHECK(of(early, 1, Cell::late_sender) == 50 * us);
}

TEST_CASE("observed: a rendezvous that is posted and waited for") {
  SmallTrace t(2);
  t[0].isend(1, 5000, 0).compute(us).wait({0});
  t[1].compute(80 * us).irecv(0, 5000, 0).wait({0});
  const performance::Run run = observed_run(t, costly({{"network.eager-limit", "1000"}}));
  check_sums(run);
  CHECK(of(run, 0, Cell::late_receiver) == 80 * us - us - A);
  CHECK(channel(run, 0, 1)[Cell::sends] == 1);
}

TEST_CASE("observed: the last one at a barrier and at collectives") {
  SmallTrace t(3);
  for (int p = 0; p < 3; p++) t[p].compute((p + 1) * 10 * us).collective(Op::Barrier, 0);
  const performance::Run run = observed_run(t, costly());
  check_sums(run);
  CHECK(of(run, 0, Cell::barrier) == 20 * us);
  CHECK(of(run, 1, Cell::barrier) == 10 * us);
  CHECK(of(run, 2, Cell::idle) == 0);

  SmallTrace reduced(2);
  for (int p = 0; p < 2; p++) reduced[p].compute((p + 1) * 10 * us).collective(Op::Allreduce, 8);
  const performance::Run all = observed_run(reduced, costly());
  check_sums(all);
  CHECK(of(all, 0, Cell::collective) == 10 * us - A - C);
  CHECK(of(all, 0, Cell::transfer) == A + L);
  CHECK(of(all, 1, Cell::collective) == 0);
}

TEST_CASE("observed: messages that hold each other up in a network") {
  SmallTrace t(3);
  t[0].send(2, 1000);
  t[1].send(2, 1000);
  t[2].receive(0, 1000).receive(1, 1000);
  const performance::Run run =
      observed_run(t, machine({{"network.model", "infiniband"},
                               {"infiniband.topology", "single:4,rate=4xEDR,cable=10ns"},
                               {"infiniband.packet-header", "26"},
                               {"send.prolog", "300ns"}}));
  check_sums(run);
  CHECK(of(run, 2, Cell::contention) == 1026 * 80);
}

TEST_CASE(
    "observed: everything adds up, and is the same for any number of ranks and as when it is not observed") {
  SmallTrace t(4);
  for (int p = 0; p < 4; p++)
    for (int step = 0; step < 6; step++) {
      const int right = (p + 1) % 4, left = (p + 3) % 4;
      t[p].compute((p + 1) * (step + 1) * us).irecv(left, 2000, 0).isend(right, 2000, 1).wait({0, 1});
      t[p].collective(Op::Allreduce, 64).call(Op::Ibarrier, {.peer = -1, .request = 2}).compute(us).wait({2});
      if (step == 3) t[p].collective(Op::Bcast, 4000, 1).collective(Op::Barrier, 0);
    }
  for (const Settings& more :
       {Settings{}, Settings{{"network.eager-limit", "1000"}},
        Settings{{"network.model", "loggops"}, {"network.gap", "4us"}},
        Settings{{"network.model", "infiniband"}, {"infiniband.topology", "single:4"}}}) {
    const performance::Run run = observed_run(t, costly(more));
    check_sums(run);
    const Replayed plain = replay(t, costly(more));
    for (std::size_t p = 0; p < 4; p++) {
      CHECK(plain.rows[p].computation_ps == of(run, p, Cell::computation));
      CHECK(plain.rows[p].idle_ps == of(run, p, Cell::idle));
    }
    std::int64_t sent = 0, received = 0;
    for (const performance::Cells& c : run.figures.channel_cells) {
      CHECK(c[Cell::sends] == c[Cell::receives]);
      CHECK(c[Cell::bytes_sent] == c[Cell::bytes_received]);
    }
    for (std::size_t p = 0; p < 4; p++) {
      sent += of(run, p, Cell::sends);
      received += of(run, p, Cell::receives);
    }
    CHECK(sent == received);
    CHECK(sent > 4 * 6 * 2);
  }
}

TEST_CASE("observed: windows add up to what was computed and waited") {
  SmallTrace t(2);
  for (int i = 0; i < 100; i++) {
    t[0].compute(3 * us).send(1, 8);
    t[1].receive(0, 8);
  }
  const performance::Run run = observed_run(t, costly());
  const auto sum = [&](std::size_t task, performance::Activity a) {
    double s = 0;
    for (const auto& w : run.windows[task]) s += w[static_cast<std::size_t>(a)];
    return s / static_cast<double>(run.windows[task].size());
  };
  CHECK(run.windows[0].size() >= 32);
  CHECK(sum(0, performance::Activity::computation) ==
        Approx(static_cast<double>(of(run, 0, Cell::computation)) / static_cast<double>(run.time.count()))
            .epsilon(0.03));
  CHECK(sum(1, performance::Activity::waiting_for_partner) ==
        Approx(static_cast<double>(of(run, 1, Cell::late_sender)) / static_cast<double>(run.time.count()))
            .epsilon(0.03));
}
