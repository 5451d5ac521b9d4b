// The hot path: events, requests for outputs, starts of packets.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {

PacketNetwork::Route PacketNetwork::route(Node sw, Port in, std::int32_t destination,
                                          std::uint8_t level) const {
  const int number = tables_.port(sw, fabric_.lid(fabric_.host(destination)));
  const Port out = fabric_.port(sw, number);
  return {out, tables_.lane(in, out, level)};
}

/// From the head's coming in, from the cable behind `from`, to its going out, so that the tail is in before
/// it has to leave.
Duration PacketNetwork::forwarding_time(Port from, Port to, std::int64_t bytes) const {
  if (settings_.forwarding == Forwarding::store_and_forward)
    return time_of(from, bytes) + settings_.switch_delay;
  Duration d = settings_.switch_delay;
  if (settings_.header_wait > 0) d += time_of(from, settings_.header_wait);
  if (rate_of(from) != rate_of(to)) d += std::max(Duration{0}, time_of(from, bytes) - time_of(to, bytes));
  return d;
}

void PacketNetwork::advance(TimePoint until) {
  TimePoint last = advanced_to_;
  for (;;) {
    const TimePoint next = events_.next();
    if (!waiting_.empty() && waiting_.top().time <= next) {
      if (waiting_.top().time >= until) break;
      const Waiting w = waiting_.top();
      waiting_.pop();
      last = w.time;
      start_message(w);
    } else {
      if (next >= until) break;
      last = next;
      if (large_) fetch_ahead();
      process(events_.pop());
    }
    processed_++;
  }
  advanced_to_ = std::max(advanced_to_, until == EventQueue::never ? last : until);
}

void PacketNetwork::process(const Event& e) {
  switch (static_cast<Kind>(e.key >> kind_shift)) {
    case ready:
      return on_ready(e);
    case input_free:
      return on_input_free(e);
    case output_free:
      return on_output_free(e);
    case train_end:
      if (trains_[e.data].message != nothing) break_train(e.data, e.time);
      return;
    case notice:
      return on_notice(e);
  }
}

/// A packet is through with the delay of a switch.
void PacketNetwork::on_ready(const Event& e) {
  Packet& p = packets_[e.data];
  if (out(p.out).train != nothing) return break_train_for(e, p.out);
  ReceiveLane& queue = receive_[lane_index(p.in, p.lane)];
  if (settings_.congestion_control) send_lane(p.out, p.out_lane).queued += p.bytes;
  if (queue.first != nothing) {
    packets_[queue.last].next = e.data;
    queue.last = e.data;
    return;
  }
  queue.first = queue.last = e.data;
  if (queue.busy_until > e.time) {
    events_.push(event(queue.busy_until, input_free, static_cast<std::int32_t>(lane_index(p.in, p.lane))));
    return;
  }
  request(e.data, e.time);
  serve(p.out, e.time);
}

/// The packet at the head of an input queue has left; the next one asks for its output. All inputs that are
/// free at one time ask before their outputs choose.
void PacketNetwork::on_input_free(const Event& e) {
  const auto place = static_cast<std::size_t>(e.key & ((1U << kind_shift) - 1));
  const std::int32_t head = receive_[place].first;
  const Port to = packets_[head].out;
  if (out(to).train != nothing) return break_train_for(e, to);
  request(head, e.time);
  OutPort& o = out(to);
  if (o.busy_until > e.time) return wake(to, o.busy_until);
  if (o.wake_at == e.time || more_inputs_free(to, e.time)) return wake(to, e.time);
  o.wake_at = EventQueue::never;
  serve(to, e.time);
}

/// Whether another input queue of the same switch becomes free at this time, after one of them has. They come
/// one after the other.
bool PacketNetwork::more_inputs_free(Port to, TimePoint now) const {
  const Event* e = events_.peek();
  if (e == nullptr || e->time > now || e->key >> kind_shift != input_free) return false;
  const auto place = static_cast<std::size_t>(e->key & ((1U << kind_shift) - 1));
  const Node sw = fabric_.node_of(to);
  return place >= lane_index(fabric_.first_port(sw), 0) && place < lane_index(fabric_.first_port(sw + 1), 0);
}

