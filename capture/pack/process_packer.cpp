#include "capture/pack/process_packer.hpp"

#include <algorithm>

namespace simreplay::pack {

using spool::Completion;
using spool::Record;

void ProcessPacker::add(const Record& record, std::span<const std::int64_t> items) {
  if (!sound_) return;
  if (record.kind == spool::own_time_kind || record.kind == spool::communicator_kind)
    own_time_.push_back({record.enter, record.leave});
  else
    add_call(record, items);
}

void ProcessPacker::add_call(const Record& record, std::span<const std::int64_t> items) {
  const OpInfo& op = info(static_cast<Op>(record.kind));
  items_.clear();
  if (!ranks_.knows(record.communicator) || !translate(record, items)) {
    sound_ = false;
    return;
  }
  trace::Signature s;
  s.op = op.op;
  s.flags = record.flags;
  s.communicator = ranks_.id(record.communicator);
  s.peer = ranks_.world_rank(record.communicator, record.peer);
  s.tag = record.tag;
  s.bytes = record.bytes;
  if (op.verb == Verb::post_send || op.verb == Verb::post_receive) s.request = slots_.open(record.request);
  s.items = items_;
  encode(s, record.enter, record.leave);
}

void ProcessPacker::exit(std::int64_t at_ns) {
  trace::Signature s;
  s.op = Op::Exit;
  encode(s, at_ns, at_ns);
}

bool ProcessPacker::translate(const Record& record, std::span<const std::int64_t> items) {
  switch (info(static_cast<Op>(record.kind)).items) {
    case Items::requests:
      return translate_requests(items, record.kind != static_cast<std::uint16_t>(Op::Cancel));
    case Items::communicator:
      if (items.size() > 1) return false;
      if (!items.empty() &&
          (items[0] < 0 || items[0] > INT32_MAX || !ranks_.knows(static_cast<std::int32_t>(items[0]))))
        return false;
      if (!items.empty()) items_.push_back(ranks_.id(static_cast<std::int32_t>(items[0])));
      return true;
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

/// Calls of several threads may overlap; in the trace they follow each other.
void ProcessPacker::encode(const trace::Signature& signature, std::int64_t enter, std::int64_t leave) {
  enter = std::max(enter, previous_leave_);
  leave = std::max(leave, enter);
  const std::int64_t computation = enter - previous_leave_ - own_time_until(enter);
  encoder_.add(signature, std::max<std::int64_t>(computation, 0), leave - enter);
  previous_leave_ = leave;
  calls_++;
}

/// How much of the gap before `enter` the recorder took for itself.
std::int64_t ProcessPacker::own_time_until(std::int64_t enter) {
  std::int64_t sum = 0;
  for (const Interval& own : own_time_)
    sum += std::max<std::int64_t>(std::min(own.leave, enter) - std::max(own.enter, previous_leave_), 0);
  std::erase_if(own_time_, [enter](const Interval& own) { return own.leave <= enter; });
  return sum;
}

}  // namespace simreplay::pack
