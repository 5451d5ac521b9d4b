#include "replay/report/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/units.hpp"

namespace simreplay::report {
namespace {

using nlohmann::ordered_json;
using observe::Moment;
using observe::Row;
using trace::MetricKind;

/// A metric, or a timer under a predicate, over the processes that have it.
struct Total {
  const Row* first = nullptr;
  std::vector<const Row*> rows;
  std::int64_t times = 0, last = 0, least = INT64_MAX, most = INT64_MIN;
  Moment sum{};
  const Row* longest = nullptr;
  double area = 0;

  void add(const Row& r) {
    if (first == nullptr) first = longest = &r;
    rows.push_back(&r);
    times += r.times;
    sum += r.sum;
    __builtin_add_overflow(last, r.last, &last);  // as counters themselves
    least = std::min(least, r.least);
    most = std::max(most, r.most);
    area += static_cast<double>(r.area);
    if (r.sum.time > longest->sum.time) longest = &r;
  }
  std::int64_t mean_ps() const { return sum.time / static_cast<std::int64_t>(rows.size()); }
  double level() const {
    return sum.time > 0 ? area / static_cast<double>(sum.time) : static_cast<double>(last);
  }
};

/// By metric and counter of the predicate: those come after their timers.
using Totals = std::map<std::pair<std::int32_t, std::int32_t>, Total>;

Totals totals_of(const MetricTable& table, MetricKind kind) {
  Totals totals;
  for (const Row& r : table.rows)
    if (table.metrics[static_cast<std::size_t>(r.metric)].kind == kind) totals[{r.metric, r.counter}].add(r);
  return totals;
}

const std::string& name_of(const MetricTable& table, std::int32_t metric) {
  return table.metrics[static_cast<std::size_t>(metric)].name;
}

std::string time(std::int64_t ps) { return format_duration(Duration{ps}); }

// ---- text ----

std::string regions_text(const MetricTable& table) {
  std::string text = fmt::format(
      "{:<20} {:>9}  {:>11}  {:>13}  {:>11}  {:>11}  {:>11}  {:>11}  {:>7}  {:>11}\n", "region", "entries",
      "computation", "communication", "waiting", "time", "mean", "longest", "process", "recorded");
  for (const auto& [key, t] : totals_of(table, MetricKind::region))
    text += fmt::format("{:<20} {:>9}  {:>11}  {:>13}  {:>11}  {:>11}  {:>11}  {:>11}  {:>7}  {:>11}\n",
                        name_of(table, key.first), format_count(t.times), time(t.sum.computation),
                        time(t.sum.communication()), time(t.sum.waiting), time(t.sum.time), time(t.mean_ps()),
                        time(t.longest->sum.time), t.longest->process, time(t.sum.recorded_time));
  return text;
}

std::string counters_text(const MetricTable& table) {
  std::string text = fmt::format("{:<20} {:>9}  {:>12}  {:>12}  {:>12}  {:>12}\n", "counter", "changes",
                                 "least", "mean", "most", "last");
  for (const auto& [key, t] : totals_of(table, MetricKind::counter))
    text += fmt::format("{:<20} {:>9}  {:>12}  {:>12.6g}  {:>12}  {:>12}\n", name_of(table, key.first),
                        format_count(t.times), t.least, t.level(), t.most, t.last);
  return text;
}

std::string timers_text(const MetricTable& table) {
  std::string text = fmt::format("{:<20} {:>9}  {:>11}  {:>11}  {:>11}  {:>7}  {:>11}\n", "timer", "starts",
                                 "time", "mean", "longest", "process", "recorded");
  for (const auto& [key, t] : totals_of(table, MetricKind::timer)) {
    const bool is_predicate = key.second >= 0;
    text += fmt::format("{:<20} {:>9}  {:>11}  {:>11}  {:>11}  {:>7}  {:>11}\n",
                        is_predicate ? "  while " + name_of(table, key.second) : name_of(table, key.first),
                        is_predicate ? "" : format_count(t.times), time(t.sum.time), time(t.mean_ps()),
                        time(t.longest->sum.time), t.longest->process, time(t.sum.recorded_time));
  }
  return text;
}

// ---- JSON ----

ordered_json of_region(const Moment& m, std::int64_t entries) {
  return {{"entries", entries},
          {"time_ps", m.time},
          {"computation_ps", m.computation},
          {"communication_ps", m.communication()},
          {"waiting_ps", m.waiting},
          {"recorded_ps", m.recorded_time},
          {"recorded_computation_ps", m.recorded_computation}};
}

ordered_json of_counter(const Total& t) {
  return {{"changes", t.times}, {"last", t.last}, {"least", t.least}, {"most", t.most}, {"mean", t.level()}};
}

void add_extremes(ordered_json& to, const Total& t) {
  to["mean_ps"] = t.mean_ps();
  to["longest_ps"] = t.longest->sum.time;
  to["longest_process"] = t.longest->process;
}

/// `j` says what it is, `whole` how it was over all processes, `part(row)` in one.
template <class Part>
ordered_json with_processes(ordered_json j, const Total& t, const ordered_json& whole, Part&& part) {
  j["processes"] = t.rows.size();
  j.update(whole);
  if (!whole.contains("changes")) add_extremes(j, t);
  ordered_json& rows = j["per_process"] = ordered_json::array();
  for (const Row* r : t.rows) {
    ordered_json row{{"process", r->process}};
    row.update(part(*r));
    rows.push_back(std::move(row));
  }
  return j;
}

ordered_json regions_json(const MetricTable& table) {
  ordered_json list = ordered_json::array();
  for (const auto& [key, t] : totals_of(table, MetricKind::region))
    list.push_back(with_processes({{"name", name_of(table, key.first)}}, t, of_region(t.sum, t.times),
                                  [](const Row& r) { return of_region(r.sum, r.times); }));
  return list;
}

ordered_json counters_json(const MetricTable& table) {
  ordered_json list = ordered_json::array();
  for (const auto& [key, t] : totals_of(table, MetricKind::counter))
    list.push_back(with_processes({{"name", name_of(table, key.first)}}, t, of_counter(t), [](const Row& r) {
      Total one;
      one.add(r);
      return of_counter(one);
    }));
  return list;
}

/// A predicate is a timer with the counter that lets it run.
ordered_json timers_json(const MetricTable& table) {
  ordered_json list = ordered_json::array();
  for (const auto& [key, t] : totals_of(table, MetricKind::timer)) {
    const bool is_predicate = key.second >= 0;
    ordered_json head{{"name", name_of(table, key.first)}};
    if (is_predicate) head["while"] = name_of(table, key.second);
    const auto numbers = [is_predicate](const Moment& m, std::int64_t starts) {
      ordered_json j;
      if (!is_predicate) j["starts"] = starts;
      j["time_ps"] = m.time;
      j["recorded_ps"] = m.recorded_time;
      return j;
    };
    list.push_back(with_processes(std::move(head), t, numbers(t.sum, t.times),
                                  [&](const Row& r) { return numbers(r.sum, r.times); }));
  }
  return list;
}

constexpr struct {
  MetricKind kind;
  const char* name;
  std::string (*text)(const MetricTable&);
  ordered_json (*json)(const MetricTable&);
} parts[] = {{MetricKind::region, "regions", regions_text, regions_json},
             {MetricKind::counter, "counters", counters_text, counters_json},
             {MetricKind::timer, "timers", timers_text, timers_json}};

bool has(const MetricTable& table, MetricKind kind) {
  return std::ranges::any_of(table.rows, [&](const Row& r) {
    return table.metrics[static_cast<std::size_t>(r.metric)].kind == kind;
  });
}

}  // namespace

std::string to_text(const MetricTable& table) {
  std::string text;
  for (const auto& part : parts)
    if (has(table, part.kind)) text += "\n" + part.text(table);
  return text;
}

void add_json(const MetricTable& table, ordered_json& to) {
  if (table.metrics.empty()) return;
  for (const auto& part : parts) to[part.name] = part.json(table);
}

}  // namespace simreplay::report
