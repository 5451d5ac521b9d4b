#include "replay/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "replay/report/gather.hpp"

namespace simreplay::report {
namespace {

constexpr std::size_t rows_shown = 16;   // of the table for people
constexpr std::size_t lines_shown = 20;  // of blocked processes and unreceived messages

std::vector<std::string> gather_lines(const std::vector<std::string>& mine, MPI_Comm comm) {
  std::vector<char> bytes;
  for (const std::string& line : mine) {
    bytes.insert(bytes.end(), line.begin(), line.end());
    bytes.push_back('\n');
  }
  std::vector<std::string> lines;
  std::string line;
  for (const char c : gather_rows(bytes, comm)) {
    if (c == '\n')
      lines.push_back(std::exchange(line, {}));
    else
      line += c;
  }
  return lines;
}

std::int64_t sum_of(std::int64_t mine, MPI_Comm comm) {
  std::int64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  return all;
}

std::string cut(std::vector<std::string> lines, std::int64_t total) {
  if (lines.size() > lines_shown) lines.resize(lines_shown);
  std::string text = fmt::format("{}", fmt::join(lines, "\n  "));
  if (total > static_cast<std::int64_t>(lines.size()))
    text += fmt::format("\n  and {} more", total - static_cast<std::int64_t>(lines.size()));
  return text;
}

/// Ends the replay on every rank with one message, said by rank 0.
[[noreturn]] void fail(const std::string& message, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  throw SharedFailure{rank == 0 ? message : std::string()};
}

std::string shown(double ps) {
  return ps < 9e18 ? format_duration(Duration{static_cast<std::int64_t>(ps)})
                   : fmt::format("{:.4g} s", ps * 1e-12);
}

/// The processes worth a row: all, or those that end first and last.
std::vector<std::size_t> shown(const std::vector<ProcessRow>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (rows.size() <= rows_shown) return order;
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return rows[a].end_ps > rows[b].end_ps; });
  order.erase(order.begin() + rows_shown / 2, order.end() - rows_shown / 2);
  std::ranges::sort(order);
  return order;
}

std::string table(const Summary& s) {
  std::string text = fmt::format("{:>9}  {:>12}  {:>13}  {:>12}  {:>12}  {:>12}  {:>7}\n", "process",
                                 "computation", "communication", "idle", "of it waits", "end", "load");
  const auto line = [&](const std::string& name, const std::array<double, 5>& ps, double time) {
    text += fmt::format("{:>9}  {:>12}  {:>13}  {:>12}  {:>12}  {:>12}  {:>7}\n", name, shown(ps[0]),
                        shown(ps[1]), shown(ps[2]), shown(ps[3]), shown(ps[4]),
                        time > 0 ? fmt::format("{:.1f} %", 100 * ps[0] / time) : "-");
  };
  for (const std::size_t p : shown(s.processes)) {
    const ProcessRow& r = s.processes[p];
    const auto of = [](std::int64_t ps) { return static_cast<double>(ps); };
    line(std::to_string(p),
         {of(r.computation_ps), of(r.communication_ps), of(r.idle_ps), of(r.waiting_ps), of(r.end_ps)},
         of(s.predicted_ps) * r.threads);
  }
  const Total& t = s.total;
  line("total", {t.computation_ps, t.communication_ps, t.idle_ps, t.waiting_ps, t.end_ps}, t.time_ps);
  if (s.processes.size() > rows_shown)
    text += fmt::format("(of {} processes the {} that end last and first)\n", s.processes.size(), rows_shown);
  return text;
}

std::string comparison(std::int64_t recorded, std::int64_t predicted) {
  if (recorded <= 0 || predicted <= 0) return "";
  const double ratio = static_cast<double>(recorded) / static_cast<double>(predicted);
  return ratio >= 1 ? fmt::format("{:.3g} times as fast", ratio)
                    : fmt::format("{:.3g} times as slow", 1 / ratio);
}

}  // namespace

