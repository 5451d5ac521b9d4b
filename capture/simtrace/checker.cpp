#include "capture/simtrace/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "capture/simtrace/items.hpp"
#include "capture/simtrace/signature_check.hpp"

namespace simreplay::simtrace {

using trace::Signature;
namespace {

/// One half of a message of which only the other half was recorded.
constexpr Half outside{.bytes = -1};
bool is_outside(const Half& half) { return half.bytes < 0; }

}  // namespace

Checker::Checker(const trace::Reader& reader, FaultLog& faults)
    : faults_(faults),
      members_(reader.communicators()),
      collectives_(members_, reader.facts().processes),
      marks_(reader.path(), reader.metrics()),
      states_(static_cast<std::size_t>(reader.facts().processes)) {
  for (const trace::Process& p : reader.processes(0, reader.facts().processes)) records_.push_back(p.record);
  for (const trace::Skipped& s : reader.skipped())
    for (std::int64_t i = 0; i < std::abs(s.messages); i++)
      channels_.meet({s.source, s.destination, s.communicator, s.tag},
                     s.messages > 0 ? Side::send : Side::receive, outside);
}

/// What a call means for others than itself, beyond the request that it may open. Other verbs: nothing.
const VerbTable<Checker::Action> Checker::actions({
    {Verb::send, &Checker::send},
    {Verb::post_send, &Checker::send},
    {Verb::receive, &Checker::receive},
    {Verb::post_receive, &Checker::receive},
    {Verb::exchange, &Checker::exchange},
    {Verb::launch, &Checker::launch},
    {Verb::complete, &Checker::close},
    {Verb::release, &Checker::close},
    {Verb::cancel, &Checker::cancel},
    {Verb::collective, &Checker::collective},
    {Verb::post_collective, &Checker::collective},
    {Verb::neighbors, &Checker::neighbors},
    {Verb::post_neighbors, &Checker::neighbors},
    {Verb::create, &Checker::collective},
    {Verb::fence, &Checker::collective},
    {Verb::expose, &Checker::epoch},
    {Verb::access, &Checker::epoch},
    {Verb::conclude, &Checker::epoch},
    {Verb::retract, &Checker::epoch},
    {Verb::connect, &Checker::connect},
    {Verb::mark, &Checker::mark},
    {Verb::finish, &Checker::finish},
});

bool Checker::accepts(const CallName& at, const Signature& s) {
  const auto objection = object_to(s, at.process, members_);
  if (objection) faults_.add(fault_at(at, objection->expected, objection->found));
  return !objection || objection->usable;
}

void Checker::call(const CallName& at, const Signature& s) {
  if (s.request >= 0 && opens(s.op) != Opens::never)
    state(at.process).requests.open(at, s.request, info(s.op).verb == Verb::post_receive, faults_);
  if (const Action action = actions[info(s.op).verb]) (this->*action)(at, s);
}

Checker::State& Checker::state(std::int32_t process) {
  std::unique_ptr<State>& state = states_[static_cast<std::size_t>(process)];
  if (!state) state = std::make_unique<State>();
  return *state;
}

void Checker::finish(const CallName& at, const Signature&) { state(at.process).finished = true; }

trace::Record Checker::record_of(std::int64_t process) const {
  return process >= 0 ? records_[static_cast<std::size_t>(process)] : trace::Record::complete;
}

void Checker::end_of(std::int32_t process) {
  const State& s = state(process);
  marks_.end_of(process, record_of(process) == trace::Record::complete);
  if (is_left_out(process)) return;
  if (record_of(process) == trace::Record::complete && s.finished)
    s.requests.expect_none_open(process, faults_);
  else  // its open requests only follow from this
    faults_.add({.process = process,
                 .expected = "MPI_Finalize",
                 .found = s.finished ? "that the process did not end well" : "the end of the trace"});
  states_[static_cast<std::size_t>(process)].reset();
}

void Checker::end_of_all() {
  report_unmatched();
  neighborhoods_.expect_all_met(collectives_, faults_);
  epochs_.expect_all_met(faults_);
  collectives_.expect_all_complete([this](std::int32_t p) { return record_of(p) == trace::Record::cut; },
                                   faults_);
}

// ---- messages ----

void Checker::send(const CallName& at, const Signature& s) {
  meet(Side::send, {at.process, s.peer, s.communicator, s.tag}, {at.call, s.bytes, s.request, s.op}, s.flags);
}

void Checker::receive(const CallName& at, const Signature& s) {
  meet(Side::receive, {s.peer, at.process, s.communicator, s.tag}, {at.call, s.bytes, s.request, s.op},
       s.flags);
}

void Checker::exchange(const CallName& at, const Signature& s) {
  send(at, s);
  const auto source = static_cast<std::int32_t>(s.items[0]), tag = static_cast<std::int32_t>(s.items[1]);
  meet(Side::receive, {source, at.process, s.communicator, tag}, {at.call, s.items[2], trace::nobody, s.op},
       s.flags);
}

/// Each start is what a non-blocking call would be.
void Checker::launch(const CallName& at, const Signature& s) {
  for (std::size_t i = 0; i < number_of_starts(s.items); i++) {
    const Start m = start_in(s.items, i);
    const bool receives = m.mode == starts_receive;
    const auto communicator = static_cast<std::int32_t>(m.communicator),
               peer = static_cast<std::int32_t>(m.peer), tag = static_cast<std::int32_t>(m.tag),
               slot = static_cast<std::int32_t>(m.request);
    if (m.request >= 0) state(at.process).requests.open(at, m.request, receives, faults_);
    const Half half{at.call, m.bytes, slot, s.op};
    if (receives)
      meet(Side::receive, {peer, at.process, communicator, tag}, half, m.flags);
    else
      meet(Side::send, {at.process, peer, communicator, tag}, half, m.flags);
  }
}

void Checker::meet(Side side, const Channel& channel, const Half& half, std::int64_t flags) {
  if (channel.source < 0 || channel.destination < 0 || (flags & trace::cancelled) != 0) return;
  if (side == Side::receive && channel.tag < 0) return;
  if (is_left_out(channel.source) || is_left_out(channel.destination)) return;
  const auto other = channels_.meet(channel, side, half);
  if (!other) return;
  if (side == Side::send)
    matched(channel, half, *other);
  else
    matched(channel, *other, half);
}

void Checker::matched(const Channel& channel, const Half& sent, const Half& received) {
  if (is_outside(sent) || is_outside(received)) return;
  messages_++;
  if (sent.bytes == received.bytes) [[likely]]
    return;
  const CallName at{channel.destination, received.call, received.op};
  const WrongSize wrong{received.bytes, sent.bytes, channel.source, sent.call};
  // A non-blocking receive that never completes has not got all bytes of its message.
  if (received.bytes < sent.bytes && received.request >= 0) {
    const auto& receiver = states_[static_cast<std::size_t>(channel.destination)];
    if (Requests::Open* open =
            receiver ? receiver->requests.opened_by(received.call, received.request) : nullptr) {
      open->shortfall = wrong;
      return;
    }
    if (freed_receives_.contains({channel.destination, received.call, received.request})) return;
  }
  faults_.add(fault_of(at, wrong));
}

void Checker::report_unmatched() {
  if (channels_.open_count() == 0) return;
  for (const auto& [channel, side, half] : channels_.open()) {
    const bool is_send = side == Side::send;
    // What a process did after its records end is not known.
    const bool may_follow = record_of(is_send ? channel.destination : channel.source) == trace::Record::cut;
    if (is_outside(half) || may_follow) continue;
    const CallName at{is_send ? channel.source : channel.destination, half.call, half.op};
    faults_.add(fault_at(
        at,
        fmt::format("{} process {} (communicator {}, tag {})", is_send ? "a receive by" : "a send from",
                    is_send ? channel.destination : channel.source, channel.communicator, channel.tag),
        "none"));
  }
}

// ---- requests ----

void Checker::close(const CallName& at, const Signature& s) {
  const bool completes = info(s.op).verb == Verb::complete;
  for (const std::int64_t slot : s.items) {
    const auto open = state(at.process).requests.close(at, slot, faults_);
    if (!open) continue;
    if (completes && open->shortfall)
      faults_.add(fault_of({at.process, open->call, open->op}, *open->shortfall));
    if (!completes && open->receives)
      freed_receives_.insert({at.process, open->call, static_cast<std::int32_t>(slot)});
  }
}

void Checker::cancel(const CallName& at, const Signature& s) {
  state(at.process).requests.expect_open(at, s.items[0], faults_);
}

// ---- operations of several processes ----

/// Whether the call was made together with processes, or in a part of the run, that were not recorded.
bool Checker::concerns_left_out(const Signature& s) {
  if ((s.flags & trace::alone) != 0) return true;
  const auto [it, is_new] = has_left_out_.emplace(s.communicator, false);
  if (is_new)
    it->second = std::ranges::any_of(members_.world_ranks(s.communicator),
                                     [this](std::int32_t r) { return is_left_out(r); });
  return it->second;
}

void Checker::collective(const CallName& at, const Signature& s) {
  if (!concerns_left_out(s)) collectives_.add(at, s, faults_);
}

void Checker::neighbors(const CallName& at, const Signature& s) {
  if (concerns_left_out(s)) return;
  if (const auto number = collectives_.add(at, s, faults_)) neighborhoods_.add(at, s, *number, faults_);
}

void Checker::epoch(const CallName& at, const Signature& s) {
  if (!concerns_left_out(s)) epochs_.add(at, s);
}

void Checker::connect(const CallName& at, const Signature&) {
  const auto place = [](const CallName& c) { return std::pair(c.process, c.call); };
  if (!met_others_ || place(at) < place(*met_others_)) met_others_ = at;
}

}  // namespace simreplay::simtrace