void PacketNetwork::on_output_free(const Event& e) {
  const auto p = static_cast<Port>(e.key & ((1U << kind_shift) - 1));
  OutPort& o = out(p);
  if (o.wake_at != e.time) return;  // an earlier one has done it
  o.wake_at = EventQueue::never;
  if (o.train != nothing) {
    // Requests break trains at once, so only messages behind the train can be waited for.
    if (!o.from_host) return;
    const Train& train = trains_[o.train];
    if (e.time < train.source_end) {
      if (messages_[train.message].next != nothing) wake(p, train.source_end);
      return;
    }
    break_train(o.train, e.time);
  }
  serve(p, e.time);
}

void PacketNetwork::request(std::int32_t packet, TimePoint now) {
  Packet& p = packets_[packet];
  p.requested = now;
  SendLane& lane = send_lane(p.out, p.out_lane);
  if (lane.first == nothing) {
    lane.first = packet;
  } else {
    packets_[lane.last].next_request = packet;
  }
  lane.last = packet;
  OutPort& o = out(p.out);
  o.waiting = static_cast<std::uint16_t>(o.waiting | (1U << p.out_lane));
}

void PacketNetwork::wake(Port p, TimePoint t) {
  OutPort& o = out(p);
  if (t >= o.wake_at) return;  // that one will see to what comes later
  o.wake_at = t;
  events_.push(event(t, output_free, p));
}

/// Starts a packet if one can start now; otherwise sees to it that the port is looked after when one can.
void PacketNetwork::serve(Port p, TimePoint now) {
  OutPort& o = out(p);
  if (o.waiting == 0) return;
  if (o.busy_until > now) return wake(p, o.busy_until);
  const int lane = choose_lane(p, now);
  if (lane < 0) return;
  if (o.from_host) {
    if (!send_from_host(p, lane, now)) return;
  } else {
    const std::int32_t packet = take_choice(p, lane);
    o.last_input = packets_[packet].in;
    transmit(packet, p, lane, now);
  }
  if (o.waiting != 0) wake(p, o.busy_until);
}

/// Of the packets that want this output and lane, the one whose turn it is, and the one before it in the
/// queue.
PacketNetwork::Choice PacketNetwork::choice(Port p, int lane) const {
  Choice best{send_[lane_index(p, lane)].first, nothing};
  if (settings_.input_order == InputOrder::fcfs) return best;
  return choice_in_turn(p, best);
}

PacketNetwork::Choice PacketNetwork::choice_in_turn(Port p, Choice best) const {
  const Port last = out(p).last_input;
  const auto distance = [&](std::int32_t i) {
    const Port in = packets_[i].in;
    return in > last ? in - last : in - last + fabric_.all_ports();
  };
  for (std::int32_t i = best.packet; packets_[i].next_request != nothing; i = packets_[i].next_request)
    if (distance(packets_[i].next_request) < distance(best.packet)) best = {packets_[i].next_request, i};
  return best;
}

std::int32_t PacketNetwork::head_blocks(Port p, int lane) const {
  if (!out(p).from_host) return blocks_of(packets_[choice(p, lane).packet].bytes);
  const Message& m = messages_[send_[lane_index(p, lane)].first];
  return blocks_of(packet_bytes(m, m.sent));
}

bool PacketNetwork::able(Port p, int lane, TimePoint now) {
  SendLane& s = send_lane(p, lane);
  if (settings_.congestion_control && out(p).from_host && messages_[s.first].not_before > now) return false;
  credits_.collect(s, now);
  return s.available >= head_blocks(p, lane);
}

/// Looks after the port when the head of the lane can start: at a known time, or as soon as it is known.
void PacketNetwork::await(Port p, int lane, TimePoint now) {
  SendLane& s = send_lane(p, lane);
  if (out(p).from_host && messages_[s.first].not_before > now) return wake(p, messages_[s.first].not_before);
  std::int32_t missing = head_blocks(p, lane) - s.available;
  s.missing = 0;
  for (unsigned i = 0; i < s.ring_count && missing > 0; i++) {
    missing -= credits_.at(s, i).blocks;
    if (missing <= 0) return wake(p, credits_.at(s, i).time);
  }
  s.missing = missing;
}

/// What a lane sends while no other waits counts for nothing.
int PacketNetwork::choose_lane(Port p, TimePoint now) {
  OutPort& o = out(p);
  if ((o.waiting & (o.waiting - 1U)) == 0) {
    const int lane = std::countr_zero(o.waiting);
    if (able(p, lane, now)) return lane;
    await(p, lane, now);
    return -1;
  }
  unsigned can = 0;
  for (unsigned rest = o.waiting; rest != 0; rest &= rest - 1)
    if (const int lane = std::countr_zero(rest); able(p, lane, now)) can |= 1U << lane;
  if (can == 0) {
    for (unsigned rest = o.waiting; rest != 0; rest &= rest - 1) await(p, std::countr_zero(rest), now);
    return -1;
  }
  return settings_.lane_order == LaneOrder::tables ? arbitrate(p, can) : oldest_lane(p, can);
}

