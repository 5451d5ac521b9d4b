#pragma once
// Virtual processors at work: calls one after the other, each as its steps, and the messages between them.
//
// This is where the time of a replay goes. What every call and message passes is inlined into run_calls();
// what is rare stands in functions of its own.

#include <algorithm>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {

// --- times ------------------------------------------------------------------------------------------------

template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::wait_until(const Time& ready, Time& now, Lane& lane) {
  const Time after = later(now, ready);
  lane.waiting += after - now;
  now = after;
}

/// What is ready at that time passes the adapter when that is free.
template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::pass_adapter(const Time& ready, const Cost& cost, Time& now,
                                                               Lane& lane) {
  if (cost.gaps == Cost::Gap::none) return;
  Time& adapter = lane.adapters[cost.outwards];
  const Time start = later(ready - cost.lead, adapter), free_again = start + cost.gap;
  const Time through = later(now, start + cost.lead);
  const bool are_all = is_single || cost.gaps == Cost::Gap::all;
  adapter = are_all ? free_again : where(cost.gap, free_again, adapter);
  now = are_all ? through : where(cost.gap, through, now);
}

/// Of a message that asked: what lies between the match and the data is its transfer.
template <class Clock>
auto Engine<Clock>::matched(const Slot& slot, Time now, Lane& lane) const -> Time {
  const Cost& cost = costs_[slot.cost()];
  lane.waiting += later(now, slot.time - cost.transfer) - now;
  now = later(now, slot.time);
  pass_adapter(slot.time, cost, now, lane);
  return now + cost.busy;
}

// --- messages ---------------------------------------------------------------------------------------------

template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::dispatch(std::uint32_t channel, const Arrival& arrival) {
  if (channel & is_remote)
    exchange_.put(channel & ~is_remote, arrival);
  else
    deliver(channel, arrival);
}

template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::deliver(std::uint32_t channel, const Arrival& arrival) {
  if constexpr (Clock::is_ordered)
    if (has_mailbox(channel)) return deliver_to_mailbox(channel, arrival);
  PendingReceive r;
  if (!channels_.take_receive(channel, r)) {
    channels_.push_arrival(channel, arrival);
    return wake(channels_.processor(channel), on_channel | channel);
  }
  if (r.slot >= of_strand) [[unlikely]]
    return deliver_elsewhere(channel, arrival, r);
  complete(slots_[r.processor][r.slot], arrival, r);
  wake(r.processor, r.slot);
}

/// `what` has come: goes on with the processor if that waits for it.
template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::wake(std::uint32_t processor, Awaited what) {
  const Awaited awaited = awaited_[processor];
  if (awaited == what || awaited == anything) make_ready(processors_[processor]);
}

template <class Clock>
void Engine<Clock>::deliver_batched(std::uint32_t channel, const Arrival& arrival) {
  if constexpr (Clock::is_ordered)
    if (arrival.origin.id >= 0)
      return order_.windows.hold(
          {arrival.time, arrival.origin.id, arrival.origin.bytes, channel, false, arrival.origin.way});
  deliver(channel, arrival);
}

/// To a collective under way, or to nobody: given up by MPI_Request_free, or outside of what was recorded.
template <class Clock>
void Engine<Clock>::deliver_elsewhere(std::uint32_t channel, const Arrival& arrival, PendingReceive r) {
  if (r.slot == no_slot) {
    if (!is_answered_across(channel, arrival, arrival.time, free, r))
      match(channel, arrival.kind, arrival.time, free, false);
    return;
  }
  complete(slot_of(r), arrival, r);
  make_ready(processors_[r.processor]);
}

template <class Clock>
auto Engine<Clock>::slot_of(PendingReceive r) -> Slot& {
  if (r.slot < of_strand) return slots_[r.processor][r.slot];
  Beside<Clock>& beside = *processors_[r.processor].beside;
  return beside.strands[(r.slot & ~of_strand) >> strand_shift].slots[r.slot & strand_slot_mask];
}

/// The message (or answer) that a pending slot was posted for has come.
template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::complete(Slot& slot, const Arrival& a, PendingReceive r) {
  const bool is_late = is_after(slot.time, a.time);
  slot.time = later(slot.time, a.time);
  slot.state_and_cost -= Slot::pending;
  if constexpr (Clock::is_observed) see_match(slot, a);
  if (a.kind != Kind::eager) [[unlikely]]
    complete_matched(slot, a, r, is_late);
}