void Summary::add_up() {
  total = {};
  predicted_ps = recorded_ps = 0;
  for (const ProcessRow& r : processes) {
    predicted_ps = std::max(predicted_ps, r.end_ps);
    recorded_ps = std::max(recorded_ps, r.recorded_ps);
  }
  for (ProcessRow& r : processes) {
    const std::int64_t busy = r.computation_ps + r.communication_ps;
    r.idle_ps = r.threads * predicted_ps - busy;
    total.computation_ps += static_cast<double>(r.computation_ps);
    total.communication_ps += static_cast<double>(r.communication_ps);
    total.idle_ps += static_cast<double>(r.idle_ps);
    total.waiting_ps += static_cast<double>(r.waiting_ps);
    total.end_ps += static_cast<double>(r.end_ps);
    total.time_ps += static_cast<double>(r.threads) * static_cast<double>(predicted_ps);
  }
  const double one = serial_ps > 0 ? static_cast<double>(serial_ps) : total.computation_ps;
  const double whole = static_cast<double>(predicted_ps) * static_cast<double>(processes.size());
  speedup = predicted_ps > 0 ? one / static_cast<double>(predicted_ps) : 1;
  efficiency = whole > 0 ? one / whole : 1;
  busy_share = total.time_ps > 0 ? 1 - total.idle_ps / total.time_ps : 1;
}

Summary gather(const engine::Outcome& o, std::size_t machine, const std::string& trace_file,
               const trace::Facts& facts, MPI_Comm comm) {
  if (o.failed) {
    const auto failures =
        gather_lines(o.failure.empty() ? std::vector<std::string>{} : std::vector{o.failure}, comm);
    fail(failures.empty() ? "a rank failed" : failures.front(), comm);
  }
  const std::int64_t blocked = sum_of(o.blocked_processes, comm), cut_off = sum_of(o.cut_processes, comm);
  const auto waiting = gather_lines(o.blocked, comm);
  if (blocked > 0 && cut_off == 0)
    fail(fmt::format(
             "{}: the replay cannot go on: {} of {} processes wait for messages that were never sent\n  {}",
             trace_file, blocked, facts.processes, cut(waiting, blocked)),
         comm);
  Summary s;
  s.trace_file = trace_file;
  s.facts = facts;
  MPI_Comm_size(comm, &s.ranks);
  std::int64_t calls = 0, messages = 0;
  std::vector<ProcessRow> rows;
  for (const engine::Account& a : o.accounts[machine]) {
    calls += a.calls;
    messages += a.messages;
    rows.push_back({a.computation.count(), a.communication().count(), a.waiting.count(),
                    a.end.time_since_epoch().count(), a.recorded.count(), 0, a.calls, a.threads});
  }
  s.processes = in_order(gather_rows(rows, comm), gather_rows(o.processes, comm));
  s.add_up();
  s.calls = sum_of(calls, comm);
  s.messages = sum_of(messages, comm);
  s.cut_processes = cut_off;
  if (cut_off > 0)
    s.warnings.push_back(
        fmt::format("the records of {} of {} processes end before MPI_Finalize: this is the prediction up to "
                    "their last common point",
                    cut_off, facts.processes));
  if (blocked > 0)
    s.warnings.push_back(fmt::format("{} processes wait there for messages that are not in the trace:\n  {}",
                                     blocked, cut(waiting, blocked)));
  s.metrics = {o.metrics, gather_rows(o.metric_rows, comm)};
  std::ranges::stable_sort(s.metrics.rows, {}, &observe::Row::process);
  s.network = o.network;
  const std::int64_t unpaired = sum_of(o.unpaired_metrics, comm);
  const auto unpaired_lines = gather_lines(o.unpaired, comm);
  if (unpaired > 0)
    s.warnings.push_back(fmt::format("regions and timers that do not begin and end in pairs:\n  {}",
                                     cut(unpaired_lines, unpaired)));
  s.unreceived = sum_of(o.unreceived_messages, comm);
  const auto lines = gather_lines(o.unreceived, comm);
  if (s.unreceived > 0)
    s.warnings.push_back(fmt::format("{} messages were sent and never received:\n  {}", s.unreceived,
                                     cut(lines, static_cast<std::int64_t>(lines.size()))));
  return s;
}

