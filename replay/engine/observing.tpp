#pragma once
// What an observed replay notes at each message and at each wait.
//
// A wait for a message has up to three parts: until the sender has entered its send, while the message is on
// its way as long as that takes alone, and what other messages in the network add. A wait for an answer is
// the receiver's doing until it posts its receive, if the message was there before. Collectives beside their
// process make nobody wait; only those that wait for them do.

#include <algorithm>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {

template <class Clock>
auto Engine<Clock>::origin_of([[maybe_unused]] const Time& sent) -> typename Clock::Origin {
  if constexpr (Clock::is_ordered)
    return {-1, 0, {sent}};
  else if constexpr (Clock::is_observed)
    return {{sent}};
  else
    return {};
}

template <class Clock>
observe::Sending& Engine<Clock>::sending(std::uint32_t channel) requires(Clock::is_observed) {
  return collector_.sending(channel & ~is_remote, (channel & is_remote) != 0);
}

// --- messages ---------------------------------------------------------------------------------------------

/// Signals are no messages.
template <class Clock>
void Engine<Clock>::see_send(const Step& s, Duration taken) requires(Clock::is_observed) {
  if (s.cost() != free) sending(s.channel).sent(costs_[s.cost()].bytes, taken);
}

/// A posted receive and its message have met.
template <class Clock>
void Engine<Clock>::see_match(Slot& slot, const Arrival& a) requires(Clock::is_observed) {
  slot.way = a.origin.way;
  if (a.kind != Kind::answer) collector_.receiving(slot.channel).queue.pass(slot.way.sent, slot.time);
}

template <class Clock>
void Engine<Clock>::see_take(const VirtualProcessor& v, const Lane& lane, const Step& s, const Arrival& a,
                             const Stay& stay, std::uint32_t row) requires(Clock::is_observed) {
  see_message_wait(v, lane, a.origin.way, stay.asked, a.time, row);
  if (s.cost() == free) return;
  observe::Receiving& r = collector_.receiving(s.channel);
  r.queue.pass(a.origin.way.sent, std::max(stay.asked, a.time));
  r.received(costs_[s.cost()].bytes, stay.left - stay.entered, a.time - stay.asked);
}

// --- waits ------------------------------------------------------------------------------------------------

template <class Clock>
void Engine<Clock>::see_wait(const VirtualProcessor& v, const Lane& lane, const Slot& slot, const Stay& stay,
                             std::uint32_t row) requires(Clock::is_observed) {
  if (slot.channel == no_channel) {
    if (!(lane.slot_tag & of_strand))
      collector_.waited(v.number, performance::Cell::collective, stay.asked, stay.ready - stay.asked);
    return;
  }
  if ((slot.state_and_cost & Slot::matched) != 0 && channels_.envelope(slot.channel).communicator & answers)
    return see_answer(v, lane, slot.channel, slot.way, stay, row);
  see_message_wait(v, lane, slot.way, stay.asked, stay.ready, row);
  collector_.receiving(slot.channel)
      .received(costs_[slot.cost()].bytes, stay.left - stay.entered, stay.ready - stay.asked);
}

/// The sender's part of a message that waits for its receive.
template <class Clock>
void Engine<Clock>::see_answer(const VirtualProcessor& v, const Lane& lane, std::uint32_t channel,
                               const Way& way, const Stay& stay,
                               std::uint32_t row) requires(Clock::is_observed) {
  if (!(lane.slot_tag & of_strand)) {
    const performance::Cell cause = cause_of(v, row);
    see_parts(v, cause == performance::Cell::late_sender ? performance::Cell::late_receiver : cause, way,
              stay.asked, stay.ready);
  }
  const Envelope& e = channels_.envelope(channel);
  sending(channel_to({e.destination, e.source, e.communicator & ~answers, e.tag}))
      .heard(stay.left - stay.entered);
}

template <class Clock>
void Engine<Clock>::see_message_wait(const VirtualProcessor& v, const Lane& lane, const Way& way,
                                     TimePoint from, TimePoint until,
                                     std::uint32_t row) requires(Clock::is_observed) {
  if (until > from && !(lane.slot_tag & of_strand)) see_parts(v, cause_of(v, row), way, from, until);
}

template <class Clock>
void Engine<Clock>::see_parts(const VirtualProcessor& v, performance::Cell cause, const Way& way,
                              TimePoint from, TimePoint until) requires(Clock::is_observed) {
  using performance::Cell;
  if (until <= from) return;
  const TimePoint left = std::clamp(way.sent, from, until), alone = until - std::min(way.held, until - left);
  collector_.waited(v.number, cause, from, left - from);
  collector_.waited(v.number, Cell::transfer, left, alone - left);
  collector_.waited(v.number, Cell::contention, alone, until - alone);
}

/// Why a process waits in this call before the other side is there.
template <class Clock>
performance::Cell Engine<Clock>::cause_of(const VirtualProcessor& v, std::uint32_t row) const
    requires(Clock::is_observed) {
  using performance::Cell;
  const Op op = v.facts->ops[v.window.signature[row]];
  const Verb verb = info(op).verb;
  if (op == Op::Barrier || verb == Verb::fence) return Cell::barrier;
  const bool is_of_all = verb == Verb::collective || verb == Verb::neighbors || verb == Verb::create;
  return is_of_all ? Cell::collective : Cell::late_sender;
}

// --- at the end -------------------------------------------------------------------------------------------

template <class Clock>
void Engine<Clock>::add_observations(Outcome& o) requires(Clock::is_observed) {
  o.is_observed = true;
  for (VirtualProcessor& v : processors_) {
    observe::Collector::Task& task = collector_.task(v.number);
    o.causes.push_back(task.cells);
    o.profiles.push_back(task.profile);
  }
  using performance::Cell;
  const auto add_sending = [&](const std::vector<observe::Sending>& all, auto&& envelope) {
    for (std::uint32_t i = 0; i < all.size(); i++)
      if (all[i].messages > 0) o.add(envelope(i), all[i]);
  };
  add_sending(collector_.to_own(), [&](std::uint32_t i) { return channels_.envelope(i); });
  add_sending(collector_.to_others(), [&](std::uint32_t i) { return exchange_.envelope(i); });
  const auto& receivings = collector_.receivings();
  for (std::uint32_t i = 0; i < receivings.size(); i++)
    if (receivings[i].messages > 0) o.add(channels_.envelope(i), receivings[i]);
  channels_.each_unreceived([&](const Envelope& e, std::int64_t n) { o.add_unreceived(e, n); });
  if constexpr (Clock::is_ordered)
    for (const Envelope& e : order_.mailboxes.unreceived_envelopes()) o.add_unreceived(e, 1);
}

}  // namespace simreplay::engine
