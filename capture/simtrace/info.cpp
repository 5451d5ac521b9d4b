#include "capture/simtrace/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/describe.hpp"
#include "capture/simtrace/saturated.hpp"
#include "capture/simtrace/summary.hpp"
#include "capture/simtrace/timeline.hpp"
#include "common/error.hpp"
#include "common/units.hpp"

namespace simreplay::simtrace {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t window_calls = 1U << 16;

// ---- output ----

std::string joined(const std::vector<std::int32_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::int64_t count(std::uint64_t n) { return static_cast<std::int64_t>(n); }

double seconds(std::int64_t ticks, const trace::Facts& facts) {
  return static_cast<double>(ticks) * static_cast<double>(facts.tick_ps) * 1e-12;
}

std::string time_text(std::int64_t ticks, const trace::Facts& facts) {
  const std::int64_t ps = saturated_product(ticks, facts.tick_ps);
  if (ps == INT64_MAX) return fmt::format("{:.0f} s", seconds(ticks, facts));  // sums of many processes
  return format_duration(Duration{ps});
}

std::string completeness(const Summary& summary) {
  if (summary.incomplete_count == 0) return "all complete";
  const auto more = summary.incomplete_count - static_cast<std::int64_t>(summary.incomplete.size());
  return fmt::format("incomplete: {}{}", joined(summary.incomplete),
                     more > 0 ? fmt::format(" and {} more", format_count(more)) : "");
}

std::string hosts_text(const Summary& summary) {
  std::string text;
  for (const auto& [name, processes] : summary.hosts)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, format_count(processes));
  return text;
}

/// A row may stand for many calls.
std::string calls_text(std::int64_t calls, std::int64_t rows) {
  if (calls == rows) return format_count(calls);
  return fmt::format("{} in {} rows", format_count(calls), format_count(rows));
}

std::string traffic_text(const Traffic& t) {
  return t.count == 0 ? "" : fmt::format("{}, {}", format_count(t.count), format_bytes(t.bytes));
}

std::string file_text(std::uint64_t size, std::int64_t calls) {
  const double per_call = calls == 0 ? 0 : static_cast<double>(size) / static_cast<double>(calls);
  return fmt::format("{}, {:.1f} bytes per call", format_bytes(count(size)), per_call);
}

/// What is said of the metrics of each kind, by trace::MetricKind.
struct MetricWords {
  const char *one, *all, *counted;
};
constexpr MetricWords metric_words[] = {
    {"region", "regions", "entries"}, {"counter", "counters", "changes"}, {"timer", "timers", "starts"}};

void print_metrics(const std::vector<trace::Metric>& metrics, const Summary& summary) {
  for (std::size_t kind = 0; kind < std::size(metric_words); kind++) {
    bool is_first = true;
    for (std::size_t i = 0; i < metrics.size(); i++) {
      if (static_cast<std::size_t>(metrics[i].kind) != kind) continue;
      if (std::exchange(is_first, false))
        fmt::print("\n{:<30} {:>15}\n", metric_words[kind].one, metric_words[kind].counted);
      fmt::print("{:<30} {:>15}\n", metrics[i].name, format_count(summary.metrics[i]));
    }
  }
}

void print_text(const trace::Reader& reader, const Summary& summary, std::uint64_t size) {
  const trace::Facts& facts = reader.facts();
  const auto line = [](const char* name, const std::string& value) {
    if (!value.empty()) fmt::print("{:<15} {}\n", name, value);
  };
  line("kind", facts.kind);
  line("command", facts.command);
  line("MPI library", facts.mpi_library);
  line("started", facts.started);
  line("clock", facts.clock);
  line("processes", fmt::format("{}, {}", format_count(facts.processes), completeness(summary)));
  line("hosts", hosts_text(summary));
  line("communicators", format_count(count(reader.communicators().size())));
  line("calls", calls_text(summary.calls, count(reader.extent().calls)));
  line("messages", traffic_text(summary.messages));
  line("window accesses", traffic_text(summary.accesses));
  line("recorded time", time_text(summary.longest_ticks, facts));
  line("file", file_text(size, summary.calls));
  fmt::print("\n{:<30} {:>15} {:>15} {:>12} {:>12}\n", "operation", "calls", "rows", "total time", "bytes");
  for (const OpInfo& row : mpi_ops) {
    const OperationSum& sum = summary.operations[static_cast<std::size_t>(row.op)];
    if (sum.rows > 0)
      fmt::print("{:<30} {:>15} {:>15} {:>12} {:>12}\n", row.name, format_count(sum.calls),
                 format_count(sum.rows), time_text(sum.ticks, facts), format_bytes(sum.bytes));
  }
  print_metrics(reader.metrics(), summary);
}

void add_metrics(ordered_json& j, const std::vector<trace::Metric>& metrics, const Summary& summary) {
  for (const MetricWords& words : metric_words) j[words.all] = ordered_json::object();
  for (std::size_t i = 0; i < metrics.size(); i++)
    j[metric_words[static_cast<std::size_t>(metrics[i].kind)].all][metrics[i].name] = summary.metrics[i];
}

ordered_json to_json(const Traffic& t) { return {{"count", t.count}, {"bytes", t.bytes}}; }

ordered_json to_json(const trace::Reader& reader, const Summary& summary, std::uint64_t size) {
  const trace::Facts& facts = reader.facts();
  ordered_json j{{"kind", facts.kind},
                 {"command", facts.command},
                 {"mpi_library", facts.mpi_library},
                 {"started", facts.started},
                 {"clock", facts.clock},
                 {"processes", facts.processes},
                 {"incomplete_processes", summary.incomplete_count},
                 {"incomplete", summary.incomplete},
                 {"hosts", ordered_json::object()},
                 {"communicators", reader.communicators().size()},
                 {"calls", summary.calls},
                 {"rows", reader.extent().calls},
                 {"messages", to_json(summary.messages)},
                 {"window_accesses", to_json(summary.accesses)},
                 {"signatures", reader.extent().signatures},
                 {"segments", reader.extent().segments},
                 {"recorded_time_s", seconds(summary.longest_ticks, facts)},
                 {"file_bytes", size},
                 {"operations", ordered_json::object()}};
  for (const auto& [name, processes] : summary.hosts) j["hosts"][name] = processes;
  for (const OpInfo& row : mpi_ops) {
    const OperationSum& sum = summary.operations[static_cast<std::size_t>(row.op)];
    if (sum.rows > 0)
      j["operations"][std::string(row.name)] = {{"calls", sum.calls},
                                                {"rows", sum.rows},
                                                {"time_s", seconds(sum.ticks, facts)},
                                                {"bytes", sum.bytes}};
  }
  add_metrics(j, reader.metrics(), summary);
  return j;
}

/// Microseconds with every digit that the trace has: neighbouring calls differ in the last ones.
std::string exact_time(std::int64_t ticks, const trace::Facts& facts) {
  const std::int64_t ps = saturated_product(ticks, facts.tick_ps);
  if (facts.tick_ps % 1000 == 0) return fmt::format("{}.{:03} us", ps / 1'000'000, ps / 1000 % 1000);
  return fmt::format("{}.{:06} us", ps / 1'000'000, ps % 1'000'000);
}

void print_calls(const trace::Reader& reader, const CallRange& range) {
  const trace::Facts& facts = reader.facts();
  if (range.process >= facts.processes)
    throw UsageError(
        fmt::format("info: --calls: expected a process below {}, found {}", facts.processes, range.process));
  const ProcessRows rows = rows_of(reader, static_cast<std::int32_t>(range.process), 1)[0];
  CallStream stream(reader, rows);
  Window window;
  const auto tick = [&](std::int64_t t) {
    return format_duration(Duration{saturated_product(t, facts.tick_ps)});
  };
  Timeline timeline;
  std::int64_t left = range.count;
  fmt::print("{:>10} {:>18} {:>12} {:>12}  {}\n", "call", "enter", "computation", "duration", "operation");
  while (left > 0 && stream.read(window, window_calls)) {
    if (stream.table_changed()) timeline.use(stream.table());
    for (std::size_t i = 0; i < window.size() && left > 0; i++) {
      const std::uint16_t signature = window.signature[i];
      const auto [enter, leave] = timeline.add(signature, window.computation[i], window.duration[i]);
      const std::int64_t index = count(window.first + i);
      if (index < range.first) continue;
      left--;
      fmt::print("{:>10} {:>18} {:>12} {:>12}  {}\n", index, exact_time(enter, facts),
                 tick(window.computation[i]), tick(window.duration[i]),
                 describe(stream.table()[signature], reader.metrics()));
    }
  }
}

}  // namespace