std::string to_text(const Summary& s) {
  const std::int64_t predicted = s.predicted_ps, recorded = s.recorded_ps;
  std::string text;
  text += fmt::format("trace       {}: {} processes, {} calls, {} messages\n", s.trace_file,
                      format_count(s.facts.processes), format_count(s.calls), format_count(s.messages));
  if (!s.facts.command.empty()) text += fmt::format("program     {}\n", s.facts.command);
  text += fmt::format("machine     {}\n", s.machine.name);
  for (const auto& [key, value] : s.machine.settings)
    text += fmt::format("            {} = {}\n", key, value);
  text += fmt::format("recorded    {}\n", format_duration(Duration{recorded}));
  text += fmt::format("predicted   {}   {}\n", format_duration(Duration{predicted}),
                      comparison(recorded, predicted));
  text += fmt::format(
      "efficiency  {:.1f} %: {:.3g} times as fast as one processor ({}); {:.1f} % idle\n", 100 * s.efficiency,
      s.speedup,
      s.serial_ps > 0 ? format_duration(Duration{s.serial_ps}) + ", as given" : "that computes all of it",
      100 * (1 - s.busy_share));
  if (!s.processes.empty()) {
    const auto slowest = std::ranges::max_element(s.processes, {}, &ProcessRow::end_ps) - s.processes.begin();
    const auto busiest =
        std::ranges::max_element(s.processes, {}, &ProcessRow::computation_ps) - s.processes.begin();
    text += fmt::format("slowest     process {} ends last; process {} computes most\n", slowest, busiest);
  }
  text += "\n" + table(s) + to_text(s.metrics) + "\n";
  for (const std::string& line : s.network.lines) text += line + "\n";
  if (!s.network.lines.empty()) text += "\n";
  if (s.diagnosis) text += performance::to_text(*s.diagnosis, Duration{predicted}) + "\n";
  for (const auto& [query, values] : s.answers) text += query + "\n" + performance::to_text(values) + "\n";
  for (const std::string& w : s.warnings) text += "warning: " + w + "\n";
  text += fmt::format("replayed in {:.3f} s on {} {}: {} calls/s\n", s.replay_seconds, s.ranks,
                      s.ranks == 1 ? "rank" : "ranks",
                      format_count(static_cast<std::int64_t>(s.calls_per_second())));
  return text;
}

std::string to_json(const Summary& s) {
  nlohmann::ordered_json j;
  j["trace"] = s.trace_file;
  j["program"] = s.facts.command;
  j["machine"] = {{"name", s.machine.name}, {"settings", s.machine.settings}};
  j["processes"] = s.facts.processes;
  j["calls"] = s.calls;
  j["messages"] = s.messages;
  j["unreceived_messages"] = s.unreceived;
  j["cut_processes"] = s.cut_processes;
  j["predicted_ps"] = s.predicted_ps;
  j["recorded_ps"] = s.recorded_ps;
  j["efficiency"] = s.efficiency;
  j["speedup"] = s.speedup;
  j["idle_share"] = 1 - s.busy_share;
  j["ranks"] = s.ranks;
  j["replay_seconds"] = s.replay_seconds;
  j["calls_per_second"] = s.calls_per_second();
  auto& rows = j["per_process"] = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < s.processes.size(); p++) {
    const ProcessRow& r = s.processes[p];
    rows.push_back({{"process", p},
                    {"computation_ps", r.computation_ps},
                    {"communication_ps", r.communication_ps},
                    {"idle_ps", r.idle_ps},
                    {"waiting_ps", r.waiting_ps},
                    {"end_ps", r.end_ps},
                    {"recorded_ps", r.recorded_ps}});
  }
  add_json(s.metrics, j);
  if (!s.network.json.empty()) j["network"] = nlohmann::ordered_json::parse(s.network.json);
  if (s.diagnosis) j["diagnosis"] = nlohmann::ordered_json::parse(performance::to_json(*s.diagnosis));
  for (const auto& [query, values] : s.answers)
    j["queries"].push_back(
        {{"query", query}, {"values", nlohmann::ordered_json::parse(performance::to_json(values))}});
  // Names are the program's, and need not be UTF-8.
  return j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace simreplay::report
