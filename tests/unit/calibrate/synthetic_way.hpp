#pragma once
// Measurements of a machine whose costs are known, with or without noise.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "capture/simcalibrate/costs.hpp"
#include "capture/simcalibrate/measurement.hpp"

namespace simreplay::test {

inline std::vector<std::int64_t> synthetic_sizes() {
  std::vector<std::int64_t> sizes{1, 4, 16};
  for (std::int64_t s = 64; s <= 4 << 20; s *= 2) {
    sizes.push_back(s);
    sizes.push_back(s + s / 2);
  }
  return sizes;
}

/// What simcalibrate would measure, by the equations of docs/models/costs.md.
inline calibrate::Way synthetic_way(const calibrate::Settings& settings, Machine::Model model,
                                    double noise = 0) {
  const MessageCosts costs = calibrate::costs_of(settings, model);
  std::mt19937 random(1);
  const auto measured = [&](double ns) {
    const double disturbance = std::uniform_real_distribution<>(-noise, noise)(random);
    return calibrate::Statistic{ns * (1 + disturbance), noise};
  };
  calibrate::Way way;
  way.hosts = "a to b";
  way.rounds = 100;
  if (costs.eager_limit < INT64_MAX) way.eager_limit = costs.eager_limit;
  std::vector<std::int64_t> sizes = synthetic_sizes();
  if (way.eager_limit) sizes.insert(std::ranges::upper_bound(sizes, *way.eager_limit), *way.eager_limit + 1);
  for (const std::int64_t bytes : sizes) {
    const calibrate::Prediction p = calibrate::predict(costs, model, bytes);
    calibrate::SizePoint point{bytes, measured(p.half_round_trip_ns), measured(p.send_ns),
                               measured(p.receive_ns), measured(p.gap_ns)};
    // Of MPI_Send to a waiting receiver: 2 A + H + 2 L + (B + G) n.
    if (way.is_rendezvous(bytes)) {
      const auto ns = [&](Duration d) { return static_cast<double>(d.count()) / 1e3; };
      point.release =
          measured(2 * ns(costs.send_prolog.at(bytes)) + ns(costs.receive_epilog.at(bytes)) +
                   2 * ns(costs.latency.at(bytes)) +
                   (costs.send_per_byte.at(bytes).value() + costs.gap_per_byte.at(bytes).value()) *
                       static_cast<double>(bytes) / 1e3);
    }
    point.exchange = measured(p.exchange_ns);
    way.points.push_back(point);
  }
  return way;
}

}  // namespace simreplay::test
