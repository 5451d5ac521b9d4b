#pragma once
// Regions, counters and timers of the program: where the replay meets them.

#include <fmt/format.h>

#include <ranges>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {
/// A thread at this time. The machine that recorded knows no time but how far it moves against the recorded
/// one.
template <class Clock>
observe::Moment Engine<Clock>::moment(const Lane& lane, TimePoint now, Duration computation,
                                      const observe::RecordedTimes::Times& recorded) const
    requires(is_single) {
  observe::Moment m{now.time_since_epoch().count(), computation.count(), lane.waiting.count(), recorded.all,
                    recorded.between_calls};
  if (as_recorded_) {
    m.time = recorded.all + (now - start_of_shifts).count();
    m.waiting = 0;
  }
  return m;
}

/// `of_call`: the row of the MPI call around which a timer runs, or of the mark itself.
template <class Clock>
void Engine<Clock>::mark(VirtualProcessor& v, const Lane& lane, TimePoint now, const Step& s,
                         std::uint32_t of_call) requires(is_single) {
  const observe::Mark& mark = v.facts->marks[s.slot];
  const std::uint32_t row = v.threads ? v.row_of_thread : v.row;
  Observed& o = observed(v);
  observe::RecordedTimes::Times recorded = o.recorded.entered(row);
  if (mark.op == Op::Timer_stop) recorded.all += recorded_ticks(v, of_call) * tick_ps_;
  const std::uint64_t call = v.window.first_row + row - v.first_call;
  o.metrics.mark(mark, moment(lane, now, v.account.computation - v.computation_of_others, recorded), call);
  if (placements_[0].has_region_speedups() && (mark.op == Op::Region_begin || mark.op == Op::Region_end))
    set_region_speed(v, mark.thread);
}

/// The innermost region of which the machine says something counts.
template <class Clock>
void Engine<Clock>::set_region_speed(VirtualProcessor& v, std::uint16_t thread) requires(is_single) {
  const Ratio& speedup = placements_[0].speedup(v.process);
  for (const auto& open : observed(v).metrics.regions(thread).open() | std::views::reverse)
    if (const Ratio* factor = placements_[0].speedup_of_region(open.region)) {
      v.slowdown = slowdown_at({speedup * *factor});
      return;
    }
  v.slowdown = slowdown_at({speedup});
}

/// Before the calls of the segment: of several threads it would depend on the replay which of them is the
/// first to know.
template <class Clock>
void Engine<Clock>::add_predicates(VirtualProcessor& v) requires(is_single) {
  for (const observe::Mark& m : v.facts->marks)
    if (m.op == Op::Timer_while)
      observed(v).metrics.add_predicate(m.metric, static_cast<std::int32_t>(m.value));
}

template <class Clock>
void Engine<Clock>::read_recorded_times(VirtualProcessor& v) requires(is_single) {
  const Window& w = v.window;
  observed(v).recorded.read({w.signatures(), w.computations(), w.durations(), v.facts->ops, v.facts->thread});
}

template <class Clock>
void Engine<Clock>::finish_metrics(VirtualProcessor& v, Outcome& o) requires(is_single) {
  observe::Metrics& metrics = observed(v).metrics;
  const auto finish = [&](std::uint16_t number, const Lane& lane, Duration computation) {
    const auto recorded = observed(v).recorded.end(number);
    metrics.finish(number, moment(lane, lane.now, computation, recorded), v.finished && !v.is_cut);
  };
  if (v.threads)
    for (std::size_t i = 0; i < v.threads->all.size(); i++)
      finish(static_cast<std::uint16_t>(i), v.threads->all[i], v.threads->all[i].computation);
  else
    finish(0, v.main, v.account.computation);

  const std::vector<observe::Row> rows = metrics.rows(v.process);
  o.metric_rows.insert(o.metric_rows.end(), rows.begin(), rows.end());
  o.unpaired_metrics += metrics.number_of_complaints();
  for (const observe::Complaint& c : metrics.complaints()) {
    if (o.unpaired.size() == lines_shown) break;
    const trace::Metric& m = trace_.metrics()[static_cast<std::size_t>(c.metric)];
    o.unpaired.push_back(fmt::format("process {}, call {}: {} '{}' {}", v.process, c.call,
                                     m.kind == trace::MetricKind::timer ? "timer" : "region", m.name,
                                     text_of(c.fault, m.kind)));
  }
}

}  // namespace simreplay::engine