template <class Clock>
void Engine<Clock>::complete_matched(Slot& slot, const Arrival& a, PendingReceive r, bool is_late) {
  const std::uint32_t cost = slot.cost();
  if (is_answered_across(slot.channel, a, slot.time, cost, r)) {
    if (a.kind == Kind::rendezvous) slot.state_and_cost += Slot::pending;
    return;
  }
  slot.time = match(slot.channel, a.kind, slot.time, cost, is_late);
  if constexpr (Clock::is_ordered)
    if (a.kind == Kind::rendezvous) slot.time = through_adapter(r.processor, cost, slot.time);
  if (a.kind == Kind::synchronous) return;
  slot.state_and_cost |= Slot::matched;
}

/// The channel of answers to messages of this one.
template <class Clock>
std::uint32_t Engine<Clock>::answers_of(std::uint32_t channel) {
  if (channel >= answer_channel_.size()) answer_channel_.resize(channel + 1, no_channel);
  if (answer_channel_[channel] == no_channel)
    answer_channel_[channel] = channel_to(answer_to(channels_.envelope(channel)));
  return answer_channel_[channel];
}

/// A message met its receive at `time`: the sender is told if it waits for that. Returns when the data is
/// there. `is_late`: the message was there before the receive.
template <class Clock>
auto Engine<Clock>::match(std::uint32_t channel, Kind kind, const Time& time, std::uint32_t cost,
                          bool is_late) -> Time {
  if (kind == Kind::eager || kind == Kind::answer) return time;
  const bool asked = kind == Kind::rendezvous;
  const AnswerCost<Clock>& answer = costs_.answer(cost);
  dispatch(answers_of(channel), {time + (asked ? answer.released : answer.acknowledge), Kind::answer,
                                 origin_of(is_late ? time : Time{})});
  return asked ? time + costs_[cost].transfer : time;
}

template <class Clock>
[[gnu::always_inline]] inline void Engine<Clock>::send(VirtualProcessor& v, Lane& lane, const Step& s,
                                                       const Time& entered, const Time& now) {
  const Kind kind = s.code() == Code::start ? Kind::eager : static_cast<Kind>(s.slot);
  if constexpr (Clock::is_ordered)
    send_in_order(v, lane, s, kind, entered, now);
  else
    dispatch(s.channel, {now + costs_[s.cost()].flight, kind, origin_of(entered)});
}

// --- one virtual processor --------------------------------------------------------------------------------

/// Steps that end with the last of them: of a collective beside its process, or of one call of a thread.
template <class Clock>
class Engine<Clock>::Apart {
 public:
  Apart(const Step* steps, std::uint32_t& step, std::uint32_t end, std::uint32_t row)
      : steps_(steps), last_(steps + end), step_(step), row_(row) {}
  const Step* first(Time&) const { return steps_ + step_; }
  bool next(const Step*& at, Time&) { return ++at != last_; }
  void keep(const Step* at) { step_ = static_cast<std::uint32_t>(at - steps_); }
  void refresh() {}
  std::uint32_t row() const { return row_; }

 private:
  const Step *steps_, *last_;
  std::uint32_t& step_;
  std::uint32_t row_;
};

/// Call after call, up to the end of the window. What it counts is in the processor again after keep().
template <class Clock>
template <bool is_plain>
class Engine<Clock>::CallByCall {
 public:
  CallByCall(Engine& engine, VirtualProcessor& v)
      : engine_(engine), v_(v), steps_(v.steps.data()), calls_(v.calls.data()), row_(v.row) {
    refresh();
    call_ = &calls_[v_.window.signature[row_]];
  }
  const Step* first(Time& now) {
    if (v_.step == between_calls) return begin(now);
    return steps_ + v_.step;
  }
  [[gnu::always_inline]] bool next(const Step*& at, Time& now) {
    if (!at->ends_call()) {
      at++;
      return true;
    }
    messages_ += call_->messages();
    if constexpr (!is_plain)
      if (engine_.rewritten_) engine_.note_duration(v_, row_, now - v_.entered);
    if (++row_ == v_.window.rows) return false;
    call_ = &calls_[v_.window.signature[row_]];
    at = begin(now);
    return true;
  }
  void keep(const Step* at) {
    v_.step = static_cast<std::uint32_t>(at - steps_);
    keep_counts();
  }
  void keep_counts() {
    v_.row = row_;
    v_.account.messages = messages_;
    v_.account.computation = computation_;
  }
  void refresh() {
    messages_ = v_.account.messages;
    computation_ = v_.account.computation;
  }
  std::uint32_t row() const { return row_; }

