#include "capture/simtrace/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/saturated.hpp"
#include "common/error.hpp"
#include "common/units.hpp"

namespace simreplay::simtrace {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t window_calls = 1U << 16;
constexpr std::int32_t processes_at_once = 1 << 16;
constexpr std::size_t incomplete_shown = 20;

/// Calls and time of each signature of one segment: summed first, so that a call costs two additions.
struct SignatureSum {
  std::uint64_t calls = 0;
  std::int64_t ticks = 0;
};

std::int64_t bytes_of(const trace::Signature& s) {
  if ((s.flags & trace::nothing_found) != 0) return 0;  // there it counts folded calls
  return s.bytes;
}

/// True for the calls whose time is not part of the run.
bool outside_of_run(Verb verb) { return verb == Verb::start || verb == Verb::finish; }

class Summing {
 public:
  Summing(Summary& summary, const trace::Reader& reader) : summary_(summary), reader_(reader) {}

  void process(const ProcessRows& rows) {
    CallStream stream(reader_, rows);
    own_ticks_ = 0;
    while (stream.read(window_, window_calls)) {
      sums_.assign(stream.table().size(), {});
      for (std::size_t i = 0; i < window_.size(); i++) {
        SignatureSum& sum = sums_[window_.signature[i]];
        sum.calls++;
        sum.ticks = saturated_sum(sum.ticks, window_.duration[i]);
        own_ticks_ = saturated_sum(own_ticks_, window_.computation[i]);
      }
      add_window(stream.table());
    }
    summary_.longest_ticks = std::max(summary_.longest_ticks, own_ticks_);
  }

 private:
  void add_window(const trace::SignatureTable& table) {
    for (std::size_t i = 0; i < table.size(); i++) {
      const trace::Signature s = table[i];
      OperationSum& sum = summary_.operations[static_cast<std::size_t>(s.op)];
      sum.calls += sums_[i].calls;
      sum.ticks = saturated_sum(sum.ticks, sums_[i].ticks);
      sum.bytes =
          saturated_sum(sum.bytes, saturated_product(bytes_of(s), static_cast<std::int64_t>(sums_[i].calls)));
      if (!outside_of_run(info(s.op).verb)) own_ticks_ = saturated_sum(own_ticks_, sums_[i].ticks);
    }
  }

  Summary& summary_;
  const trace::Reader& reader_;
  Window window_;
  std::vector<SignatureSum> sums_;
  std::int64_t own_ticks_ = 0;
};

void add_processes(Summary& summary, std::int32_t first, const std::vector<trace::Process>& processes) {
  for (std::size_t i = 0; i < processes.size(); i++) {
    if (!processes[i].host.empty()) summary.hosts[processes[i].host]++;
    if (processes[i].complete) continue;
    summary.incomplete_count++;
    if (summary.incomplete.size() < incomplete_shown)
      summary.incomplete.push_back(first + static_cast<std::int32_t>(i));
  }
}

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

std::string file_text(std::uint64_t size, std::uint64_t calls) {
  const double per_call = calls == 0 ? 0 : static_cast<double>(size) / static_cast<double>(calls);
  return fmt::format("{}, {:.1f} bytes per call", format_bytes(count(size)), per_call);
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
  line("calls", format_count(count(reader.extent().calls)));
  line("recorded time", time_text(summary.longest_ticks, facts));
  line("file", file_text(size, reader.extent().calls));
  fmt::print("\n{:<30} {:>15} {:>12} {:>12}\n", "operation", "calls", "total time", "bytes");
  for (const OpInfo& row : mpi_ops) {
    const OperationSum& sum = summary.operations[static_cast<std::size_t>(row.op)];
    if (sum.calls > 0)
      fmt::print("{:<30} {:>15} {:>12} {:>12}\n", row.name, format_count(count(sum.calls)),
                 time_text(sum.ticks, facts), format_bytes(sum.bytes));
  }
}

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
                 {"calls", reader.extent().calls},
                 {"signatures", reader.extent().signatures},
                 {"segments", reader.extent().segments},
                 {"recorded_time_s", seconds(summary.longest_ticks, facts)},
                 {"file_bytes", size},
                 {"operations", ordered_json::object()}};
  for (const auto& [name, processes] : summary.hosts) j["hosts"][name] = processes;
  for (const OpInfo& row : mpi_ops) {
    const OperationSum& sum = summary.operations[static_cast<std::size_t>(row.op)];
    if (sum.calls > 0)
      j["operations"][std::string(row.name)] = {
          {"calls", sum.calls}, {"time_s", seconds(sum.ticks, facts)}, {"bytes", sum.bytes}};
  }
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
  std::int64_t now = 0, left = range.count;
  fmt::print("{:>10} {:>18} {:>12} {:>12}  {}\n", "call", "enter", "computation", "duration", "operation");
  while (left > 0 && stream.read(window, window_calls))
    for (std::size_t i = 0; i < window.size() && left > 0; i++) {
      const std::int64_t index = count(window.first + i), enter = saturated_sum(now, window.computation[i]);
      now = saturated_sum(enter, window.duration[i]);
      if (index < range.first) continue;
      left--;
      fmt::print("{:>10} {:>18} {:>12} {:>12}  {}\n", index, exact_time(enter, facts),
                 tick(window.computation[i]), tick(window.duration[i]),
                 describe(stream.table()[window.signature[i]]));
    }
}

