#pragma once
// The machine file that a measurement gives, the table of measured and fitted times, and both as JSON.

#include <string>

#include "capture/simcalibrate/costs.hpp"
#include "capture/simcalibrate/measurement.hpp"

namespace simreplay::calibrate {

/// A measurement and the machine fitted to it. The plain keys are those between nodes; on one node its own.
struct Calibration {
  Measurement measurement;
  Machine::Model model = Machine::Model::base;
  Settings between, within;  // of the ways that were measured

  const Settings& plain() const { return measurement.between ? between : within; }
};
Calibration calibrate(Measurement measurement);

/// Measured and fitted times of each size, and how far they are apart, for people.
std::string to_table(const Calibration& calibration);
/// Comments with the facts of the measurement and the table, then the keys.
std::string to_machine_file(const Calibration& calibration);
/// Numbers in nanoseconds.
std::string to_json(const Calibration& calibration);

}  // namespace simreplay::calibrate