 private:
  [[gnu::always_inline]] const Step* begin(Time& now) {
    if constexpr (is_plain) {
      const Span computation = scaled(*v_.slowdown, engine_.gap_before(v_, *call_, row_));
      if constexpr (Clock::is_observed) engine_.collector_.computed(v_.number, now, computation);
      computation_ += computation;
      now += computation;
    } else {
      now += engine_.computation_before(v_, *call_, row_, now);
      computation_ = v_.account.computation;
    }
    v_.entered = now;
    return steps_ + call_->first;
  }

  Engine& engine_;
  VirtualProcessor& v_;
  const Step* steps_;
  const Call *calls_, *call_;
  std::uint32_t row_;
  std::int64_t messages_;
  Span computation_;
};

template <class Clock>
void Engine<Clock>::run(VirtualProcessor& v) {
  if (v.finished || (v.row == v.window.rows && !refill(v))) return;
  bool is_over = false;
  if constexpr (is_single) {
    if (v.threads) [[unlikely]]
      return run_threads(v);
    is_over = rewritten_ || is_special_ ? run_calls<false>(v) : run_calls<true>(v);
  } else {
    is_over = run_calls<true>(v);
  }
  // A turn ends with the window, so that no process runs far ahead of those that hear it.
  if (is_over) make_ready(v);
}

/// False where a call cannot go on; its steps are then taken up again.
template <class Clock>
template <bool is_plain>
SIMREPLAY_WIDE_VECTORS bool Engine<Clock>::run_calls(VirtualProcessor& v) {
  Awaited& awaited = awaited_[v.number];
  awaited = v.has_strands() ? anything : nothing;
  CallByCall<is_plain> calls(*this, v);
  if (!interpret(v, v.main, v.slots.data(), calls)) {
    if (awaited == nothing) awaited = awaits(v.main);
    return false;
  }
  calls.keep_counts();
  v.step = between_calls;
  return true;
}

template <class Clock>
void Engine<Clock>::note_duration(VirtualProcessor& v, std::uint32_t row, Duration taken) const
    requires(is_single) {
  const Duration recorded{as_recorded_ ? recorded_ticks(v, row) * tick_ps_ : 0};
  windows_.room(v.number).duration[row] = (recorded + taken).count();
}

/// Recorded time between the call before and this one, without the cost of recording.
template <class Clock>
[[gnu::always_inline]] inline std::int64_t Engine<Clock>::gap_before(VirtualProcessor& v, const Call& call,
                                                                     std::uint32_t row) const {
  const std::int64_t gap = v.window.computation[row] * tick_ps_ - v.overhead_before_ps;
  v.overhead_before_ps = (*v.overhead_ps)[call.recording()];
  return gap;
}

/// How long the process computes from `begin` until it makes the call.
///
/// With noise, or on the machine that recorded. There nothing is left of times without costs but how far they
/// move against the recorded ones, when the overhead before each call is taken away. A call that takes a
/// message ends moved as its process or as the sender of the message, whichever moved less: so much is sure
/// without knowing which of them was waited for.
template <class Clock>
Duration Engine<Clock>::computation_before(VirtualProcessor& v, const Call& call, std::uint32_t row,
                                           TimePoint begin) requires(is_single) {
  const std::int64_t overhead = v.overhead_before_ps, gap = gap_before(v, call, row);
  Duration computation{std::max<std::int64_t>(gap, 0)};
  if (!as_recorded_ && gap > 0) {
    computation = v.slowdown->times(computation);
    if (is_special_)
      computation = noise_.on(computation, v.process, v.window.first_row + row - v.first_call, begin);
  }
  v.account.computation += computation;
  if constexpr (Clock::is_observed) collector_.computed(v.number, begin, computation);
  if (rewritten_) windows_.room(v.number).computation[row] = computation.count();
  return as_recorded_ ? -Duration{std::min(gap + overhead, overhead)} : computation;
}

