#pragma once
// An output of the switch and the link down to its host: one queue, first in, first out.
//
// While frames of one message alone come, their times follow from two lines (docs/models/ethernet.md); where
// those of several meet, they are taken one by one. Nothing is computed before an arrival hangs on it.

#include <cstdint>
#include <queue>
#include <vector>

#include "common/units.hpp"
#include "replay/network/ethernet/figures.hpp"
#include "replay/network/ethernet/switched_settings.hpp"
#include "replay/network/ethernet/train.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

struct PortFigures {
  std::int64_t frames = 0;
  Duration busy{};
  Times queued;  // frames
  Arrived arrived;
};

class Port {
 public:
  Port(const SwitchedSettings& settings, const Ratio& rate);

  void accept(const Train& train) { trains_.push(train); }
  /// Serves all frames that are ready before `until`.
  void serve(TimePoint until, std::vector<network::Arrival>& arrivals);
  const PortFigures& figures() const { return figures_; }

 private:
  TimePoint alone_until(const Train& train, TimePoint until) const;
  void serve_full_frames(Train& train, TimePoint until);
  void serve_last_frame(const Train& train, std::vector<network::Arrival>& arrivals);
  void count_queued(TimePoint first, Duration gap, std::int64_t frames);

  const SwitchedSettings& settings_;
  Ratio rate_;
  Duration full_frame_;  // on the link
  std::priority_queue<Train, std::vector<Train>, std::greater<>> trains_;
  TimePoint free_{};
  PortFigures figures_;
};

}  // namespace simreplay::ethernet
