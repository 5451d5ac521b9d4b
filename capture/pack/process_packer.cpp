#include "capture/pack/process_packer.hpp"

#include <algorithm>
#include <optional>

namespace simreplay::pack {

using spool::Completion;
using spool::Record;

void ProcessPacker::add(const Record& record, std::span<const std::int64_t> items) {
  if (!sound_) return;
  switch (record.kind) {
    case spool::skipped_kind:
    case spool::metric_kind:
      return;
    case spool::own_time_kind:
    case spool::communicator_kind:
      return times_.own_time(record.enter, record.leave);
    case spool::thread_kind:
      sound_ = record.peer >= 0 && record.peer <= UINT16_MAX;
      if (sound_) times_.switch_to(static_cast<std::uint16_t>(record.peer));
      return;
    default:
      return add_call(record, items);
  }
}

void ProcessPacker::add_call(const Record& record, std::span<const std::int64_t> items) {
  const OpInfo& op = info(static_cast<Op>(record.kind));
  std::optional<std::int64_t> processor_time;
  if ((record.flags & spool::has_processor_time) != 0 && !items.empty()) {
    processor_time = std::max<std::int64_t>(items.back(), 0);
    items = items.first(items.size() - 1);
  }
  items_.clear();
  trace::Signature s;
  s.op = op.op;
  s.tag = record.tag;
  s.bytes = record.bytes;
  if (!ranks_.knows(record.communicator) || !translate(record, items) ||
      (op.verb == Verb::mark && !translate_mark(record, s))) {
    sound_ = false;
    return;
  }
  s.flags = static_cast<std::uint16_t>(record.flags & ~spool::has_processor_time);
  if (is_alone(op, s.communicator = ranks_.id(record.communicator))) s.flags |= trace::alone;
  s.thread = times_.thread();
  s.peer = ranks_.world_rank(record.communicator, record.peer);
  if (record.request != 0) s.request = slots_.open(record.request);
  s.items = items_;
  const CallTimes::Times times = times_.add(record.enter, record.leave);
  s.overlaps = times.overlaps;
  if (processor_time) *processor_time = std::max<std::int64_t>(*processor_time - times.recording, 0);
  encoder_.add(s, processor_time.value_or(times.before), times.inside, times.before);
  calls_++;
  take_off_recording(op, record);
}

/// What the replay does not take off: it knows one call for each row, and no cost of marks.
void ProcessPacker::take_off_recording(const OpInfo& op, const Record& record) {
  const std::int64_t of_local = header_.overhead_ps[static_cast<std::size_t>(trace::Recording::local)];
  if (op.verb == Verb::local) times_.take_off((record.bytes - 1) * of_local / 1000);
  if (op.verb == Verb::mark) times_.take_off(header_.mark_overhead_ps / 1000);
}

/// Whether other members made this collective call while they were not recorded.
bool ProcessPacker::is_alone(const OpInfo& op, std::int32_t communicator) {
  if (alone_.empty() || !trace::is_collective(op.verb)) return false;
  const auto left = alone_.find(communicator);
  return left != alone_.end() && left->second-- > 0;
}

void ProcessPacker::exit(std::int64_t at_ns) {
  trace::Signature s;
  s.op = Op::Exit;
  times_.switch_to(0);
  const CallTimes::Times times = times_.add(at_ns, at_ns);
  encoder_.add(s, times.before, times.inside, times.before);
  calls_++;
}

bool ProcessPacker::translate(const Record& record, std::span<const std::int64_t> items) {
  switch (info(static_cast<Op>(record.kind)).items) {
    case Items::requests:
      return translate_requests(items, record.kind != static_cast<std::uint16_t>(Op::Cancel));
    case Items::communicator:
      return translate_created(items);
    case Items::starts:
      return translate_starts(items);
    case Items::neighbors:
      return translate_neighbors(record.communicator, items);
    case Items::receive_half:
      if (items.size() != 3) return false;
      items_.assign(items.begin(), items.end());
      items_[0] = ranks_.world_rank(record.communicator, static_cast<std::int32_t>(items[0]));
      return true;
    default:
      items_.assign(items.begin(), items.end());
      return true;
  }
}

bool ProcessPacker::translate_requests(std::span<const std::int64_t> items, bool closes) {
  for (; items.size() >= spool::words_per_completion; items = items.subspan(spool::words_per_completion)) {
    const Completion completion = spool::first_completion(items);
    const auto slot = closes ? slots_.close(completion.request) : slots_.find(completion.request);
    if (!slot) return false;
    items_.push_back(*slot);
  }
  return items.empty();
}

bool ProcessPacker::translate_created(std::span<const std::int64_t> items) {
  if (items.empty()) return true;
  if (items.size() > 1 || !ranks_.knows_word(items[0])) return false;
  items_.push_back(ranks_.id(static_cast<std::int32_t>(items[0])));
  return true;
}

bool ProcessPacker::translate_starts(std::span<const std::int64_t> items) {
  if (items.size() % start_words != 0) return false;
  for (std::size_t at = 0; at < items.size(); at += start_words) {
    const auto words = items.subspan(at, start_words);
    if (!ranks_.knows_word(words[start_communicator])) return false;
    const auto local = static_cast<std::int32_t>(words[start_communicator]);
    items_.insert(items_.end(), words.begin(), words.end());
    std::int64_t* to = items_.data() + at;
    to[start_communicator] = ranks_.id(local);
    to[start_peer] = ranks_.world_rank(local, static_cast<std::int32_t>(words[start_peer]));
    to[start_request] = slots_.open(static_cast<std::uint32_t>(words[start_request]));
  }
  return true;
}

bool ProcessPacker::translate_mark(const Record& record, trace::Signature& s) {
  const auto number = [this](std::int64_t metric, trace::MetricKind kind) {
    const bool known = metric >= 0 && metric < std::ssize(metrics_) &&
                       metrics_[static_cast<std::size_t>(metric)].metric.kind == kind;
    return known ? metrics_[static_cast<std::size_t>(metric)].number : -1;
  };
  const Items items = info(s.op).items;
  s.tag = number(record.tag, trace::metric_kind_of(s.op));
  s.bytes = 0;
  items_.clear();
  if (items == Items::value) items_ = {record.bytes};
  if (items == Items::counter) items_ = {number(record.bytes, trace::MetricKind::counter)};
  return s.tag >= 0 && (items != Items::counter || items_[0] >= 0);
}

/// Number of destinations, then rank and bytes of each destination and each source.
bool ProcessPacker::translate_neighbors(std::int32_t communicator, std::span<const std::int64_t> items) {
  const std::size_t pairs = items.size() / 2;
  if (items.size() % 2 != 1 || items[0] < 0 || static_cast<std::size_t>(items[0]) > pairs) return false;
  items_.assign(items.begin(), items.end());
  for (std::size_t i = 0; i < pairs; i++)
    items_[1 + 2 * i] = ranks_.world_rank(communicator, static_cast<std::int32_t>(items[1 + 2 * i]));
  return true;
}

}  // namespace simreplay::pack
