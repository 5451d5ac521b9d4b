#pragma once
// Messages that are delivered in the order of simulated time: those that cross a network in which they
// disturb each other, and all where the order decides which receive takes which.
//
// Nodes are not divided: all processes of a node are on the rank to which its host belongs, so what crosses
// the network begins and ends on the ranks that the network knows.

#include "replay/engine/engine.hpp"

namespace simreplay::engine {

static_assert(static_cast<int>(Role::eager) == static_cast<int>(Kind::eager) &&
              static_cast<int>(Role::synchronous) == static_cast<int>(Kind::synchronous) &&
              static_cast<int>(Role::rendezvous) == static_cast<int>(Kind::rendezvous));

template <class Clock>
Partition Engine<Clock>::partition_of(const trace::Reader& trace, const Machine& machine, MPI_Comm comm,
                                      const network::Network* network) {
  if (!network) return shared_partition(trace, comm);
  const std::int32_t processes = trace.facts().processes;
  const Placement placement(machine, processes);
  std::vector<int> rank_of;
  for (std::int32_t p = 0; p < processes; p++) rank_of.push_back(network->rank_of(placement.node(p)));
  return Partition(rank_of, size_of(comm));
}

// --- windows ----------------------------------------------------------------------------------------------

/// False if it failed, on all ranks.
template <class Clock>
bool Engine<Clock>::run_in_order() requires(Clock::is_ordered) {
  for (;;) {
    guarded([this] { replay_ready(); });
    exchange_.flush();
    if (take_batches() && !ready_.empty()) continue;
    switch (order_.windows.agree(exchange_.balance(), !failure_.empty())) {
      case Windows::Verdict::under_way:
        break;
      case Windows::Verdict::open:
        guarded([this] {
          hold_arrivals();
          for (Due due; order_.windows.next(due);) bring(due);
        });
        break;
      case Windows::Verdict::ended:
        return true;
      case Windows::Verdict::failed:
        if (failure_.empty()) failure_ = order_.windows.failure();
        return false;
    }
  }
}

template <class Clock>
void Engine<Clock>::hold_arrivals() requires(Clock::is_ordered) {
  for (const network::Arrival& a : order_.windows.take_arrivals()) {
    const Role role = MessageId::role(a.id);
    if (role == Role::access) {
      return_access(a);
      continue;
    }
    std::uint32_t channel = no_channel;
    if (role <= Role::rendezvous || role == Role::acknowledgement) {
      const int sender = order_.windows.network()->rank_of(a.source);
      channel = sender == rank_ ? a.payload : announced_[static_cast<std::size_t>(sender)][a.payload];
    }
    order_.windows.hold({a.time, a.id, a.bytes, channel, true, {a.injected, a.held}});
  }
}

template <class Clock>
void Engine<Clock>::bring(const Due& due) requires(Clock::is_ordered) {
  switch (const Role role = MessageId::role(due.id)) {
    case Role::eager:
    case Role::synchronous:
    case Role::rendezvous: {
      TimePoint time = due.time;
      if (order_.gap_by_arrival && role != Role::rendezvous)
        time =
            through_adapter(channels_.processor(due.channel), cost_of_receive(due.channel, due.bytes), time);
      deliver(due.channel, {time, static_cast<Kind>(role), {due.crossed ? due.id : -1, due.bytes, due.way}});
      break;
    }
    case Role::clear:
      send_data(due);
      break;
    case Role::data:
      take_data(due);
      break;
    case Role::acknowledgement:
      deliver(due.channel, {due.time, Kind::answer, {-1, 0, due.way}});
      break;
    case Role::returned:
      end_access(due);
      break;
    case Role::access:
      break;  // not at a process
  }
}

// --- messages ---------------------------------------------------------------------------------------------

template <class Clock>
void Engine<Clock>::send_in_order(VirtualProcessor& v, Lane& lane, const Step& s, Kind kind,
                                  const Time& entered, const Time& now) requires(Clock::is_ordered) {
  const Cost& cost = costs_[s.cost()];
  const std::int64_t id = MessageId::of(v.process, static_cast<Role>(kind), lane.messages++);
  const Time time = now + cost.flight;
  if (cost.crosses) {
    if (kind == Kind::rendezvous) order_.asking[id] = {s.channel, cost.bytes, cost.transfer};
    return cross(s.channel, id, kind == Kind::rendezvous ? 0 : cost.bytes, time);
  }
  // Signals of collectives are no messages.
  if (s.cost() == free || !order_.windows.is_strict()) {
    return dispatch(s.channel, {time, kind, origin_of(entered)});
  }
  if (s.channel & is_remote)
    exchange_.put(s.channel & ~is_remote, {time, kind, {id, cost.bytes, {entered}}});
  else
    order_.windows.hold({time, id, cost.bytes, s.channel, false, {entered}});
}

/// To the process at the other end of the channel.
template <class Clock>
void Engine<Clock>::cross(std::uint32_t channel, std::int64_t id, std::int64_t bytes,
                          const Time& time) requires(Clock::is_ordered) {
  const bool remote = (channel & is_remote) != 0;
  const std::uint32_t number = channel & ~is_remote;
  const Envelope& e = remote ? exchange_.envelope(number) : channels_.envelope(number);
  order_.windows.network()->inject({time, id, placements_[0].node(e.source),
                                    placements_[0].node(e.destination), bytes,
                                    remote ? exchange_.number_there(number) : number});
}

/// When what is ready at that time has passed the adapter of a process that receives, as it arrives.
template <class Clock>
auto Engine<Clock>::through_adapter(std::uint32_t processor, std::uint32_t cost,
                                    const Time& ready) requires(Clock::is_ordered) {
  if (!order_.gap_by_arrival) return ready;
  const AnswerCost<Clock>& c = costs_.answer(cost);
  Time& adapter = processors_[processor].main.adapters[0];
  const Time start = later(ready - c.lead, adapter);
  adapter = start + c.gap;
  return start + c.lead;
}

template <class Clock>
std::uint32_t Engine<Clock>::cost_of_receive(std::uint32_t channel,
                                             std::int64_t bytes) requires(Clock::is_ordered) {
  const std::uint32_t cost = compiler_.receive_cost(channels_.envelope(channel), bytes);
  costs_.extend(compiler_.costs().uses());
  return cost;
}

// --- mailboxes --------------------------------------------------------------------------------------------

template <class Clock>
bool Engine<Clock>::has_mailbox(std::uint32_t channel) const requires(Clock::is_ordered) {
  return order_.matching_is_simulated && Mailboxes::is_for(channels_.envelope(channel));
}

template <class Clock>
void Engine<Clock>::deliver_to_mailbox(std::uint32_t channel,
                                       const Arrival& arrival) requires(Clock::is_ordered) {
  if (const auto r = order_.mailboxes.arrive(channel, arrival)) {
    if (r->slot == no_slot) return deliver_elsewhere(channel, arrival, *r);
    meet(channel, arrival, slot_of(*r), *r);
    return wake(r->processor, r->slot);
  }
  // Somebody may look for just this one.
  const std::uint32_t processor = channels_.processor(channel);
  if (awaited_[processor] & on_channel || awaited_[processor] == anything) make_ready(processors_[processor]);
}

/// Whose message it is now known.
template <class Clock>
void Engine<Clock>::meet(std::uint32_t channel, const Arrival& arrival, Slot& slot,
                         PendingReceive r) requires(Clock::is_ordered) {
  slot.channel = channel;
  slot.state_and_cost = Slot::pending | cost_of_receive(channel, arrival.origin.bytes);
  complete(slot, arrival, r);
}

/// The slot names the channel.
template <class Clock>
void Engine<Clock>::receive_from_mailbox(VirtualProcessor& v, Slot& slot,
                                         PendingReceive r) requires(Clock::is_ordered) {
  if (v.threads)
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .operation = "matching",
                 .expected = "one thread that calls MPI, or `recorded`",
                 .found = "several"});
  // What a probe has found is received next.
  if (v.beside && v.beside->found_then == slot.channel) {
    slot.channel = std::exchange(v.beside->found_now, no_channel);
    v.beside->found_then = no_channel;
  }
  if (const auto found = order_.mailboxes.receive(slot.channel, r))
    meet(found->channel, found->arrival, slot, r);
}

