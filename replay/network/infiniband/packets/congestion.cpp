// Congestion control (InfiniBand Architecture Specification, volume 1, annex A10). Switches mark packets that
// leave a full buffer (FECN), the destination tells the source (BECN), which pauses between packets of that
// flow by an index into a table; the index falls with time.

#include <algorithm>

#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {
namespace {

std::uint64_t flow(std::int32_t source, std::int32_t destination) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(destination);
}

}  // namespace

/// By what waits for the same output and lane in all inputs, the packet itself left out. Threshold 15: from
/// one sixteenth of a buffer on; 1: from fifteen of them on; 0: never. A port that waited for credits is not
/// where the congestion comes from.
void PacketNetwork::mark(Packet& p, SendLane& lane, bool had_credits) {
  if (settings_.cc_threshold == 0 || !had_credits || p.bytes < settings_.cc_minimum_packet) return;
  if (16 * std::int64_t{lane.queued} < (16 - settings_.cc_threshold) * settings_.switch_buffer) return;
  if (lane.unmarked < settings_.cc_marking_rate) {
    lane.unmarked++;
    return;
  }
  lane.unmarked = 0;
  p.flags |= Packet::marked;
}

/// The notice goes back on an idle path: it takes no part in the traffic.
void PacketNetwork::send_notice(const Packet& p, TimePoint now) {
  constexpr std::int64_t payload = 0;
  const std::vector<Stage> way =
      stages_of(p.destination, p.source, payload, level_of(p.destination, p.source, by_tables), false);
  TimePoint t = now + way.back().time[0] + way.back().cable;
  for (const Stage& s : way) t += s.to_next[0];
  const Node source = fabric_.host(p.source);
  const Handover h{.time = t,
                   .place = fabric_.first_port(source),
                   .part = parts_.of(source),
                   .kind = Handover::notice,
                   .source = p.source,
                   .destination = p.destination};
  if (mine(source)) {
    accept(h);
  } else {
    handovers_.push_back(h);
  }
}

/// With the time that has passed: the index falls by one after each period of the timer.
void PacketNetwork::recover(Slowness& s, TimePoint now) const {
  const std::int64_t fallen = (now - s.since) / settings_.ccti_timer;
  s.since += fallen * settings_.ccti_timer;
  s.index = std::max(settings_.ccti_minimum, s.index - fallen);
}

void PacketNetwork::on_notice(const Event& e) {
  const auto port = static_cast<Port>(e.key & ((1U << kind_shift) - 1));
  const std::int32_t source = fabric_.node_of(port) - fabric_.switches();
  Slowness& s =
      slow_flows_.try_emplace(flow(source, e.data), Slowness{settings_.ccti_minimum, e.time}).first->second;
  recover(s, e.time);
  s.index = std::min(settings_.ccti_limit, s.index + settings_.ccti_increase);
}

/// After a packet of a slowed flow, its lane pauses.
void PacketNetwork::slow_down(Port p, int lane, const Message& sender, TimePoint now, TimePoint end) {
  std::int64_t index = settings_.ccti_minimum;
  if (const auto found = slow_flows_.find(flow(sender.source, sender.destination));
      found != slow_flows_.end()) {
    recover(found->second, now);
    index = found->second.index;
  }
  if (index == 0) return;
  const Duration packet = time_of(p, settings_.mtu + settings_.packet_header);
  const auto& table = settings_.cc_table;
  const Duration pause = table.empty()
                             ? index * packet
                             : packet * std::int64_t{table[static_cast<std::size_t>(index)].multiplier} /
                                   (std::int64_t{1} << table[static_cast<std::size_t>(index)].shift);
  // Whatever is next in the lane: the rest of the message or another one.
  if (const std::int32_t next = send_lane(p, lane).first; next != nothing)
    messages_[next].not_before = end + pause;
}

}  // namespace simreplay::infiniband
