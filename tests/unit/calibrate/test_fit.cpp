// Lines, ranges and costs from measurements of machines that are known.

#include "capture/simcalibrate/costs.hpp"
#include "capture/simcalibrate/line.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/calibrate/synthetic_way.hpp"

using namespace simreplay;
using namespace simreplay::calibrate;
using Catch::Approx;
using Model = Machine::Model;

namespace {

const Settings eager_machine{{"send.prolog", "300ns"},    {"send.per-byte", "0.05ns/B"},
                             {"receive.epilog", "500ns"}, {"receive.per-byte", "0.1ns/B"},
                             {"network.latency", "2us"},  {"network.per-byte", "0.4ns/B"},
                             {"network.gap", "600ns"},    {"network.gap-per-byte", "0.35ns/B"}};

Settings with_rendezvous(Settings s) {
  s["network.eager-limit"] = "64KiB";
  s["send.per-byte"] = "0.05ns/B, 65537: 0";
  s["receive.per-byte"] = "0.1ns/B, 65537: 0";
  return s;
}

double ns(Duration d) { return static_cast<double>(d.count()) / 1e3; }

}  // namespace

TEST_CASE("statistics take the low end and say how far the middle is") {
  std::vector<double> samples(100, 10.0);
  for (int i = 0; i < 40; i++) samples[static_cast<std::size_t>(i)] = 1000.0;  // disturbed
  CHECK(summarise(samples).ns == 10.0);
  CHECK(summarise(samples).spread == 0.0);
  CHECK(summarise({4, 1, 2, 3}).ns == 1.0);
  CHECK(summarise({4, 1, 2, 3}).spread == Approx(2.0));
  CHECK(summarise({}).ns == 0.0);
}

TEST_CASE("a line goes through its points and stays within its bounds") {
  const std::vector<Point> points{{0, 100}, {100, 110}, {1000, 200}};
  const Line free = fit_line(points);
  CHECK(free.ns == Approx(100));
  CHECK(free.ns_per_byte == Approx(0.1));
  const Line flat = fit_line(points, {Bounds::none, 0});
  CHECK(flat.ns_per_byte == 0);
  CHECK(flat.ns > 100);
  const Line low = fit_line(points, {50, Bounds::none});
  CHECK(low.ns == 50);
  // Costs are not negative: the free line would start below zero.
  const Line convex = fit_line({{1000, 100}, {2000, 400}});
  CHECK(convex.ns == 0);
  CHECK(convex.ns_per_byte > 0.1);
  CHECK(fit_line({{64, 7}}, {Bounds::none, 0}).ns == Approx(7));
}

TEST_CASE("one protocol is one range, with noise too") {
  for (const double noise : {0.0, 0.01}) {
    const auto ranges = find_ranges(test::synthetic_way(eager_machine, Model::base, noise));
    CHECK(ranges.size() == 1);
    CHECK(ranges.front().last == test::synthetic_sizes().size() - 1);
  }
}

TEST_CASE("a change of protocol ends a range, a lone point does not") {
  Settings changing = eager_machine;
  changing["network.latency"] = "2us, 2048: 4us";
  Way way = test::synthetic_way(changing, Model::base, 0.005);
  auto ranges = find_ranges(way);
  REQUIRE(ranges.size() == 2);
  CHECK(way.points[ranges[1].first].bytes == 2048);

  way = test::synthetic_way(eager_machine, Model::base);
  way.points[10].half_round_trip.ns *= 1.028;
  ranges = find_ranges(way);
  REQUIRE(ranges.size() == 1);
  CHECK(std::ranges::find(ranges[0].fitted, 10U) == ranges[0].fitted.end());

  way.points[10].half_round_trip.ns *= 1.5;  // too far to be passed over
  CHECK(find_ranges(way).size() > 1);
}

TEST_CASE("the eager limit ends a range where no line breaks") {
  const Way way = test::synthetic_way(with_rendezvous(eager_machine), Model::base);
  const auto ranges = find_ranges(way);
  const auto first_of_rendezvous =
      std::ranges::find_if(ranges, [&](const Range& r) { return way.points[r.first].bytes == 65537; });
  CHECK(first_of_rendezvous != ranges.end());
}