/// Takes the packet whose turn it is out of the queue for an output and lane.
std::int32_t PacketNetwork::take_choice(Port p, int lane) {
  SendLane& s = send_lane(p, lane);
  const auto [packet, before] = choice(p, lane);
  const std::int32_t next = packets_[packet].next_request;
  (before == nothing ? s.first : packets_[before].next_request) = next;
  if (s.last == packet) s.last = before;
  packets_[packet].next_request = nothing;
  OutPort& o = out(p);
  if (s.first == nothing) o.waiting = static_cast<std::uint16_t>(o.waiting & ~(1U << lane));
  return packet;
}

/// Cuts the next packet off the first message of a lane. False if the message became a train instead.
bool PacketNetwork::send_from_host(Port p, int lane, TimePoint now) {
  SendLane& s = send_lane(p, lane);
  const std::int32_t index = s.first;
  Message& m = messages_[index];
  if (m.sent == 0) {
    m.adapter_wait = now - m.requested;
    if (settings_.trains > 0 && m.packets >= std::max<std::int64_t>(2, settings_.trains) &&
        start_train(p, lane, index, now))
      return false;
  }
  const std::int32_t i = packets_.take();
  Packet& packet = packets_[i];
  packet.source = m.source;
  packet.destination = m.destination;
  packet.bytes = static_cast<std::uint16_t>(packet_bytes(m, m.sent));
  packet.level = m.level;
  packet.ready = packet.requested = m.requested;
  if (++m.sent == m.packets) {
    packet.flags = Packet::last;
    packet.message = index;
    s.first = m.next;
    m.next = nothing;
    OutPort& o = out(p);
    if (s.first == nothing) {
      s.last = nothing;
      o.waiting = static_cast<std::uint16_t>(o.waiting & ~(1U << lane));
    }
  }
  const TimePoint end = now + time_of(p, packet.bytes);
  if (!(packet.flags & Packet::last)) m.requested = end;
  if (settings_.congestion_control) slow_down(p, lane, m, now, end);
  transmit(i, p, lane, now);
  return true;
}

void PacketNetwork::transmit(std::int32_t index, Port p, int lane, TimePoint now) {
  OutPort& o = out(p);
  Packet& packet = packets_[index];
  const Duration time = time_of(p, packet.bytes);
  const TimePoint end = now + time;
  PortFigures& f = figures_.ports[static_cast<std::size_t>(p)];
  f.packets++;
  f.bytes += packet.bytes;
  f.busy += time;
  f.queued += now - packet.ready;
  f.stalled += now - std::max(packet.requested, o.busy_until);
  if (figures_.bin.count() > 0) figures_.add_to_bins(p, now, end);
  const bool had_credits = now == std::max(packet.requested, o.busy_until);
  o.busy_until = end;
  SendLane& s = send_lane(p, lane);
  s.available -= blocks_of(packet.bytes);
  if (packet.in != nothing) {
    packet.waited += now - packet.ready;
    if (settings_.congestion_control) {
      s.queued -= packet.bytes;
      mark(packet, s, had_credits);
    }
    leave_input(packet, end);
  }
  pass_on(index, p, lane, now, end);
}

void PacketNetwork::leave_input(Packet& p, TimePoint end) {
  const std::size_t place = lane_index(p.in, p.lane);
  ReceiveLane& queue = receive_[place];
  queue.busy_until = end;
  queue.first = p.next;
  p.next = nothing;
  if (queue.first == nothing) {
    queue.last = nothing;
  } else {
    events_.push(event(end, input_free, static_cast<std::int32_t>(place)));
  }
  give_credit(p.from, p.lane, end, blocks_of(p.bytes));
}

void PacketNetwork::pass_on(std::int32_t index, Port p, int lane, TimePoint now, TimePoint end) {
  const OutPort& o = out(p);
  if (o.to_host) return reach_host(index, p, lane, end);
  Packet& packet = packets_[index];
  const Node sw = o.next_node;
  const Route next = route(sw, o.peer, packet.destination, packet.level);
  packet.in = o.peer;
  packet.from = p;
  packet.lane = static_cast<std::uint8_t>(lane);
  packet.out = next.out;
  packet.out_lane = next.lane;
  packet.ready = now + o.delay + forwarding_time(p, next.out, packet.bytes);
  if (!mine(sw)) return hand_over(index);
  events_.push(event(packet.ready, ready, packet.in, index));
}

