// Virtual processors at work: calls one after the other, each as its steps, and the messages between them.
//
// This is where the time of a replay goes. What every call and message passes is inlined into run(); what is
// rare stands in functions of its own.

#include <algorithm>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {
namespace {

using Blocked = Lane::Blocked;

/// Steps that go by what the call took when it was recorded. Collectives beside a process have none.
constexpr bool is_timed(Code code) { return code == Code::elapse || code == Code::leave; }

bool block(Lane& lane, Blocked kind, std::uint32_t on) {
  lane.blocked = kind;
  lane.blocked_on = on;
  return false;
}

/// Waiting ends at the match; what follows until `ready` is the transfer.
inline TimePoint waited_until(TimePoint ready, Duration transfer, TimePoint now, Lane& lane) {
  const TimePoint matched = ready - transfer;
  if (matched > now) lane.waiting += matched - now;
  return std::max(now, ready);
}

/// What is ready at that time passes the adapter when that is free.
inline TimePoint through_adapter(TimePoint ready, const network::Cost& cost, TimePoint now, Lane& lane) {
  if (cost.gap.count() == 0) return now;
  TimePoint& adapter = cost.outwards ? lane.adapter_out : lane.adapter_in;
  const TimePoint start = std::max(ready - cost.lead, adapter);
  adapter = start + cost.gap;
  return std::max(now, start + cost.lead);
}

}  // namespace

// --- messages ---------------------------------------------------------------------------------------------

inline void Engine::dispatch(std::uint32_t channel, Arrival arrival) {
  if (channel & is_remote)
    exchange_.put(channel & ~is_remote, arrival);
  else
    deliver(channel, arrival);
}

[[gnu::always_inline]] inline void Engine::deliver(std::uint32_t channel, Arrival arrival) {
  if (!channels_.has_receive(channel)) return keep(channel, arrival);
  const PendingReceive r = channels_.pop_receive(channel);
  if (r.slot >= of_strand) [[unlikely]]
    return deliver_elsewhere(channel, arrival, r);
  complete(slots_[r.processor][r.slot], arrival);
  const std::uint32_t awaited = awaited_[r.processor];
  if (awaited == r.slot || awaited == anything) make_ready(processors_[r.processor]);
}

void Engine::deliver_batched(std::uint32_t channel, Arrival arrival) { deliver(channel, arrival); }

/// No receive has asked for it yet.
void Engine::keep(std::uint32_t channel, Arrival arrival) {
  channels_.push_arrival(channel, arrival);
  VirtualProcessor& v = processors_[channels_.processor(channel)];
  const bool awaited = v.main.blocked == Blocked::on_channel && v.main.blocked_on == channel;
  if (awaited || !v.order.empty() || v.threads) make_ready(v);
}

/// To a collective under way, or to nobody: given up by MPI_Request_free, or outside of what was recorded.
void Engine::deliver_elsewhere(std::uint32_t channel, Arrival arrival, PendingReceive r) {
  if (r.slot == no_slot) {
    match(channel, arrival.kind, arrival.time, compiler_.costs()[network::CostTable::free]);
    return;
  }
  VirtualProcessor& v = processors_[r.processor];
  complete(v.strands[(r.slot & ~of_strand) >> strand_shift].slots[r.slot & strand_slot_mask], arrival);
  make_ready(v);
}

/// The message (or answer) that a pending slot was posted for has come.
[[gnu::always_inline]] inline void Engine::complete(Slot& slot, const Arrival& a) {
  const TimePoint matched = std::max(a.time, at(slot.time_ps));
  slot.time_ps = 0;
  slot.arrival_ps = ps_of(matched);
  if (a.kind != Kind::eager) [[unlikely]]
    complete_matched(slot, a.kind, matched);
}

void Engine::complete_matched(Slot& slot, Kind kind, TimePoint matched) {
  const network::Cost& cost = compiler_.costs()[slot.cost];
  slot.arrival_ps = ps_of(match(slot.channel, kind, matched, cost));
  if (kind != Kind::synchronous) slot.time_ps = cost.transfer.count();
}

/// A message met its receive at `time`: the sender is told if it waits for that. Returns when the data is
/// there.
TimePoint Engine::match(std::uint32_t channel, Kind kind, TimePoint time, const network::Cost& cost) {
  if (kind == Kind::eager || kind == Kind::answer) return time;
  if (channel >= answer_channel_.size()) answer_channel_.resize(channel + 1, no_channel);
  if (answer_channel_[channel] == no_channel)
    answer_channel_[channel] = channel_to(answer_to(channels_.envelope(channel)));
  const bool asked = kind == Kind::rendezvous;
  dispatch(answer_channel_[channel], {time + (asked ? cost.released : cost.acknowledge), Kind::answer});
  return asked ? time + cost.transfer : time;
}

// --- one virtual processor --------------------------------------------------------------------------------

