#include "capture/recorder/marks.hpp"

#include <algorithm>
#include <cstring>

#define SIMCAPTURE_RECORDER_
#include "capture/include/simcapture.h"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {
namespace {

using trace::MetricKind;

constexpr std::size_t longest_name = 255;
constexpr std::size_t most_kept = 1U << 16;  // marks before MPI_Init

/// By the numbers of simcapture.h.
constexpr Op operations[] = {Op::Region_begin, Op::Region_end, Op::Counter_set, Op::Counter_add,
                             Op::Timer_start,  Op::Timer_stop, Op::Timer_while};
static_assert(operations[SIMCAPTURE_REGION_BEGIN_] == Op::Region_begin &&
              operations[SIMCAPTURE_TIMER_WHILE_] == Op::Timer_while);
static_assert(SIMCAPTURE_REGION_ == static_cast<int>(MetricKind::region) &&
              SIMCAPTURE_COUNTER_ == static_cast<int>(MetricKind::counter) &&
              SIMCAPTURE_TIMER_ == static_cast<int>(MetricKind::timer));

/// Handles hold the kind, so that a mark need not look it up.
constexpr int handle_shift = 2;
constexpr std::int32_t most_metrics = INT32_MAX >> handle_shift;
constexpr bool is_handle_of(MetricKind kind, std::int64_t handle) {
  return handle >= 0 && handle <= INT32_MAX &&
         (handle & ((1 << handle_shift) - 1)) == static_cast<std::int64_t>(kind);
}
constexpr std::int32_t metric_of(std::int64_t handle) {
  return static_cast<std::int32_t>(handle >> handle_shift);
}

std::uint64_t hash(MetricKind kind, std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL ^ static_cast<std::uint64_t>(kind);  // FNV-1a
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h ^ (h >> 32);
}

Record record_of(Op op, std::int32_t metric, std::int64_t value) {
  Record record;
  record.kind = static_cast<std::uint16_t>(op);
  record.tag = metric;
  record.bytes = value;
  record.enter = record.leave = now();
  return record;
}

void mark(Op op, std::int32_t metric, std::int64_t value) {
  if (Nesting::is_inside()) return;
  if (recorder().hears_mark(Nesting::thread())) [[likely]]
    return record_mark(op, metric, value);
  if (recorder().is_waiting()) recorder().marks().keep(record_of(op, metric, value));
}

}  // namespace

std::uint32_t& Marks::slot_of(MetricKind kind, std::string_view name) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(kind, name) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if (const trace::Metric& m = metrics_[slots_[at] - 1]; m.kind == kind && m.name == name) break;
  return slots_[at];
}

void Marks::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
  for (std::uint32_t i = 0; i < metrics_.size(); i++) slot_of(metrics_[i].kind, metrics_[i].name) = i + 1;
}

std::int32_t Marks::find(MetricKind kind, const char* name) {
  const std::string_view text(name, strnlen(name, longest_name));
  const Lock lock(*this);
  if (2 * (metrics_.size() + 1) > slots_.size()) grow();
  std::uint32_t& slot = slot_of(kind, text);
  if (slot == 0) {
    metrics_.push_back({kind, std::string(text)});
    slot = static_cast<std::uint32_t>(metrics_.size());
  }
  return static_cast<std::int32_t>(slot - 1);
}

bool Marks::introduce_all(Recorder& recorder, std::int32_t metric) {
  const Lock lock(*this);
  for (; introduced_ < static_cast<std::int32_t>(metrics_.size()); introduced_++) {
    const trace::Metric& m = metrics_[static_cast<std::size_t>(introduced_)];
    Record record;
    record.kind = spool::metric_kind;
    record.enter = record.leave = now();
    record.tag = static_cast<std::int32_t>(m.kind);
    record.peer = introduced_;
    record.bytes = static_cast<std::int64_t>(m.name.size());
    std::vector<std::int64_t> words((m.name.size() + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
    std::copy(m.name.begin(), m.name.end(), reinterpret_cast<char*>(words.data()));
    recorder.append(record, std::span<const std::int64_t>(words));
  }
  return metric < introduced_;
}

void Marks::keep(const Record& mark) {
  const Lock lock(*this);
  if (kept_.size() == most_kept) return;
  kept_.push_back(mark);
  if (kept_.size() == most_kept)
    warn("regions, counters and timers before MPI_Init: only the first %zu calls are recorded", most_kept);
}

void Marks::put_out_kept(Recorder& recorder) {
  std::vector<Record> kept;
  {
    const Lock lock(*this);
    kept.swap(kept_);
  }
  for (Record& record : kept) recorder.append_mark(record);
}

void record_mark(Op op, std::int32_t metric, std::int64_t value) {
  const Recorder::ProcessorTime processor_time(recorder());
  Record record = record_of(op, metric, value);
  const Recorder::Lock lock(recorder());
  recorder().pass(record.enter);
  recorder().append_mark(record);
}

}  // namespace simreplay::recorder

using namespace simreplay;
using namespace simreplay::recorder;

extern "C" [[gnu::visibility("default")]] int simcapture_metric_(int kind, const char* name) {
  if (name == nullptr || kind < 0 || kind >= static_cast<int>(MetricKind::kinds) ||
      recorder::recorder().is_off())
    return -1;
  const std::int32_t metric = recorder::recorder().marks().find(static_cast<MetricKind>(kind), name);
  return metric > most_metrics ? -1 : metric << handle_shift | kind;
}

extern "C" [[gnu::visibility("default")]] void simcapture_mark_(int what, int metric, std::int64_t value) {
  if (what < 0 || static_cast<std::size_t>(what) >= std::size(operations)) return;
  const Op op = operations[what];
  if (!is_handle_of(trace::metric_kind_of(op), metric)) return;
  if (op == Op::Timer_while) {
    if (!is_handle_of(MetricKind::counter, value)) return;
    value = metric_of(value);
  }
  mark(op, metric_of(metric), value);
}
