#pragma once
// How the replay ended: what each process adds up to, who waits for what, and what nobody received.

#include <fmt/format.h>

#include "common/error.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay::engine {

/// The channel from which the process, or the collective it waits for, wants a message.
template <class Clock>
std::uint32_t Engine<Clock>::awaited_channel(const VirtualProcessor& v) const {
  const auto of = [](const Lane& lane, const auto& slots) {
    return lane.blocked == Blocked::on_slot ? slots[lane.blocked_on].channel : lane.blocked_on;
  };
  const std::uint32_t channel = of(v.main, v.slots);
  if (channel != no_channel) return channel;
  // Not the strand of that request alone: it may be one before it that is stuck.
  const Strand& first = v.beside->strands[v.beside->order.front()];
  return of(first, first.slots);
}

template <class Clock>
std::string Engine<Clock>::describe_block(const VirtualProcessor& v) const {
  Fault fault{.file = trace_.path(), .process = v.process};
  fault.call = static_cast<std::int64_t>(v.window.first_row + v.row - v.first_call);
  fault.operation = name_of_call(v, v.row);
  const Envelope& e = channels_.envelope(awaited_channel(v));
  fault.expected = describe(e, e.source, "from");
  fault.found = e.communicator & answers ? "no such receive" : "none";
  if (e.source >= 0 && trace_.processes(e.source, 1)[0].record == trace::Record::cut)
    fault.remedy = fmt::format("the trace of process {} ends before MPI_Finalize", e.source);
  if constexpr (Clock::is_ordered)
    if (order_.matching_is_simulated)
      fault.remedy =
          "what a process does after a wildcard receive is as recorded, whatever it took: see --matching";
  return to_string(fault);
}

template <class Clock>
Outcome Engine<Clock>::outcome(bool is_whole) {
  Outcome o;
  o.failed = !is_whole;
  o.failure = failure_;
  o.metrics = trace_.metrics();
  for (VirtualProcessor& v : processors_) {
    if (!partition_.is_in_order()) o.processes.push_back(v.process);
    if (!v.finished) cut(v);
    if (v.is_cut) o.cut_processes++;
    if constexpr (is_single)
      if (!observed_.empty()) finish_metrics(v, o);
    if (v.main.blocked == Blocked::no || !is_whole) continue;
    if (o.blocked_processes++ < static_cast<std::int64_t>(lines_shown))
      o.blocked.push_back(describe_block(v));
  }
  if constexpr (Clock::is_observed) add_observations(o);
  for (std::size_t m = 0; m < Clock::machines; m++) o.accounts.push_back(accounts_on(m));
  o.needs_single_machines = needs_single_machines_;
  o.unreceived_messages = channels_.unreceived();
  if constexpr (Clock::is_ordered) add_unreceived(o);
  channels_.each_unreceived([&](const Envelope& e, std::int64_t n) {
    if (o.unreceived.size() == lines_shown) return;
    const std::string what = describe(e, e.destination, "to");
    o.unreceived.push_back(fmt::format("process {}: {} times {} was never received", e.source, n, what));
  });
  return o;
}

/// Of mailboxes.
template <class Clock>
void Engine<Clock>::add_unreceived(Outcome& o) requires(Clock::is_ordered) {
  for (const Envelope& e : order_.mailboxes.unreceived_envelopes()) {
    o.unreceived_messages++;
    if (o.unreceived.size() == lines_shown) continue;
    const std::string what = describe(e, e.destination, "to");
    o.unreceived.push_back(fmt::format("process {}: {} was never received", e.source, what));
  }
}

template <class Clock>
std::vector<Account> Engine<Clock>::accounts_on(std::size_t machine) const {
  std::vector<Account> all;
  all.reserve(processors_.size());
  for (const VirtualProcessor& v : processors_) {
    const AccountOf<Clock>& a = v.account;
    const auto of = [machine](const Span& s) { return Clock::of(s, machine); };
    all.push_back({of(a.computation), of(a.waiting), of(a.elapsed), TimePoint{Clock::of(a.end, machine)},
                   a.recorded, a.calls, a.messages, a.threads});
  }
  return all;
}

}  // namespace simreplay::engine
