#include "capture/recorder/selection.hpp"

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
