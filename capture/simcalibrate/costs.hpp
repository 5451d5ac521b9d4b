#pragma once
// From measured times to the costs of a machine file, and back: what a machine predicts for what was
// measured.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/simcalibrate/measurement.hpp"
#include "common/machine.hpp"

namespace simreplay::calibrate {

/// What the model of docs/models/costs.md says to the measured quantities, in nanoseconds.
struct Prediction {
  double half_round_trip_ns = 0;
  double send_ns = 0;      // as SizePoint::send
  double receive_ns = 0;   // as SizePoint::receive; 0 for a rendezvous
  double gap_ns = 0;       // between messages of a stream whose receives were posted before
  double exchange_ns = 0;  // as SizePoint::exchange
};
Prediction predict(const MessageCosts& costs, Machine::Model model, std::int64_t bytes);

/// Keys of a machine file without a prefix ("send.prolog") and their values.
using Settings = std::map<std::string, std::string>;

/// Costs of one way under this model.
Settings fit_costs(const Way& way, Machine::Model model);
/// As a machine of these settings.
MessageCosts costs_of(const Settings& settings, Machine::Model model);

/// How far a machine is from what was measured: relative deviations.
struct Deviations {
  double half_round_trip_most = 0, half_round_trip_mean = 0;
  double gap_most = 0, gap_mean = 0;
  double overheads_mean = 0;                    // of send and receive, relative to the half round trip
  double exchange_most = 0, exchange_mean = 0;  // not part of the score: no cost is fitted to it
  double score() const { return half_round_trip_mean + gap_mean + overheads_mean; }
};
Deviations deviations(const Way& way, const MessageCosts& costs, Machine::Model model);

/// The model that comes nearer to the measurement on all ways; base if there is little between them.
Machine::Model choose_model(const Measurement& measurement);

}  // namespace simreplay::calibrate
