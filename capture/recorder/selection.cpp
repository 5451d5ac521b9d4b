#include "capture/recorder/selection.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "capture/recorder/recorder.hpp"

namespace simreplay::recorder {
namespace {

using spool::Skipped;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::int64_t nanoseconds(const char* seconds) {
  return static_cast<std::int64_t>(std::strtod(seconds, nullptr) * 1e9);
}

}  // namespace

bool Selection::chooses_processes() { return variable("SIMCAPTURE_PROCESSES") != nullptr; }

bool Selection::includes(int rank) {
  const char* list = variable("SIMCAPTURE_PROCESSES");
  if (list == nullptr) return true;
  while (*list != '\0') {
    char* end = nullptr;
    const long first = std::strtol(list, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    if (rank >= first && rank <= last) return true;
    if (*end != ',') break;
    list = end + 1;
  }
  return false;
}

Selection* Selection::from_environment(std::int64_t now) {
  const char *from = variable("SIMCAPTURE_FROM"), *length = variable("SIMCAPTURE_FOR");
  const bool paused = variable("SIMCAPTURE_PAUSED") != nullptr;
  if (from == nullptr && length == nullptr && !paused) return nullptr;
  auto* selection = new Selection(now, !paused && from == nullptr);
  if (from != nullptr) selection->begin_ = now + nanoseconds(from);
  if (length != nullptr) selection->end_ = (from != nullptr ? selection->begin_ : now) + nanoseconds(length);
  return selection;
}

std::size_t Selection::Hash::operator()(const Key& k) const {
  const auto word = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b);
  };
  std::uint64_t h = word(k.communicator, k.peer) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 29) ^ word(k.tag, k.what)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(h ^ (h >> 32));
}

void Selection::pause(std::int64_t now) {
  if (!records_) return;
  records_ = false;
  since_ = last_leave_ = now;
}

void Selection::pass(Recorder& recorder, std::int64_t now) {
  if (now >= end_) return recorder.end_selection();
  if (!records_ && now >= begin_) {
    begin_ = INT64_MAX;
    resume(recorder, now);
  }
}

/// The time that was left out is nobody's.
void Selection::resume(Recorder& recorder, std::int64_t now) {
  if (records_) return;
  records_ = true;
  spool::Record record;
  record.kind = spool::own_time_kind;
  record.enter = since_;
  record.leave = last_leave_ > since_ ? last_leave_ : now;
  recorder.append(record);
  const std::int64_t end = record.leave;
  for (const auto& [key, number] : skipped_) {
    record = {};
    record.kind = spool::skipped_kind;
    record.enter = record.leave = now;
    record.flags = key.what;
    record.communicator = key.communicator;
    record.peer = key.peer;
    record.tag = key.tag;
    record.bytes = number;
    record.request = resumes_;
    recorder.append(record);
  }
  skipped_.clear();
  resumes_++;
  resume_marks(recorder, end);
}

void Selection::resume_marks(Recorder& recorder, std::int64_t at) {
  for (Mark& mark : marks_) {
    mark.record.enter = mark.record.leave = at;
    recorder.append_mark_of(mark.thread, mark.record);
  }
  marks_.clear();
}

/// Keeps few, however many there are: what begins and ends leaves nothing, and a counter one value.
void Selection::leave_out_mark(const spool::Record& record, int thread) {
  last_leave_ = record.leave;
  const auto is = [&record, thread](Op op) {
    return [&record, thread, kind = static_cast<std::uint16_t>(op)](const Mark& m) {
      return m.thread == thread && m.record.tag == record.tag && m.record.kind == kind;
    };
  };
  const auto last = [&](Op op) { return std::find_if(marks_.rbegin(), marks_.rend(), is(op)); };
  switch (const auto op = static_cast<Op>(record.kind)) {
    case Op::Region_end:
      if (const auto begin = last(Op::Region_begin); begin != marks_.rend())
        return end_region(begin->thread, static_cast<std::size_t>(marks_.rend() - begin) - 1);
      break;
    case Op::Timer_stop:
      if (const auto start = last(Op::Timer_start); start != marks_.rend()) {
        marks_.erase(std::next(start).base());
        return;
      }
      break;
    case Op::Counter_set:
      std::erase_if(marks_, is(Op::Counter_set));
      std::erase_if(marks_, is(Op::Counter_add));
      break;
    case Op::Counter_add:
      for (const Op kept : {Op::Counter_add, Op::Counter_set})
        if (const auto before = last(kept); before != marks_.rend()) {
          __builtin_add_overflow(before->record.bytes, record.bytes, &before->record.bytes);
          return;
        }
      break;
    default:
      std::erase_if(marks_, [&](const Mark& m) {
        return op == Op::Timer_while && is(op)(m) && m.record.bytes == record.bytes;
      });
  }
  marks_.push_back({record, thread});
}

/// With those that were begun inside of it.
void Selection::end_region(int thread, std::size_t begin) {
  const auto inside = std::remove_if(
      marks_.begin() + static_cast<std::ptrdiff_t>(begin), marks_.end(), [thread](const Mark& m) {
        return m.thread == thread && m.record.kind == static_cast<std::uint16_t>(Op::Region_begin);
      });
  marks_.erase(inside, marks_.end());
}

bool Selection::leave_out(const spool::Record& r, std::span<const std::byte> items) {
  last_leave_ = r.leave;
  const OpInfo& op = info(static_cast<Op>(r.kind));
  const auto word = [&items](std::size_t i) {
    std::int64_t value = 0;
    std::memcpy(&value, items.data() + i * sizeof value, sizeof value);
    return value;
  };
  const auto small = [&word](std::size_t i) { return static_cast<std::int32_t>(word(i)); };
  switch (op.verb) {
    case Verb::send:
    case Verb::post_send:
      count({Skipped::sent, r.communicator, r.peer, r.tag});
      break;
    case Verb::exchange:
      count({Skipped::sent, r.communicator, r.peer, r.tag});
      count_receive(0, r.communicator, small(0), small(1));
      break;
    case Verb::receive:
    case Verb::post_receive:
      count_receive(r.request, r.communicator, r.peer, r.tag);
      break;
    case Verb::launch:
      for (std::size_t at = 0; (at + start_words) * sizeof(std::int64_t) <= items.size_bytes();
           at += start_words) {
        const std::int32_t communicator = small(at + start_communicator), peer = small(at + start_peer),
                           tag = small(at + start_tag);
        if (word(at + start_mode) == starts_receive)
          count_receive(static_cast<std::uint32_t>(word(at + start_request)), communicator, peer, tag);
        else
          count({Skipped::sent, communicator, peer, tag});
      }
      break;
    case Verb::complete:
    case Verb::release:
    case Verb::cancel:
      return items.empty();
    default:
      if (trace::is_collective(op.verb)) count({Skipped::collective, r.communicator, spool::no_rank, 0});
  }
  return true;
}

/// Which message a wildcard receive takes is known when it is complete.
void Selection::count_receive(std::uint32_t request, std::int32_t communicator, std::int32_t peer,
                              std::int32_t tag) {
  if (peer == spool::any_rank || tag == spool::any_tag)
    wildcards_[request] = communicator;
  else
    count({Skipped::received, communicator, peer, tag});
}

void Selection::complete(const spool::Completion& c) {
  const auto it = wildcards_.find(c.request);
  if (it == wildcards_.end()) return;
  if ((c.flags & spool::Completion::received) != 0) count({Skipped::received, it->second, c.source, c.tag});
  wildcards_.erase(it);
}

}  // namespace simreplay::recorder