/// Runs steps as `flow` brings them; false where a message is missing: the step is then tried again.
template <class Clock>
template <class Flow>
[[gnu::always_inline]] inline bool Engine<Clock>::interpret(VirtualProcessor& v, Lane& lane, Slot* slots,
                                                            Flow& flow) {
  const Cost* costs = costs_.all();
  Time now = lane.now;  // in registers, so only copies of it are passed on
  const Step* at_step = flow.first(now);
  lane.blocked = Blocked::no;
  const auto stop_at = [&](Blocked kind, std::uint32_t on) {
    lane.now = now;
    lane.blocked = kind;
    lane.blocked_on = on;
    return false;
  };
  do {
    const Step s = *at_step;
    const Cost& cost = costs[s.cost()];
    switch (s.code()) {
      case Code::start:
        slots[s.slot].state_and_cost = Slot::over;
        [[fallthrough]];
      case Code::send: {
        const Time entered = now;
        pass_adapter(now, cost, now, lane);
        send(v, lane, s, entered, now);
        now += cost.busy;
        if constexpr (Clock::is_observed) see_send(s, now - entered);
        break;
      }
      case Code::post:
        now += cost.before;
        [[fallthrough]];
      case Code::listen: {
        Slot& slot = slots[s.slot];
        slot.time = now;
        slot.state_and_cost = Slot::pending | s.cost();
        slot.channel = s.channel;
        const PendingReceive receive{v.number, lane.slot_tag | s.slot};
        if constexpr (Clock::is_ordered) {
          if (has_mailbox(s.channel)) {
            receive_from_mailbox(v, slot, receive);
            costs = costs_.all();  // of messages of other sizes than were recorded
            break;
          }
        }
        if (Arrival a; channels_.take_arrival(s.channel, a))
          complete(slot, a, receive);
        else
          channels_.push_receive(s.channel, receive);
        break;
      }
      case Code::fill:
        slots[s.slot].state_and_cost = s.channel == 0 ? Slot::over : Slot::in_file;
        break;
      case Code::wait: {
        const Slot *const first = slots + s.slot, *const end = slots + s.slot_after();
        for (const Slot* slot = first + lane.waited; slot != end; slot++) {
          const std::uint32_t state = slot->state_and_cost;
          if (state < Slot::rare) [[likely]] {
            const Cost& of_message = costs[state];
            [[maybe_unused]] const Time entered = now;
            now += cost.before;
            [[maybe_unused]] const Time asked = now;
            wait_until(slot->time, now, lane);
            pass_adapter(slot->time, of_message, now, lane);
            now += of_message.busy;
            if constexpr (Clock::is_observed)
              see_wait(v, lane, *slot, {entered, asked, slot->time, now}, flow.row());
          } else if (state == Slot::over) {
            now += cost.before;
          } else if (slot->is_pending()) {
            lane.waited = static_cast<std::uint32_t>(slot - first);
            flow.keep(at_step);
            return stop_at(Blocked::on_slot, s.slot + lane.waited);
          } else if (state == Slot::in_file) {
            now = file_done(v, Time(now), flow.row());
          } else {
            [[maybe_unused]] const Time entered = now;
            now = matched(*slot, now + cost.before, lane);
            if constexpr (Clock::is_observed)
              see_wait(v, lane, *slot,
                       {entered, entered + cost.before, slot->time - costs[slot->cost()].transfer, now},
                       flow.row());
          }
        }
        lane.waited = 0;
        break;
      }
      case Code::take: {
        Arrival a;
        if (!channels_.take_arrival(s.channel, a)) {
          flow.keep(at_step);
          return stop_at(Blocked::on_channel, s.channel);
        }
        [[maybe_unused]] const Time entered = now;
        now += cost.before;
        [[maybe_unused]] const Time asked = now;
        wait_until(a.time, now, lane);
        if (a.kind != Kind::eager) [[unlikely]]
          now = match(s.channel, a.kind, Time(now), s.cost(), is_after(asked, a.time));
        pass_adapter(now, cost, now, lane);
        now += cost.busy;
        if constexpr (Clock::is_observed) see_take(v, lane, s, a, {entered, asked, a.time, now}, flow.row());
        break;
      }
      case Code::advance:
        now += cost.busy;
        break;
      default: {
        lane.now = now;
        flow.keep(at_step);
        const std::uint32_t steps = run_rare_step(v, lane, slots, at_step, flow.row());
        if (steps == 0) return false;
        at_step += steps - 1;
        flow.refresh();
        now = lane.now;
      }
    }
  } while (flow.next(at_step, now));
  lane.now = now;
  return true;
}

template <class Clock>
bool Engine<Clock>::run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots,
                              std::span<const Step> steps, std::uint32_t& step, std::uint32_t end,
                              std::uint32_t row) {
  if (step == end) return true;
  Apart apart(steps.data(), step, end, row);
  if (!interpret(v, lane, slots.data(), apart)) return false;
  step = end;
  return true;
}