TEST_CASE("known costs are found again") {
  for (const double noise : {0.0, 0.01}) {
    const double tolerance = noise == 0 ? 0.001 : 0.05;
    const Way way = test::synthetic_way(eager_machine, Model::base, noise);
    const MessageCosts c = costs_of(fit_costs(way, Model::base), Model::base);
    CHECK(ns(c.send_prolog.at(8)) == Approx(300).epsilon(tolerance));
    CHECK(ns(c.receive_epilog.at(8)) == Approx(500).epsilon(tolerance));
    CHECK(ns(c.latency.at(8)) == Approx(2000).epsilon(tolerance));
    CHECK(ns(c.gap.at(8)) == Approx(600).epsilon(tolerance));
    CHECK(c.gap_per_byte.at(8).value() == Approx(350).epsilon(tolerance));
    CHECK(c.eager_limit == INT64_MAX);
    const Deviations d = deviations(way, c, Model::base);
    CHECK(d.half_round_trip_most < 0.001 + 2 * noise);
    CHECK(d.gap_most < 0.001 + 2 * noise);
  }
}

TEST_CASE("a rendezvous keeps the half round trip, the pace and the latency of small messages") {
  const Way way = test::synthetic_way(with_rendezvous(eager_machine), Model::base);
  const MessageCosts c = costs_of(fit_costs(way, Model::base), Model::base);
  CHECK(c.eager_limit == 65536);
  CHECK(ns(c.latency.at(1 << 20)) == Approx(2000).epsilon(0.02));
  CHECK(ns(c.send_prolog.at(1 << 20)) == Approx(300).epsilon(0.02));
  const Deviations d = deviations(way, c, Model::base);
  CHECK(d.half_round_trip_most < 0.002);
  CHECK(d.gap_most < 0.01);
}

TEST_CASE("what a single receive takes longer than one of a stream is its prolog") {
  Settings machine = eager_machine;
  machine["receive.prolog"] = "400ns";
  machine["network.gap"] = "0";
  machine["network.gap-per-byte"] = "0";
  const Way way = test::synthetic_way(machine, Model::base);
  const MessageCosts c = costs_of(fit_costs(way, Model::base), Model::base);
  CHECK(ns(c.receive_prolog.at(8)) == Approx(400).epsilon(0.01));
  CHECK(ns(c.receive_epilog.at(8)) == Approx(500).epsilon(0.01));
}

TEST_CASE("disturbed overheads and gaps do not lengthen a ping-pong") {
  Way way = test::synthetic_way(eager_machine, Model::base);
  for (SizePoint& p : way.points) {
    p.receive.ns += 1e6;
    p.send.ns += 1e6;
    p.gap.ns += 1e6;
  }
  for (const Model model : {Model::base, Model::loggops}) {
    const MessageCosts c = costs_of(fit_costs(way, model), model);
    for (const SizePoint& p : way.points) {
      // The answer finds its receive: it was asked for in time, and the adapter is free.
      const double round_trip = 2 * p.half_round_trip.ns;
      const double busy = predict(c, model, p.bytes).send_ns + ns(c.receive_prolog.at(p.bytes));
      CHECK(busy <= round_trip * 1.01);
      CHECK(ns(c.gap.at(p.bytes)) + c.gap_per_byte.at(p.bytes).value() * static_cast<double>(p.bytes) / 1e3 <=
            round_trip * 1.01);
    }
  }
}

TEST_CASE("half duplex where exchanges take as long as both ways one after the other") {
  for (const char* duplex : {"full", "half"}) {
    Settings machine = eager_machine;
    machine["network.eager-limit"] = "4096";
    machine["network.duplex"] = duplex;
    const Way way = test::synthetic_way(machine, Model::base);
    const Settings fitted = fit_costs(way, Model::base);
    CHECK(fitted.contains("network.duplex") == (duplex == std::string("half")));
    CHECK(deviations(way, costs_of(fitted, Model::base), Model::base).exchange_mean < 0.08);
  }
}

TEST_CASE("the model is the one that fits") {
  Measurement m;
  m.between = test::synthetic_way(eager_machine, Model::base);
  CHECK(choose_model(m) == Model::base);
  // Sender and receiver copy at the same time: together they take longer than the message.
  m.between = test::synthetic_way({{"send.prolog", "200ns"},
                                   {"send.per-byte", "0.3ns/B"},
                                   {"receive.epilog", "200ns"},
                                   {"receive.per-byte", "0.3ns/B"},
                                   {"network.latency", "500ns"},
                                   {"network.gap-per-byte", "0.3ns/B"}},
                                  Model::loggops);
  CHECK(choose_model(m) == Model::loggops);
}

TEST_CASE("results that spread are named") {
  Measurement m;
  m.within = test::synthetic_way(eager_machine, Model::base);
  CHECK(noisy_results(m).empty());
  m.within->points[3].half_round_trip.spread = 0.2;
  REQUIRE(noisy_results(m).size() == 1);
  CHECK(noisy_results(m).front() == "half round trip within a node of 64 bytes: spread up to 20 %");
}
