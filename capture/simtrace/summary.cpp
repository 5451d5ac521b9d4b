#include "capture/simtrace/summary.hpp"

#include <algorithm>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/enum_table.hpp"
#include "capture/simtrace/items.hpp"
#include "capture/simtrace/saturated.hpp"
#include "capture/simtrace/timeline.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

constexpr std::size_t window_calls = 1U << 16;
constexpr std::int32_t processes_at_once = 1 << 16;
constexpr std::size_t incomplete_shown = 20;

// ---- what a call moves ----

Traffic operator+(const Traffic& a, const Traffic& b) {
  return {saturated_sum(a.count, b.count), saturated_sum(a.bytes, b.bytes)};
}
Traffic operator*(const Traffic& a, std::int64_t times) {
  return {saturated_product(a.count, times), saturated_product(a.bytes, times)};
}

Traffic one(const Signature& s) {
  const bool moves = s.peer >= 0 && (s.flags & trace::cancelled) == 0;
  return moves ? Traffic{1, s.bytes} : Traffic{};
}

Traffic started(const Signature& s) {
  Traffic sum;
  for (std::size_t i = 0; i < number_of_starts(s.items); i++)
    if (const Start m = start_in(s.items, i);
        m.mode != starts_receive && m.peer >= 0 && (m.flags & trace::cancelled) == 0)
      sum = sum + Traffic{1, m.bytes};
  return sum;
}

struct Mover {
  Traffic Summary::*sum = nullptr;
  Traffic (*of)(const Signature&) = nullptr;
};
constexpr VerbTable<Mover> movers({
    {Verb::send, {&Summary::messages, one}},
    {Verb::post_send, {&Summary::messages, one}},
    {Verb::exchange, {&Summary::messages, one}},
    {Verb::launch, {&Summary::messages, started}},
    {Verb::put, {&Summary::accesses, one}},
    {Verb::get, {&Summary::accesses, one}},
    {Verb::update, {&Summary::accesses, one}},
});

/// Bytes that the call names, sent or received.
std::int64_t bytes_of(const Signature& s) {
  const Verb verb = info(s.op).verb;
  if (is_folded(s) || verb == Verb::prepare) return 0;  // it counts calls, or what starts will move
  std::int64_t sum = s.bytes;
  for (std::size_t i = 0; verb == Verb::launch && i < number_of_starts(s.items); i++)
    sum = saturated_sum(sum, start_in(s.items, i).bytes);
  return sum;
}

/// True for the calls whose time is not part of the run.
bool outside_of_run(Verb verb) { return verb == Verb::start || verb == Verb::finish; }

/// Whether the mark counts for its metric: a region by its beginnings, a timer by its starts.
bool counts(Op mark) { return mark != Op::Region_end && mark != Op::Timer_stop && mark != Op::Timer_while; }

// ---- sums ----

/// Rows and time of each signature of one segment: summed first, so that a call costs two additions.
struct SignatureSum {
  std::int64_t rows = 0, ticks = 0;
};

class Summing {
 public:
  Summing(Summary& summary, const trace::Reader& reader) : summary_(summary), reader_(reader) {}

  void process(const ProcessRows& rows) {
    CallStream stream(reader_, rows);
    Timeline timeline;
    outside_ticks_ = 0;
    while (stream.read(window_, window_calls)) {
      if (stream.table_changed()) timeline.use(stream.table());
      sums_.assign(stream.table().size(), {});
      for (std::size_t i = 0; i < window_.size(); i++) {
        SignatureSum& sum = sums_[window_.signature[i]];
        sum.rows++;
        sum.ticks = saturated_sum(sum.ticks, window_.duration[i]);
        timeline.add(window_.signature[i], window_.computation[i], window_.duration[i]);
      }
      for (std::size_t i = 0; i < sums_.size(); i++)
        if (sums_[i].rows > 0) add(stream.table()[i], sums_[i]);
    }
    const std::int64_t own_ticks = saturated_sum(timeline.latest(), -outside_ticks_);
    summary_.longest_ticks = std::max(summary_.longest_ticks, own_ticks);
  }

 private:
  void add(const Signature& s, const SignatureSum& made) {
    const std::int64_t calls = saturated_product(calls_of(s), made.rows);
    OperationSum& sum = summary_.operations[static_cast<std::size_t>(s.op)];
    sum.rows += made.rows;
    sum.calls = saturated_sum(sum.calls, calls);
    sum.ticks = saturated_sum(sum.ticks, made.ticks);
    sum.bytes = saturated_sum(sum.bytes, saturated_product(bytes_of(s), made.rows));
    summary_.calls = saturated_sum(summary_.calls, calls);
    const Verb verb = info(s.op).verb;
    if (const auto& [moved, of] = movers[verb]; of != nullptr)
      summary_.*moved = summary_.*moved + of(s) * made.rows;
    if (verb == Verb::mark && counts(s.op)) summary_.metrics[static_cast<std::size_t>(s.tag)] += made.rows;
    if (outside_of_run(verb)) outside_ticks_ = saturated_sum(outside_ticks_, made.ticks);
  }

  Summary& summary_;
  const trace::Reader& reader_;
  Window window_;
  std::vector<SignatureSum> sums_;
  std::int64_t outside_ticks_ = 0;
};

void add_processes(Summary& summary, std::int32_t first, const std::vector<trace::Process>& processes) {
  for (std::size_t i = 0; i < processes.size(); i++) {
    if (!processes[i].host.empty()) summary.hosts[processes[i].host]++;
    if (processes[i].record != trace::Record::cut) continue;
    summary.incomplete_count++;
    if (summary.incomplete.size() < incomplete_shown)
      summary.incomplete.push_back(first + static_cast<std::int32_t>(i));
  }
}

}  // namespace

Summary summarize(const trace::Reader& reader) {
  Summary summary;
  summary.metrics.resize(reader.metrics().size());
  Summing summing(summary, reader);
  const std::int32_t processes = reader.facts().processes;
  for (std::int32_t first = 0; first < processes; first += processes_at_once) {
    const std::int32_t n = std::min(processes_at_once, processes - first);
    add_processes(summary, first, reader.processes(first, n));
    for (const ProcessRows& rows : rows_of(reader, first, n)) summing.process(rows);
  }
  return summary;
}

}  // namespace simreplay::simtrace