/// Step of a probe: its slot is the channel of the message that it found when it was recorded.
template <class Clock>
bool Engine<Clock>::look_into_mailbox(VirtualProcessor& v, Lane& lane, const Step& s,
                                      std::uint32_t row) requires(Clock::is_ordered) {
  const auto found = order_.mailboxes.find(s.channel);
  if (!found) return false;
  see_message_wait(v, lane, found->arrival.origin.way, lane.now, found->arrival.time, row);
  wait_until(found->arrival.time, lane.now, lane);
  v.others().found_then = s.slot;
  v.beside->found_now = found->channel;
  return true;
}

// --- messages that wait for their receive -----------------------------------------------------------------
//
//   request ->   <- clear   data ->       the sender is free when the data are there
//   message ->   <- acknowledgement

/// Whether the request (or synchronous message) came across the network; its receive matched it at this time.
template <class Clock>
bool Engine<Clock>::is_answered_across(std::uint32_t channel, const Arrival& request, const Time& matched,
                                       std::uint32_t cost, PendingReceive r) {
  if constexpr (Clock::is_ordered) {
    const std::int64_t id = request.origin.id;
    if (id < 0 || request.kind == Kind::eager) return false;
    const bool asks = request.kind == Kind::rendezvous;
    if (asks) order_.awaiting[id] = {r, channel, request.time < matched ? matched : Time{}};
    cross(answers_of(channel), MessageId::as(id, asks ? Role::clear : Role::acknowledgement), 0,
          matched + costs_.answer(cost).released);
    return true;
  }
  return false;
}

