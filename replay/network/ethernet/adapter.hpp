#pragma once
// The adapter of a host and its link up to the switch: messages one after the other, frame by frame.

#include <cstdint>
#include <queue>
#include <vector>

#include "common/units.hpp"
#include "replay/network/ethernet/figures.hpp"
#include "replay/network/ethernet/switched_settings.hpp"
#include "replay/network/ethernet/train.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

struct AdapterFigures {
  std::int64_t messages = 0, bytes = 0, frames = 0;
  Duration busy{};
  Times queued;  // messages behind others
};

class Adapter {
 public:
  Adapter(const SwitchedSettings& settings, const Ratio& rate);

  void inject(const network::Message& message) { waiting_.push(message); }
  /// When it sends next; never if it does not. May become sooner with the next message.
  TimePoint next() const;
  /// Sends what begins at next().
  Train send();
  const AdapterFigures& figures() const { return figures_; }

 private:
  struct Later {
    bool operator()(const network::Message& a, const network::Message& b) const {
      return a.time != b.time ? a.time > b.time : a.id > b.id;
    }
  };
  void take_next(TimePoint now);
  Train full_frames(std::int64_t frames);
  void add_last_frame(Train& train);

  const SwitchedSettings& settings_;
  Ratio rate_;
  Duration full_frame_;  // on the link
  Duration way_;         // from the end of a frame to the output queue
  std::priority_queue<network::Message, std::vector<network::Message>, Later> waiting_;
  network::Message now_{};
  std::int64_t left_ = 0;  // frames of it
  TimePoint free_{};
  AdapterFigures figures_;
};

}  // namespace simreplay::ethernet
