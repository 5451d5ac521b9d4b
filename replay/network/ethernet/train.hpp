#pragma once
// Frames of one message on their way to an output of the switch: full ones at equal distances, and the last
// one. All times are those at which a frame is ready for the output.

#include <cstdint>
#include <tuple>

#include "common/units.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

struct Train {
  network::Message message;
  std::int64_t full = 0;  // frames of a whole mtu; the last of the message is never among them
  TimePoint first{};      // of them
  Duration gap{};
  bool ends = false;  // there is the last frame of the message
  TimePoint last{};   // of it

  TimePoint next() const { return full > 0 ? first : last; }
  /// When something must be known of it: its arrival hangs on the last frame alone.
  TimePoint due() const { return ends ? last : first; }

  /// Frames of different hosts leave in the order in which they came; ties in the order of hosts and
  /// messages.
  auto order() const { return std::tuple(next(), message.source, message.id); }
  friend bool operator>(const Train& a, const Train& b) { return a.order() > b.order(); }
};

}  // namespace simreplay::ethernet
