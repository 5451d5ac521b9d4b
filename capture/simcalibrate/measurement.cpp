#include "capture/simcalibrate/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simreplay::calibrate {
namespace {

void add_noisy(const Way& way, const char* where, std::vector<std::string>& all) {
  struct Column {
    const char* name;
    Statistic SizePoint::*of;
  };
  for (const Column& c :
       {Column{"half round trip", &SizePoint::half_round_trip}, Column{"send", &SizePoint::send},
        Column{"receive", &SizePoint::receive}, Column{"gap", &SizePoint::gap}}) {
    std::string sizes;
    double most = 0;
    for (const SizePoint& p : way.points) {
      // What is a small part of the whole may be known less well.
      const double share = (p.*c.of).ns / std::max(p.half_round_trip.ns, 1.0);
      const double spread = (p.*c.of).spread * std::min(share, 1.0);
      if (spread <= noisy_spread) continue;
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(p.bytes);
      most = std::max(most, (p.*c.of).spread);
    }
    if (!sizes.empty())
      all.push_back(
          fmt::format("{} {} of {} bytes: spread up to {:.0f} %", c.name, where, sizes, 100 * most));
  }
}

}  // namespace

Statistic summarise(std::vector<double> samples, double quantile) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto at = [&](double q) {
    const auto i = static_cast<std::size_t>(q * static_cast<double>(samples.size()));
    return samples[std::min(i, samples.size() - 1)];
  };
  const double value = at(quantile), upper = at(std::max(0.5, quantile + 0.25));
  return {value, value > 0 ? (upper - value) / value : 0};
}

std::vector<std::string> noisy_results(const Measurement& m) {
  std::vector<std::string> all;
  if (m.between) add_noisy(*m.between, "between nodes", all);
  if (m.within) add_noisy(*m.within, "within a node", all);
  if (m.barrier.spread > 2 * noisy_spread)
    all.push_back(fmt::format("barrier: spread {:.0f} %", 100 * m.barrier.spread));
  return all;
}

}  // namespace simreplay::calibrate
