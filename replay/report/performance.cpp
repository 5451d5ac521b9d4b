#include "replay/report/performance.hpp"

#include <algorithm>
#include <numeric>

#include "common/mpi_session.hpp"
#include "replay/engine/placement.hpp"
#include "replay/report/gather.hpp"

namespace simreplay::report {
namespace {

using performance::Cell;
using performance::Cells;

/// `more` is known of the same resource.
void merge(Cells& into, const Cells& more) {
  for (std::size_t i = 0; i < performance::cells; i++)
    into.value[i] = performance::is_largest(static_cast<Cell>(i)) ? std::max(into.value[i], more.value[i])
                                                                  : into.value[i] + more.value[i];
}

/// Of each channel the sender's rank knows one part, the receiver's the other.
void add_channels(std::vector<performance::Channel> names, const std::vector<Cells>& cells, Duration time,
                  performance::Figures& figures) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return names[i]; });
  for (const std::size_t i : order) {
    if (figures.channels.empty() || figures.channels.back() != names[i]) {
      figures.channels.push_back(names[i]);
      figures.channel_cells.emplace_back()[Cell::span] = time.count();
    }
    merge(figures.channel_cells.back(), cells[i]);
  }
}

/// What it sends and receives.
void add_messages(performance::Figures& figures) {
  const auto add = [&](std::int32_t task, const Cells& of, Cell first, Cell end) {
    Cells part;
    const auto from = static_cast<std::ptrdiff_t>(first), to = static_cast<std::ptrdiff_t>(end);
    std::copy(of.value.begin() + from, of.value.begin() + to, part.value.begin() + from);
    merge(figures.tasks[static_cast<std::size_t>(task)], part);
  };
  for (std::size_t i = 0; i < figures.channels.size(); i++) {
    const performance::Channel& c = figures.channels[i];
    add(c.source, figures.channel_cells[i], performance::first_of_sender, performance::first_of_receiver);
    add(c.destination, figures.channel_cells[i], performance::first_of_receiver, Cell::span);
  }
}

Cells cells_of(const ProcessRow& r, Duration time, Cells causes) {
  causes[Cell::time] = r.threads * time.count();
  causes[Cell::computation] = r.computation_ps;
  causes[Cell::communication] = r.communication_ps;
  causes[Cell::idle] = r.idle_ps;
  causes[Cell::after_end] = r.idle_ps - r.waiting_ps;
  causes[Cell::calls] = r.calls;
  causes[Cell::span] = time.count();
  return causes;
}

std::vector<performance::RegionTimes> regions_of(const MetricTable& table) {
  std::vector<performance::RegionTimes> all;
  for (const observe::Row& row : table.rows) {
    const trace::Metric& m = table.metrics[static_cast<std::size_t>(row.metric)];
    if (m.kind == trace::MetricKind::region)
      all.push_back({row.process, m.name, static_cast<double>(row.sum.computation),
                     static_cast<double>(row.sum.waiting)});
  }
  return all;
}

}  // namespace

performance::Run gather_run(const engine::Outcome& o, const Summary& s, const Machine& machine,
                            MPI_Comm comm) {
  const auto numbers = gather_rows(o.processes, comm);
  const auto causes = in_order(gather_rows(o.causes, comm), numbers);
  auto profiles = in_order(gather_rows(o.profiles, comm), numbers);
  auto names = gather_rows(o.channels, comm);
  const auto cells = gather_rows(o.channel_cells, comm);
  performance::Run run;
  if (rank_in(comm) != 0) return run;

  run.time = Duration{s.predicted_ps};
  const engine::Placement placement(machine, s.facts.processes, o.metrics);
  for (std::size_t p = 0; p < s.processes.size(); p++) {
    run.figures.tasks.push_back(cells_of(s.processes[p], run.time, causes[p]));
    run.figures.nodes.push_back(placement.node(static_cast<std::int32_t>(p)));
  }
  add_channels(std::move(names), cells, run.time, run.figures);
  add_messages(run.figures);
  run.windows = performance::shares_of(std::move(profiles), run.time);
  run.regions = regions_of(s.metrics);
  return run;
}

}  // namespace simreplay::report