template <class Clock>
void Engine<Clock>::send_data(const Due& clear) requires(Clock::is_ordered) {
  const auto asking = order_.asking.extract(MessageId::as(clear.id, Role::rendezvous)).mapped();
  cross(asking.channel, MessageId::as(clear.id, Role::data), asking.bytes, clear.time + asking.lead);
}

template <class Clock>
void Engine<Clock>::take_data(const Due& data) requires(Clock::is_ordered) {
  const auto awaiting = order_.awaiting.extract(MessageId::as(data.id, Role::rendezvous)).mapped();
  dispatch(answers_of(awaiting.channel), {data.time, Kind::answer, {-1, 0, {awaiting.late, data.way.held}}});
  const PendingReceive r = awaiting.receive;
  if (r.slot == no_slot) return;
  Slot& slot = slot_of(r);
  slot.time = later(slot.time, data.time);
  slot.way.held += data.way.held;
  slot.state_and_cost -= Slot::pending;
  wake(r.processor, r.slot);
}

/// The request of the program is gone; what comes for it goes to nobody.
template <class Clock>
void Engine<Clock>::abandon_in_order(std::uint32_t channel, PendingReceive r) requires(Clock::is_ordered) {
  if (channel != no_channel && has_mailbox(channel)) order_.mailboxes.abandon(channel, r);
  for (auto& [id, a] : order_.awaiting)
    if (a.receive == r) a.receive.slot = no_slot;
  for (auto& [id, a] : order_.accessing)
    if (a.request == r) a.request.slot = no_slot;
}

// --- accesses to windows ----------------------------------------------------------------------------------
//
// The adapter of the target answers by itself: with the data, or with the word that they are there.

/// How many steps that were.
template <class Clock>
std::uint32_t Engine<Clock>::access_across(VirtualProcessor& v, Lane& lane, Slot* slots,
                                           const Step* at_step) requires(Clock::is_ordered) {
  const Step s = *at_step;
  const Cost& cost = costs_[s.cost()];
  const std::int64_t returned = costs_.answer(s.cost()).returned;
  if (returned > std::numeric_limits<std::uint32_t>::max())
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .expected = "at most 4 GiB from a window at once",
                 .found = fmt::format("{} bytes", returned)});
  const bool brings = returned > 0;
  const std::int64_t id = MessageId::of(v.process, Role::access, lane.messages++);
  const auto target = static_cast<std::int32_t>(at_step[1].channel);
  order_.windows.network()->inject({lane.now + cost.flight, id, placements_[0].node(v.process),
                                    placements_[0].node(target), cost.bytes,
                                    static_cast<std::uint32_t>(returned)});
  order_.accessing[id] = {{v.number, brings ? s.slot : no_slot}, s.channel, brings};
  lane.now += cost.busy;
  Accesses& at = accesses(v, s.channel);
  at.under_way++;
  if (brings)
    at.under_way_here++;
  else
    at.done_here = later(at.done_here, lane.now);
  if (s.slot != no_slot)
    slots[s.slot] = brings ? Slot{Time{}, Slot::pending, no_channel} : Slot{lane.now, free, no_channel};
  return 2;
}

template <class Clock>
void Engine<Clock>::return_access(const network::Arrival& a) requires(Clock::is_ordered) {
  order_.windows.network()->inject({a.time + order_.access_answer, MessageId::as(a.id, Role::returned),
                                    a.destination, a.source, a.payload, 0});
}

template <class Clock>
void Engine<Clock>::end_access(const Due& returned) requires(Clock::is_ordered) {
  const auto access = order_.accessing.extract(MessageId::as(returned.id, Role::access)).mapped();
  const auto [processor, number] = access.request;
  Accesses& at = accesses(processors_[processor], access.window);
  at.under_way--;
  at.done = later(at.done, returned.time);
  if (access.brings) {
    at.under_way_here--;
    at.done_here = later(at.done_here, returned.time);
  }
  if (number != no_slot) {
    Slot& slot = slots_[processor][number];
    slot.time = later(slot.time, returned.time);
    slot.state_and_cost -= Slot::pending;
    wake(processor, number);
  }
  wake(processor, anything);
}

}  // namespace simreplay::engine