void Engine::run(VirtualProcessor& v) {
  if (v.finished || (v.row == v.window.rows && !refill(v))) return;
  if (v.threads) [[unlikely]]
    return run_threads(v);
  const std::uint32_t self = number_of(v);
  awaited_[self] = nothing;
  for (; v.row < v.window.rows; v.row++)
    if (!run_call(v)) {
      if (v.main.blocked == Blocked::on_slot) awaited_[self] = v.main.blocked_on;
      return;
    }
  make_ready(v);  // a turn ends with the window, so that no process runs far ahead of those that hear it
}

/// False where the call cannot go on; its steps are then taken up again.
[[gnu::always_inline]] inline bool Engine::run_call(VirtualProcessor& v) {
  const Call* const call = &v.program.calls[v.window.signature[v.row]];
  if (v.step == between_calls) {
    v.main.now += computation_before(v, *call, v.main.now);
    v.entered = v.main.now;
    v.step = call->first;
  }
  if (!interpret(v, v.main, v.slots.data(), v.program.steps.data(), v.step, call[1].first, v.row))
    return false;
  v.account.messages += call->messages;
  v.step = between_calls;
  if (rewritten_) note_duration(v, v.row, v.main.now - v.entered);
  return true;
}

void Engine::note_duration(VirtualProcessor& v, std::uint32_t row, Duration taken) const {
  const Duration recorded{as_recorded_ ? v.window.duration[row] * tick_ps_ : 0};
  v.window.duration[row] = (recorded + taken).count();
}

/// How long the process computes from `begin` until it makes the call.
[[gnu::always_inline]] inline Duration Engine::computation_before(VirtualProcessor& v, const Call& call,
                                                                  TimePoint begin) {
  const std::int64_t overhead = v.overhead_ps[static_cast<std::size_t>(v.recorded)];
  v.recorded = call.recording;
  const std::int64_t gap = v.window.computation[v.row] * tick_ps_ - overhead;
  if (is_special_) [[unlikely]]
    return special_computation(v, gap, overhead, begin);
  const Duration computation = gap > 0 ? v.slowdown.times(Duration{gap}) : Duration{0};
  v.account.computation += computation;
  if (rewritten_) v.window.computation[v.row] = computation.count();
  return computation;
}

/// With noise, or on the machine that recorded. There nothing is left of times without costs but how far they
/// move against the recorded ones, when the overhead before each call is taken away. A call that takes a
/// message ends moved as its process or as the sender of the message, whichever moved less: so much is sure
/// without knowing which of them was waited for.
Duration Engine::special_computation(VirtualProcessor& v, std::int64_t gap_ps, std::int64_t overhead_ps,
                                     TimePoint begin) {
  Duration computation{std::max<std::int64_t>(gap_ps, 0)}, moves{};
  if (as_recorded_) {
    moves = -Duration{std::min(gap_ps + overhead_ps, overhead_ps)};
  } else if (gap_ps > 0) {
    computation =
        noise_.on(v.slowdown.times(computation), v.process, v.window.first_row + v.row - v.first_call, begin);
    moves = computation;
  }
  v.account.computation += computation;
  v.window.computation[v.row] = computation.count();
  return moves;
}

Duration Engine::computation_of_thread(VirtualProcessor& v, std::uint16_t signature, TimePoint begin) {
  return computation_before(v, v.program.calls[signature], begin);
}

/// Runs steps up to `end`; false where a message is missing: the step is then tried again.
[[gnu::always_inline]] inline bool Engine::interpret(VirtualProcessor& v, Lane& lane, Slot* slots,
                                                     const Step* steps, std::uint32_t& step,
                                                     std::uint32_t end, std::uint32_t row) {
  const network::Cost* const costs = compiler_.costs().all();
  const Step *at_step = steps + step, *const last = steps + end;
  TimePoint now = lane.now;
  lane.blocked = Blocked::no;
  const auto stop_at = [&](Blocked kind, std::uint32_t on) {
    step = static_cast<std::uint32_t>(at_step - steps);
    lane.now = now;
    return block(lane, kind, on);
  };
  for (; at_step != last; at_step++) {
    const Step s = *at_step;
    const network::Cost& cost = costs[s.cost()];
    switch (s.code()) {
      case Code::start:
        slots[s.slot] = {};
        [[fallthrough]];
      case Code::send: {
        now = through_adapter(now, cost, now, lane);
        const Kind kind = s.code() == Code::start ? Kind::eager : static_cast<Kind>(s.slot);
        dispatch(s.channel, {now + cost.flight, kind});
        now += cost.busy;
        break;
      }
      case Code::post:
        now += cost.before;
        [[fallthrough]];
      case Code::listen: {
        Slot& slot = slots[s.slot];
        slot = {Slot::pending, ps_of(now), s.cost(), s.channel};
        if (channels_.has_arrival(s.channel))
          complete(slot, channels_.pop_arrival(s.channel));
        else
          channels_.push_receive(s.channel, {number_of(v), lane.slot_tag | s.slot});
        break;
      }
      case Code::fill:
        slots[s.slot] = {s.channel == 0 ? 0 : Slot::in_file};
        break;
      case Code::wait:
        for (; lane.waited < s.channel; lane.waited++) {
          const Slot& slot = slots[s.slot + lane.waited];
          if (slot.arrival_ps < 0) [[unlikely]] {
            if (slot.arrival_ps == Slot::pending) return stop_at(Blocked::on_slot, s.slot + lane.waited);
            now = file_done(v, now, row);
            continue;
          }
          const network::Cost& of_message = costs[slot.cost];
          now = waited_until(at(slot.arrival_ps), Duration{slot.time_ps}, now + cost.before, lane);
          now = through_adapter(at(slot.arrival_ps), of_message, now, lane) + of_message.busy;
        }
        lane.waited = 0;
        break;
      case Code::take: {
        if (!channels_.has_arrival(s.channel)) return stop_at(Blocked::on_channel, s.channel);
        const Arrival a = channels_.pop_arrival(s.channel);
        now = waited_until(a.time, Duration{0}, now + cost.before, lane);
        if (a.kind != Kind::eager) now = match(s.channel, a.kind, now, cost);
        now = through_adapter(now, cost, now, lane) + cost.busy;
        break;
      }
      case Code::advance:
        now += cost.busy;
        break;
      default:
        lane.now = now;
        step = static_cast<std::uint32_t>(at_step - steps);
        if (!run_rare_step(v, lane, slots, steps, step, row)) return false;
        at_step = steps + step;
        now = lane.now;
    }
  }
  step = end;
  lane.now = now;
  return true;
}

