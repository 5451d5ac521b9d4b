// What is said of runs with one bottleneck each.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/performance/hypotheses.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::performance;

namespace {

constexpr std::int64_t time_ps = 1'000'000;

/// A task of which so many thousandths go into each of these.
struct Parts {
  int computation = 0, communication = 0, late_sender = 0, late_receiver = 0, barrier = 0, transfer = 0,
      contention = 0;
};

Run run_of(const std::vector<Parts>& tasks) {
  Run run;
  run.time = Duration{time_ps};
  for (const Parts& p : tasks) {
    Cells& c = run.figures.tasks.emplace_back();
    const auto set = [&](Cell cell, int part) { c[cell] = part * time_ps / 1000; };
    set(Cell::time, 1000);
    set(Cell::computation, p.computation);
    set(Cell::communication, p.communication);
    set(Cell::late_sender, p.late_sender);
    set(Cell::late_receiver, p.late_receiver);
    set(Cell::barrier, p.barrier);
    set(Cell::transfer, p.transfer);
    set(Cell::contention, p.contention);
    set(Cell::idle, 1000 - p.computation - p.communication);
    run.figures.nodes.push_back(0);
    Windows& windows = run.windows.emplace_back();
    for (int w = 0; w < 32; w++) {
      const double wobble = (w * 7 % 5 - 2) * 0.004;
      windows.push_back({p.computation / 1000. + wobble, (p.late_sender + p.late_receiver) / 1000. + wobble,
                         p.barrier / 1000. + wobble, (p.transfer + p.contention) / 1000. - wobble});
    }
  }
  return run;
}

void add_channel(Run& run, std::int32_t from, std::int32_t to, std::int64_t messages, std::int64_t bytes,
                 double queue) {
  run.figures.channels.push_back({from, to, 0, 3});
  Cells& c = run.figures.channel_cells.emplace_back();
  c[Cell::sends] = c[Cell::receives] = messages;
  c[Cell::bytes_sent] = c[Cell::bytes_received] = bytes;
  c[Cell::in_flight] = static_cast<std::int64_t>(queue * time_ps);
  c[Cell::queue_max] = 30;
  c[Cell::receive_wait] = from + 1;
}

std::string first(const Diagnosis& d) { return d.findings.empty() ? "nothing" : d.findings[0].hypothesis; }

}  // namespace

TEST_CASE("a program that computes is efficient, from a limit on that can be set") {
  const Run run =
      run_of({{.computation = 900, .late_sender = 100}, {.computation = 850, .late_sender = 150}});
  CHECK(diagnose(run, {}).is_efficient);
  CHECK(diagnose(run, {}).findings.empty());
  CHECK(diagnose(run, {}).efficiency == Approx(0.875));
  CHECK(!diagnose(run, {.efficient = 0.9}).is_efficient);
  CHECK(first(diagnose(run, {.efficient = 0.9})) == "late sender");
}

TEST_CASE("the slow side of a channel") {
  Run slow_consumer = run_of({{.computation = 200}, {.computation = 990}});
  add_channel(slow_consumer, 0, 1, 100, 80'000, 24);
  add_channel(slow_consumer, 1, 0, 100, 800, 0);  // receipts
  const Diagnosis d = diagnose(slow_consumer, {});
  REQUIRE(first(d) == "consumer too slow");
  CHECK(d.findings[0].tasks == std::vector<std::int32_t>{1});
  CHECK(d.findings[0].channel == Channel{0, 1, 0, 3});
  CHECK(d.findings[0].cost_ps == Approx(400'000));
  CHECK(d.findings[0].remedy.faster[0].second == Approx(4.95));
  CHECK(d.findings.size() == 1);  // it is not said again as an imbalance

  Run slow_producer = run_of({{.computation = 990}, {.computation = 200, .late_sender = 790}});
  add_channel(slow_producer, 0, 1, 100, 80'000, 0.1);
  add_channel(slow_producer, 1, 0, 100, 800, 20);
  CHECK(first(diagnose(slow_producer, {})) == "producer too slow");

  // As much one way as the other: neighbours, not a producer and a consumer.
  Run neighbors = run_of({{.computation = 990}, {.computation = 200, .late_sender = 790}});
  add_channel(neighbors, 0, 1, 100, 80'000, 0.1);
  add_channel(neighbors, 1, 0, 100, 80'000, 0.9);
  CHECK(first(diagnose(neighbors, {})) == "imbalance of computation");
}

TEST_CASE("what most of the time is waited for comes first") {
  const Diagnosis late = diagnose(run_of({{.computation = 500, .late_sender = 480, .transfer = 20},
                                          {.computation = 500, .late_sender = 480, .transfer = 20}}),
                                  {});
  CHECK(first(late) == "late sender");
  CHECK(late.findings[0].chance < 0.001);
  CHECK(late.findings[0].remaining_ps == Approx(520'000));
  CHECK(first(diagnose(
            run_of({{.computation = 400, .late_receiver = 600}, {.computation = 400, .late_receiver = 600}}),
            {})) == "late receiver");
  const Diagnosis slow = diagnose(run_of({{.computation = 300, .barrier = 700},
                                          {.computation = 300, .barrier = 700},
                                          {.computation = 1000}}),
                                  {});
  REQUIRE(slow.findings.size() == 2);
  CHECK(slow.findings[0].hypothesis == "imbalance of computation");
  CHECK(slow.findings[0].tasks == std::vector<std::int32_t>{2});
  CHECK(slow.findings[1].hypothesis == "wait at barrier");
  const Diagnosis network = diagnose(run_of({{.computation = 500, .transfer = 300, .contention = 200},
                                             {.computation = 500, .communication = 500}}),
                                     {});
  CHECK(first(network) == "transfer-bound");
  CHECK(network.findings[0].remedy.kind == Remedy::Kind::ideal_network);
}

TEST_CASE("what may be chance, and what costs little, is not said") {
  // As much waiting for senders as for messages on their way: which of them it is cannot be told.
  const Run unclear = run_of({{.computation = 400, .late_sender = 300, .transfer = 300},
                              {.computation = 400, .late_sender = 300, .transfer = 300}});
  for (const Finding& f : diagnose(unclear, {}).findings) CHECK(f.hypothesis != "late sender");
  const Run little =
      run_of({{.computation = 700, .late_sender = 40}, {.computation = 700, .late_sender = 40}});
  CHECK(diagnose(little, {}).findings.empty());
  CHECK_THAT(to_text(diagnose(little, {}), little.time), Catch::Contains("no hypothesis explains"));
  CHECK(diagnose(Run{}, {}).is_efficient);
}

TEST_CASE("a diagnosis as text and as JSON") {
  Run run = run_of({{.computation = 200}, {.computation = 990}});
  add_channel(run, 0, 1, 100, 80'000, 24);
  run.regions = {{1, "consume", 9e5, 0}, {1, "rest", 1e5, 0}, {0, "produce", 2e5, 7e5}};
  Diagnosis d = diagnose(run, {});
  CHECK_THAT(to_text(d, run.time), Catch::Contains("1. consumer too slow: process 1") &&
                                       Catch::Contains("region 'consume'") &&
                                       Catch::Contains("24 messages queue"));
  const auto json = nlohmann::json::parse(to_json(d));
  CHECK(json["efficient"] == false);
  CHECK(json["findings"][0]["channel"]["destination"] == 1);
  CHECK(json["findings"][0]["region"] == "consume");
}