CallRange parse_call_range(const std::string& text) {
  CallRange range;
  std::int64_t* const fields[] = {&range.process, &range.first, &range.count};
  std::size_t field = 0;
  std::istringstream in(text);
  try {
    for (std::string part; std::getline(in, part, ':'); field++) {
      if (field == std::size(fields))
        throw std::invalid_argument("expected at most three numbers, found '" + text + "'");
      *fields[field] = parse_count(part);
    }
    if (field == 0) throw std::invalid_argument("expected a process, found nothing");
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("info: --calls PROCESS[:FIRST[:COUNT]]: {}", e.what()));
  }
  return range;
}

Exit info_command(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("info FILE [options]", "Says what a trace holds.", {"FILE"});
  auto add = line.add_options();
  add("json", "print JSON");
  add("calls", po::value<std::string>()->value_name("PROCESS[:FIRST[:COUNT]]"),
      "print the calls of a process, one a line");
  if (!line.parse(arguments)) return Exit::success;
  const trace::Reader reader(line.text("FILE"));
  if (line.has("calls")) {
    print_calls(reader, parse_call_range(line.text("calls")));
    return Exit::success;
  }
  const Summary summary = summarize(reader);
  const std::uint64_t size = std::filesystem::file_size(reader.path());
  if (line.has("json"))
    fmt::print("{}\n",
               to_json(reader, summary, size).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  else
    print_text(reader, summary, size);
  return Exit::success;
}

}  // namespace simreplay::simtrace
