// Which lane is next, where several have a packet that can start (InfiniBand Architecture Specification,
// volume 1, 7.6.9).

#include <bit>

#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {
namespace {

/// The lane of the entry at hand, while it has weight left; else of the next entry whose lane can send.
int next_in(const LaneTable& table, unsigned able, std::uint8_t& entry, std::int16_t& left) {
  const auto serves = [&](std::size_t i) {
    return i < table.size() && table[i].weight > 0 && (able >> table[i].lane & 1U) != 0;
  };
  if (left > 0 && serves(entry)) return table[entry].lane;
  for (std::size_t n = 1; n <= table.size(); n++) {
    const std::size_t i = (entry + n) % table.size();
    if (!serves(i)) continue;
    entry = static_cast<std::uint8_t>(i);
    left = table[i].weight;
    return table[i].lane;
  }
  return -1;
}

}  // namespace

int PacketNetwork::arbitrate(Port p, unsigned able) {
  constexpr std::int64_t no_limit = 255, limit_unit = 4096;
  LaneTurn& o = turns_[static_cast<std::size_t>(p)];
  const unsigned high = able & high_lanes_, low = able & low_lanes_;
  const bool high_may = settings_.high_limit == no_limit || o.high_sent == 0 ||
                        o.high_sent < settings_.high_limit * limit_unit || low == 0;
  const bool takes_high = high != 0 && high_may;
  const int lane = takes_high ? next_in(settings_.high_table, high, o.high_entry, o.high_left)
                              : next_in(settings_.low_table, low, o.low_entry, o.low_left);
  const std::int32_t blocks = head_blocks(p, lane);
  (takes_high ? o.high_left : o.low_left) -= static_cast<std::int16_t>(blocks);
  o.high_sent = !takes_high || low == 0 ? 0 : o.high_sent + blocks * credit_block;
  return lane;
}

int PacketNetwork::oldest_lane(Port p, unsigned able) const {
  int best = -1;
  TimePoint oldest = TimePoint::max();
  for (; able != 0; able &= able - 1) {
    const int lane = std::countr_zero(able);
    const std::int32_t head = send_[lane_index(p, lane)].first;
    const TimePoint t = out(p).from_host ? messages_[head].requested : packets_[head].requested;
    if (t >= oldest) continue;
    oldest = t;
    best = lane;
  }
  return best;
}

}  // namespace simreplay::infiniband
