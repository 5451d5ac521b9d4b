// Regions, counters and timers of the program: where the replay meets them.

#include <fmt/format.h>

#include <ranges>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {
namespace {

constexpr std::size_t lines_shown = 20;

}  // namespace

/// A thread at this time. The machine that recorded knows no time but how far it moves against the recorded
/// one.
observe::Moment Engine::moment(const Lane& lane, TimePoint now, Duration computation,
                               const observe::RecordedTimes::Times& recorded) const {
  observe::Moment m{ps_of(now), computation.count(), lane.waiting.count(), recorded.all,
                    recorded.between_calls};
  if (as_recorded_) {
    m.time = recorded.all + (now - start_of_shifts).count();
    m.waiting = 0;
  }
  return m;
}

/// `duration` as recorded: of an MPI call around which a timer runs, else 0.
void Engine::mark(VirtualProcessor& v, const Lane& lane, TimePoint now, const Step& s,
                  std::int64_t duration) {
  const observe::Mark& mark = v.program.marks[s.slot];
  const std::uint32_t row = v.threads ? v.row_of_thread : v.row;
  Observed& o = observed(v);
  observe::RecordedTimes::Times recorded = o.recorded.entered(row);
  if (mark.op == Op::Timer_stop) recorded.all += duration * tick_ps_;
  const std::uint64_t call = v.window.first_row + row - v.first_call;
  o.metrics.mark(mark, moment(lane, now, v.account.computation - v.computation_of_others, recorded), call);
  if (placement_.has_region_speedups() && (mark.op == Op::Region_begin || mark.op == Op::Region_end))
    set_region_speed(v, mark.thread);
}

/// The innermost region of which the machine says something counts.
void Engine::set_region_speed(VirtualProcessor& v, std::uint16_t thread) {
  const Ratio& speedup = placement_.speedup(v.process);
  for (const auto& open : observed(v).metrics.regions(thread).open() | std::views::reverse)
    if (const Ratio* factor = placement_.speedup_of_region(open.region)) {
      v.slowdown = (speedup * *factor).inverse();
      return;
    }
  v.slowdown = speedup.inverse();
}

/// Before the calls of the segment: of several threads it would depend on the replay which of them is the
/// first to know.
void Engine::add_predicates(VirtualProcessor& v) {
  for (const observe::Mark& m : v.program.marks)
    if (m.op == Op::Timer_while)
      observed(v).metrics.add_predicate(m.metric, static_cast<std::int32_t>(m.value));
}

void Engine::read_recorded_times(VirtualProcessor& v) {
  const Window& w = v.window;
  observed(v).recorded.read(
      {w.signatures(), w.computations(), w.durations(), v.program.ops, v.program.thread});
}

void Engine::finish_metrics(VirtualProcessor& v, Outcome& o) {
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