/// How many steps that were, 0 where a message is missing.
template <class Clock>
std::uint32_t Engine<Clock>::run_rare_step(VirtualProcessor& v, Lane& lane, Slot* slots, const Step* at_step,
                                           std::uint32_t row) {
  const Step s = *at_step;
  const Cost& cost = costs_[s.code() == Code::fork ? free : s.cost()];
  const auto miss = [&] {
    lane.blocked = Blocked::on_channel;
    lane.blocked_on = s.channel;
    return std::uint32_t{0};
  };
  Arrival a;
  switch (s.code()) {
    case Code::elapse: {
      const Span elapsed =
          scaled(s.slot == 0 ? *v.slowdown : io_slowdown_, recorded_ticks(v, row) * tick_ps_);
      v.account.computation += elapsed;
      if constexpr (Clock::is_observed) collector_.computed(v.number, lane.now, elapsed);
      if (!as_recorded_) lane.now += elapsed;
      break;
    }
    case Code::leave:
      v.account.recorded -= Duration{recorded_ticks_alone(v, row) * tick_ps_};
      break;
    case Code::hear:
      if (!channels_.take_arrival(s.channel, a)) return miss();
      if constexpr (Clock::is_observed) {
        const Time entered = lane.now;
        lane.now = matched({a.time, Slot::matched | s.cost(), s.channel, a.origin.way}, lane.now, lane);
        see_answer(v, lane, s.channel, a.origin.way, {entered, entered, a.time - cost.transfer, lane.now},
                   row);
        break;
      }
      lane.now = matched({a.time, Slot::matched | s.cost(), s.channel}, lane.now, lane);
      break;
    case Code::look:
      if constexpr (Clock::is_ordered)
        if (has_mailbox(s.channel)) return look_into_mailbox(v, lane, s, row) ? 1 : miss();
      if (!channels_.find_arrival(s.channel, a)) return miss();
      if constexpr (Clock::is_observed) see_message_wait(v, lane, a.origin.way, lane.now, a.time, row);
      wait_until(a.time, lane.now, lane);
      break;
    case Code::release:
      release(v, slots[s.slot], s.slot);
      break;
    case Code::fork:
      slots[s.slot] = {Time{}, Slot::pending, no_channel};
      fork(v, lane, s, {at_step + 1, s.cost()});
      return 1 + s.cost();
    case Code::transfer: {
      if constexpr (Clock::is_ordered)
        if (cost.crosses) return access_across(v, lane, slots, at_step);
      pass_adapter(lane.now, cost, lane.now, lane);
      Accesses& at = accesses(v, s.channel);
      at.done = later(at.done, lane.now + cost.flight);
      at.done_here = later(at.done_here, lane.now + cost.transfer);
      if (s.slot != no_slot) slots[s.slot] = {lane.now + cost.transfer, free, no_channel};
      lane.now += cost.busy;
      break;
    }
    case Code::drain: {
      const Accesses& at = accesses(v, s.channel);
      if (s.slot == 0 ? at.under_way > 0 : at.under_way_here > 0) {
        lane.blocked = Blocked::on_accesses;
        return 0;
      }
      const Time& done = s.slot == 0 ? at.done : at.done_here;
      if constexpr (Clock::is_observed)
        if (!(lane.slot_tag & of_strand))
          collector_.waited(v.number, performance::Cell::one_sided, lane.now, done - lane.now);
      wait_until(done, lane.now, lane);
      break;
    }
    case Code::mark:
      if constexpr (is_single) mark(v, lane, lane.now, s, row);
      break;
    default:
      break;  // run by interpret()
  }
  return 1;
}

template <class Clock>
auto Engine<Clock>::file_done(VirtualProcessor& v, const Time& now, std::uint32_t row) const -> Time {
  if (as_recorded_) return now;
  return later(now, v.entered + scaled(io_slowdown_, recorded_ticks(v, row) * tick_ps_));
}

template <class Clock>
void Engine<Clock>::release(VirtualProcessor& v, Slot& slot, std::uint32_t number) {
  if (slot.is_pending() && slot.channel != no_channel)
    channels_.abandon_receive(slot.channel, {v.number, number}, no_slot);
  if constexpr (Clock::is_ordered)
    if (slot.is_pending()) abandon_in_order(slot.channel, {v.number, number});
  if (v.beside)
    for (Strand& strand : v.beside->strands)
      if (strand.request == number) strand.request = no_slot;
  slot = {};
}

template <class Clock>
auto Engine<Clock>::accesses(VirtualProcessor& v, std::uint32_t window) -> Accesses& {
  std::vector<Accesses>& all = v.others().accesses;
  const auto it = std::ranges::find(all, window, &Accesses::window);
  return it != all.end() ? *it : all.emplace_back(Accesses{window});
}

}  // namespace simreplay::engine