// ---- the arguments of a call ----

constexpr struct {
  trace::Flag flag;
  const char* text;
} flag_names[] = {{trace::any_source, "any source"}, {trace::any_tag, "any tag"},
                  {trace::cancelled, "cancelled"},   {trace::nothing_found, "nothing found"},
                  {trace::in_place, "in place"},     {trace::not_commutative, "not commutative"}};

constexpr std::size_t items_shown = 16;

std::string rank_text(std::int64_t rank) {
  if (rank == trace::nobody) return "none";
  if (rank == trace::anybody) return "any";
  return std::to_string(rank);
}

std::string list_text(std::span<const std::int64_t> items) {
  const auto shown = items.first(std::min(items.size(), items_shown));
  return fmt::format("[{}{}]", fmt::join(shown, " "), shown.size() < items.size() ? " ..." : "");
}

bool is_point_to_point(Verb v) {
  return v == Verb::send || v == Verb::receive || v == Verb::exchange || v == Verb::post_send ||
         v == Verb::post_receive || v == Verb::probe;
}

std::string items_text(const OpInfo& row, std::span<const std::int64_t> items) {
  switch (row.items) {
    case Items::none:
      return "";
    case Items::requests:
      return "requests " + list_text(items);
    case Items::receive_half:
      return items.size() == 3 ? fmt::format("received from {} tag {} {} B", rank_text(items[0]),
                                             rank_text(items[1]), items[2])
                               : list_text(items);
    case Items::blocks_at_root:
    case Items::blocks:
    case Items::blocks_twice:
      return items.empty() ? "" : "blocks " + list_text(items);
    case Items::communicator:
      return items.empty() ? "no new communicator" : "new communicator " + list_text(items);
  }
  return "";
}

}  // namespace

std::string describe(const trace::Signature& s) {
  const OpInfo& row = info(s.op);
  std::vector<std::string> parts{std::string(row.name)};
  const bool collective = row.verb == Verb::collective || row.verb == Verb::create || s.op == Op::Comm_free;
  const bool to = row.verb == Verb::send || row.verb == Verb::post_send || row.verb == Verb::exchange;
  if (is_point_to_point(row.verb))
    parts.push_back(fmt::format("{} {} tag {}", to ? "to" : "from", rank_text(s.peer), rank_text(s.tag)));
  if (row.rooted) parts.push_back("root " + rank_text(s.peer));
  if (is_point_to_point(row.verb) || row.verb == Verb::collective)
    parts.push_back(fmt::format("{} B", s.bytes));
  if (is_point_to_point(row.verb) || collective)
    parts.push_back(fmt::format("communicator {}", s.communicator));
  if (s.request != trace::nobody) parts.push_back(fmt::format("request {}", s.request));
  if (const std::string items = items_text(row, s.items); !items.empty()) parts.push_back(items);
  for (const auto& [flag, text] : flag_names)
    if ((s.flags & flag) != 0) parts.emplace_back(text);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Summary summarize(const trace::Reader& reader) {
  Summary summary;
  Summing summing(summary, reader);
  const std::int32_t processes = reader.facts().processes;
  for (std::int32_t first = 0; first < processes; first += processes_at_once) {
    const std::int32_t n = std::min(processes_at_once, processes - first);
    add_processes(summary, first, reader.processes(first, n));
    for (const ProcessRows& rows : rows_of(reader, first, n)) summing.process(rows);
  }
  return summary;
}

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
    fmt::print("{}\n", to_json(reader, summary, size).dump(2));
  else
    print_text(reader, summary, size);
  return Exit::success;
}

}  // namespace simreplay::simtrace