bool Engine::run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots, std::span<const Step> steps,
                       std::uint32_t& step, std::uint32_t end, std::uint32_t row) {
  return interpret(v, lane, slots.data(), steps.data(), step, end, row);
}

bool Engine::run_rare_step(VirtualProcessor& v, Lane& lane, Slot* slots, const Step* steps,
                           std::uint32_t& step, std::uint32_t row) {
  const Step s = steps[step];
  const network::Cost& cost = compiler_.costs()[s.code() == Code::fork ? network::CostTable::free : s.cost()];
  const Duration recorded{is_timed(s.code()) ? v.window.duration[row] * tick_ps_ : 0};
  switch (s.code()) {
    case Code::elapse: {
      const Duration elapsed = (s.slot == 0 ? v.slowdown : io_slowdown_).times(recorded);
      v.account.computation += elapsed;
      if (!as_recorded_) lane.now += elapsed;
      break;
    }
    case Code::leave:
      v.account.recorded -= recorded;
      break;
    case Code::hear: {
      if (!channels_.has_arrival(s.channel)) return block(lane, Blocked::on_channel, s.channel);
      const TimePoint heard = channels_.pop_arrival(s.channel).time;
      lane.now = waited_until(heard, cost.transfer, lane.now, lane);
      lane.now = through_adapter(heard, cost, lane.now, lane) + cost.busy;
      break;
    }
    case Code::look:
      if (!channels_.has_arrival(s.channel)) return block(lane, Blocked::on_channel, s.channel);
      lane.now = waited_until(channels_.first_arrival(s.channel).time, Duration{0}, lane.now, lane);
      break;
    case Code::release:
      release(v, slots[s.slot], s.slot);
      break;
    case Code::fork:
      slots[s.slot] = {Slot::pending, 0, network::CostTable::free, no_channel};
      fork(v, s, {steps + step + 1, s.cost()});
      step += s.cost();
      break;
    case Code::transfer: {
      lane.now = through_adapter(lane.now, cost, lane.now, lane);
      Accesses& a = accesses(v, s.channel);
      a.done = std::max(a.done, lane.now + cost.flight);
      a.done_here = std::max(a.done_here, lane.now + cost.transfer);
      if (s.slot != no_slot)
        slots[s.slot] = {ps_of(lane.now + cost.transfer), 0, network::CostTable::free, no_channel};
      lane.now += cost.busy;
      break;
    }
    case Code::drain: {
      const Accesses& a = accesses(v, s.channel);
      lane.now = waited_until(s.slot == 0 ? a.done : a.done_here, Duration{0}, lane.now, lane);
      break;
    }
    case Code::mark:
      mark(v, lane, lane.now, s, v.window.duration[row]);
      break;
    default:
      break;  // run by interpret()
  }
  return true;
}

TimePoint Engine::file_done(const VirtualProcessor& v, TimePoint now, std::uint32_t row) const {
  const Duration taken = io_slowdown_.times(Duration{v.window.duration[row] * tick_ps_});
  return as_recorded_ ? now : std::max(now, v.entered + taken);
}

void Engine::release(VirtualProcessor& v, Slot& slot, std::uint32_t number) {
  if (slot.arrival_ps == Slot::pending && slot.channel != no_channel)
    channels_.abandon_receive(slot.channel, {number_of(v), number}, no_slot);
  for (Strand& strand : v.strands)
    if (strand.request == number) strand.request = no_slot;
  slot = {};
}

Accesses& Engine::accesses(VirtualProcessor& v, std::uint32_t window) {
  const auto it = std::ranges::find(v.accesses, window, &Accesses::window);
  return it != v.accesses.end() ? *it : v.accesses.emplace_back(Accesses{window});
}

}  // namespace simreplay::engine
