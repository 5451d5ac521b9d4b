// The file that simcalibrate writes: golden text, and read back by the reader of machine files.

#include "capture/simcalibrate/machine_file.hpp"
#include "common/machine.hpp"
#include "replay/network/cost_model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/calibrate/synthetic_way.hpp"

using namespace simreplay;
using namespace simreplay::calibrate;
using Catch::Approx;
using Model = Machine::Model;

namespace {

const Settings far_way{{"send.prolog", "1.5us"},        {"receive.epilog", "2us"},
                       {"network.latency", "20us"},     {"network.per-byte", "1Gb/s"},
                       {"network.gap", "3us"},          {"network.gap-per-byte", "1Gb/s"},
                       {"network.eager-limit", "64KiB"}};
const Settings near_way{{"send.prolog", "100ns"},
                        {"receive.epilog", "150ns"},
                        {"network.latency", "200ns"},
                        {"network.per-byte", "5GB/s"}};

Measurement measurement(bool with_between) {
  Measurement m;
  m.date = "2001-02-03 04:05 UTC";
  m.mpi_library = "An MPI 1.2.3";
  m.ranks = 4;
  m.nodes = with_between ? 2 : 1;
  m.barrier = {4500, 0.01};
  if (with_between) m.between = test::synthetic_way(far_way, Model::base);
  m.within = test::synthetic_way(near_way, Model::base);
  // A few sizes are enough to look at.
  for (auto* way : {&m.between, &m.within})
    if (*way)
      std::erase_if((*way)->points,
                    [](const SizePoint& p) { return p.bytes % 4096 != 1 && (p.bytes & (p.bytes - 1)) != 0; });
  return m;
}

Machine written_and_read(const Calibration& c) {
  test::ScratchFolder folder;
  test::write_content(folder.file("m.ini"), to_machine_file(c));
  return read_machine(folder.file("m.ini"));
}

/// The replay's own costs of a ping-pong; single receives as the engine adds them up.
double replayed_half_round_trip_ns(const Machine& m, std::int64_t bytes, bool within) {
  using Role = network::Use::Role;
  const network::CostModel model(m);
  const auto protocol = model.protocol(bytes, within, false);
  const network::Cost send = model.of({Role::send, within, protocol, {}, bytes}),
                      receive = model.of({Role::receive, within, {}, {}, bytes});
  Duration sum = send.flight + receive.busy;
  if (protocol == network::Protocol::rendezvous) sum += receive.transfer;
  return static_cast<double>(sum.count()) / 1e3;
}

}  // namespace

TEST_CASE("the machine file is as it was") {
  const std::string golden = test::content_of(SIMREPLAY_GOLDEN "/calibrated.ini");
  CHECK(to_machine_file(calibrate::calibrate(measurement(true))) == golden);
}

TEST_CASE("on one node the plain keys are its own") {
  const Calibration c = calibrate::calibrate(measurement(false));
  const Machine m = written_and_read(c);
  CHECK(m.between.latency.at(1).count() == Approx(200'000).epsilon(0.01));
  CHECK(m.within.latency.at(1).count() == Approx(200'000).epsilon(0.01));
  CHECK(m.between.eager_limit == INT64_MAX);
  CHECK(m.barrier_overhead.count() == 4'500'000);
}

TEST_CASE("between and within nodes are told apart") {
  const Calibration c = calibrate::calibrate(measurement(true));
  const Machine m = written_and_read(c);
  CHECK(m.between.latency.at(1).count() == Approx(20'000'000).epsilon(0.01));
  CHECK(m.within.latency.at(1).count() == Approx(200'000).epsilon(0.01));
  CHECK(m.between.eager_limit == 65536);
  CHECK(m.within.eager_limit > 1'000'000'000'000);  // that of the network does not hold here
  CHECK(m.within.gap.at(1).count() < 200'000);
}

TEST_CASE("the replay takes as long as was measured, at every size") {
  for (const bool with_between : {true, false}) {
    const Calibration c = calibrate::calibrate(measurement(with_between));
    const Machine m = written_and_read(c);
    for (const SizePoint& p : c.measurement.within->points)
      CHECK(replayed_half_round_trip_ns(m, p.bytes, true) == Approx(p.half_round_trip.ns).epsilon(0.01));
    if (!with_between) continue;
    for (const SizePoint& p : c.measurement.between->points)
      CHECK(replayed_half_round_trip_ns(m, p.bytes, false) == Approx(p.half_round_trip.ns).epsilon(0.01));
  }
}

TEST_CASE("the equations here are those of the replay") {
  for (const char* model : {"base", "loggops"}) {
    Machine m;
    apply_setting(m, "network.model", model, "test");
    for (const auto& [key, value] : far_way) apply_setting(m, key, value, "test");
    apply_setting(m, "receive.per-byte", "0.2ns/B", "test");
    apply_setting(m, "send.per-byte", "0.1ns/B", "test");
    apply_setting(m, "send.epilog", "70ns", "test");
    for (const std::int64_t bytes : {0, 1, 100, 65536, 65537, 1 << 20})
      CHECK(predict(m.between, m.model, bytes).half_round_trip_ns ==
            Approx(replayed_half_round_trip_ns(m, bytes, false)).epsilon(1e-6));
  }
}

TEST_CASE("the residuals are there for programs") {
  const std::string json = to_json(calibrate::calibrate(measurement(true)));
  CHECK_THAT(json, Catch::Matchers::ContainsSubstring("\"model\": \"base\""));
  CHECK_THAT(json, Catch::Matchers::ContainsSubstring("\"eager_limit_bytes\": 65536"));
  CHECK_THAT(json, Catch::Matchers::ContainsSubstring("half_round_trip_residual"));
}