void PacketNetwork::reach_host(std::int32_t index, Port p, int lane, TimePoint end) {
  Packet& packet = packets_[index];
  const TimePoint tail = end + out(p).delay;
  give_credit(p, lane, tail, blocks_of(packet.bytes));
  if (packet.flags & Packet::marked) send_notice(packet, tail);
  if (packet.flags & Packet::last) deliver(packet, tail);
  packets_.give_back(index);
}

void PacketNetwork::deliver(const Packet& p, TimePoint tail) {
  const Message& m = messages_[p.message];
  arrivals_.push_back({m.id, m.source, m.destination, m.bytes, m.injected, tail + receiving(m.bytes),
                       m.software, m.adapter_wait, p.waited, m.payload});
  figures_.messages++;
  figures_.bytes += m.bytes;
  figures_.latency.add(arrivals_.back().latency());
  figures_.end = std::max(figures_.end, tail);
  messages_.give_back(p.message);
}

TimePoint PacketNetwork::credit_leaves(TimePoint freed) const {
  TimePoint t = freed + settings_.credit_delay;
  if (settings_.credit_period.count() > 0) {
    const auto rest = t.time_since_epoch() % settings_.credit_period;
    if (rest.count() > 0) t += settings_.credit_period - rest;
  }
  return t;
}

/// A buffer behind port `p` is free from `freed` on.
void PacketNetwork::give_credit(Port p, int lane, TimePoint freed, std::int32_t blocks) {
  const SendLane& s = send_lane(p, lane);
  const TimePoint t = credit_leaves(freed) + s.credit_way;
  if (s.part == me_) return take_credit(p, lane, t, blocks);
  Handover h{.time = t, .place = p, .part = s.part, .kind = Handover::credit};
  h.lane = static_cast<std::uint8_t>(lane);
  h.blocks = static_cast<std::uint16_t>(blocks);
  handovers_.push_back(h);
}

void PacketNetwork::take_credit(Port p, int lane, TimePoint t, std::int32_t blocks) {
  SendLane& s = send_lane(p, lane);
  credits_.push(s, t, blocks);
  if (s.missing <= 0) return;
  s.missing -= blocks;
  if (s.missing <= 0) wake(p, t);
}

void PacketNetwork::hand_over(std::int32_t index) {
  const Packet& p = packets_[index];
  Handover h{
      .time = p.ready, .place = p.in, .part = parts_.of(fabric_.node_of(p.in)), .kind = Handover::packet};
  h.lane = p.lane;
  h.level = p.level;
  h.flags = p.flags;
  h.bytes = p.bytes;
  h.source = p.source;
  h.destination = p.destination;
  h.waited = p.waited;
  if (p.flags & Packet::last) {
    const Message& m = messages_[p.message];
    h.id = m.id;
    h.message_bytes = m.bytes;
    h.injected = m.injected;
    h.software = m.software;
    h.payload = m.payload;
    h.adapter_wait = m.adapter_wait;
    messages_.give_back(p.message);
  }
  handovers_.push_back(h);
  packets_.give_back(index);
}

void PacketNetwork::accept(const Handover& h) {
  if (h.kind == Handover::credit) return take_credit(h.place, h.lane, h.time, h.blocks);
  if (h.kind == Handover::notice) {
    events_.push(event(h.time, notice, h.place, h.destination));
    return;
  }
  const std::int32_t index = packets_.take();
  Packet& p = packets_[index];
  p.source = h.source;
  p.destination = h.destination;
  p.in = h.place;
  p.from = fabric_.peer(p.in);
  p.bytes = h.bytes;
  p.lane = h.lane;
  p.level = h.level;
  p.flags = h.flags;
  p.ready = h.time;
  p.waited = h.waited;
  const Route next = route(fabric_.node_of(p.in), p.in, p.destination, p.level);
  p.out = next.out;
  p.out_lane = next.lane;
  if (p.flags & Packet::last) {
    p.message = messages_.take();
    Message& m = messages_[p.message];
    m.id = h.id;
    m.bytes = h.message_bytes;
    m.injected = h.injected;
    m.software = h.software;
    m.payload = h.payload;
    m.adapter_wait = h.adapter_wait;
    m.source = h.source;
    m.destination = h.destination;
  }
  events_.push(event(p.ready, ready, p.in, index));
}

}  // namespace simreplay::infiniband
