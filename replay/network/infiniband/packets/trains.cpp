// Messages on idle paths go as trains. Whoever asks for something that a train holds breaks it: then all that
// its packets have done so far is written down as if they had gone one by one.

#include <algorithm>

#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {

/// All credits back: nothing is under way behind the port on this lane, or in the buffer there.
bool PacketNetwork::is_idle(Port p, int lane, TimePoint now) {
  const OutPort& o = out(p);
  SendLane& s = send_lane(p, lane);
  if (o.train != nothing || o.busy_until > now || !mine(o.next_node)) return false;
  credits_.collect(s, now);
  return s.available == s.capacity;
}

bool PacketNetwork::path_is_idle(Port p, int lane, const Message& m, TimePoint now) {
  if (out(p).waiting != 1U << lane || !is_idle(p, lane, now)) return false;
  Route at{p, static_cast<std::uint8_t>(lane)};
  while (!out(at.out).to_host) {
    const Port in = out(at.out).peer;
    at = route(fabric_.node_of(in), in, m.destination, m.level);
    if (out(at.out).waiting != 0 || !is_idle(at.out, at.lane, now)) return false;
  }
  return true;
}

bool PacketNetwork::start_train(Port p, int lane, std::int32_t message, TimePoint now) {
  const Message& m = messages_[message];
  if (settings_.congestion_control || !path_is_idle(p, lane, m, now)) return false;
  const std::int32_t index = trains_.take();
  Train& train = trains_[index];
  train.message = message;
  train.start = now;
  train.stages = stages_of(m.source, m.destination, m.bytes, m.level, true);
  TrainRun run(train.stages, m.packets, now);
  run.run_all();
  train.source_end = run.end(0, m.packets - 1);
  for (const Stage& s : train.stages) out(s.out).train = index;
  if (m.next != nothing) wake(p, train.source_end);
  events_.push(event(run.start(train.stages.size() - 1, m.packets - 1), train_end, p, index));
  trains_started_++;
  return true;
}

/// The train is packets now; the event comes again, in its turn among theirs.
void PacketNetwork::break_train_for(const Event& e, Port p) {
  trains_broken_++;
  break_train(out(p).train, e.time);
  events_.push(e);
}

/// Writes down what packets have done before `now`, and what they are going to do from then on.
void PacketNetwork::break_train(std::int32_t index, TimePoint now) {
  const Train train = std::move(trains_[index]);
  trains_[index].message = nothing;
  trains_.give_back(index);
  for (const Stage& s : train.stages) out(s.out).train = nothing;
  TrainRun run(train.stages, messages_[train.message].packets, train.start);
  account(train, run, now);
  for (std::size_t j = 0; j < train.stages.size(); j++) {
    const Stage& s = train.stages[j];
    if (run.started(j) > 0) {
      const TimePoint end = run.end(j, run.started(j) - 1);
      out(s.out).busy_until = end;
      if (s.in != nothing) {
        out(s.out).last_input = s.in;
        receive_[lane_index(s.in, s.in_lane)].busy_until = end;
      }
    }
    restore_credits(train, run, j, now);
  }
  for (std::size_t j = 1; j < train.stages.size(); j++) restore_packets(train, run, j, now);
  restore_source(train, run, now);
}

void PacketNetwork::account(const Train& train, TrainRun& run, TimePoint now) {
  const Message& m = messages_[train.message];
  run.run_until(now, figures_.bin.count() == 0, [&](std::size_t j, std::int64_t k, std::int64_t n) {
    const Stage& s = train.stages[j];
    PortFigures& f = figures_.ports[static_cast<std::size_t>(s.out)];
    const TimePoint start = run.start(j, k);
    const bool first = j == 0 && k == 0;
    const TimePoint requested = first ? std::max(m.requested, out(s.out).busy_until) : run.requested(j, k);
    const TimePoint at_hand = j > 0 ? run.ready(j, k) : first ? m.requested : run.end(0, k - 1);
    f.packets += n;
    f.bytes += n * s.bytes[run.kind(k)];
    f.busy += n * s.time[run.kind(k)];
    f.queued += n * (start - at_hand);
    f.stalled += n * (start - requested);
    if (figures_.bin.count() > 0) figures_.add_to_bins(s.out, start, run.end(j, k));
  });
}

void PacketNetwork::restore_credits(const Train& train, const TrainRun& run, std::size_t j, TimePoint now) {
  const Stage& stage = train.stages[j];
  SendLane& s = send_lane(stage.out, stage.lane);
  const std::int64_t started = run.started(j);
  const std::int64_t known = j + 1 < train.stages.size() ? run.started(j + 1) : started;
  std::int64_t oldest = started;  // whose credits are not back
  while (oldest > 0 && (oldest > known || run.credit(j, oldest - 1) >= now)) oldest--;
  for (std::int64_t k = oldest; k < started; k++) {
    s.available -= stage.blocks[run.kind(k)];
    if (k < known) credits_.push(s, run.credit(j, k), stage.blocks[run.kind(k)]);
  }
}

/// Packets between their start on the link before and their start on this one.
void PacketNetwork::restore_packets(const Train& train, const TrainRun& run, std::size_t j, TimePoint now) {
  const Stage& stage = train.stages[j];
  const std::size_t place = lane_index(stage.in, stage.in_lane);
  const std::int64_t first = run.started(j);
  for (std::int64_t k = first; k < run.started(j - 1); k++) {
    const std::int32_t index = packets_.take();
    Packet& p = packets_[index];
    const Message& m = messages_[train.message];
    p.source = m.source;
    p.destination = m.destination;
    p.level = m.level;
    p.in = stage.in;
    p.from = fabric_.peer(stage.in);
    p.lane = stage.in_lane;
    p.out = stage.out;
    p.out_lane = stage.lane;
    p.bytes = static_cast<std::uint16_t>(stage.bytes[run.kind(k)]);
    p.ready = run.ready(j, k);
    if (k == m.packets - 1) {
      p.flags = Packet::last;
      p.message = train.message;
    }
    for (std::size_t i = 1; i < j; i++) p.waited += run.start(i, k) - run.ready(i, k);
    if (p.ready >= now) {
      events_.push(event(p.ready, ready, p.in, index));
      continue;
    }
    ReceiveLane& queue = receive_[place];
    (queue.first == nothing ? queue.first : packets_[queue.last].next) = index;
    queue.last = index;
  }
  const ReceiveLane& queue = receive_[place];
  if (queue.first == nothing) return;
  if (first > 0 && queue.busy_until >= now) {
    events_.push(event(queue.busy_until, input_free, static_cast<std::int32_t>(place)));
    return;
  }
  request(queue.first, run.requested(j, first));
  wake(stage.out, std::max(now, out(stage.out).busy_until));
}

void PacketNetwork::restore_source(const Train& train, const TrainRun& run, TimePoint now) {
  Message& m = messages_[train.message];
  const Stage& stage = train.stages[0];
  SendLane& s = send_lane(stage.out, stage.lane);
  OutPort& o = out(stage.out);
  m.sent = run.started(0);
  if (m.sent < m.packets) {
    m.requested = run.end(0, m.sent - 1);
  } else {
    s.first = m.next;
    m.next = nothing;
    if (s.first == nothing) {
      s.last = nothing;
      o.waiting = static_cast<std::uint16_t>(o.waiting & ~(1U << stage.lane));
    }
  }
  if (o.waiting != 0) wake(stage.out, std::max(now, o.busy_until));
}

}  // namespace simreplay::infiniband
