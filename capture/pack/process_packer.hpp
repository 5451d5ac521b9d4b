#pragma once
// The calls of one process, from records of its spool to signatures and times of the trace.

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "capture/pack/call_times.hpp"
#include "capture/pack/communicators.hpp"
#include "capture/pack/request_slots.hpp"
#include "capture/recorder/spool_format.hpp"
#include "common/trace/encoder.hpp"

namespace simreplay::pack {

class ProcessPacker {
 public:
  /// `alone`: of the survey.
  ProcessPacker(trace::Encoder& encoder, const Ranks& ranks, const spool::Header& header,
                std::map<std::int32_t, std::int64_t> alone)
      : encoder_(encoder),
        ranks_(ranks),
        header_(header),
        times_(header.loaded_ns),
        alone_(std::move(alone)) {}

  /// Takes the next record. After one that makes no sense it takes no more.
  void add(const spool::Record& record, std::span<const std::int64_t> items);
  /// The process left at this time.
  void exit(std::int64_t at_ns);

  bool is_sound() const { return sound_; }
  std::uint64_t calls() const { return calls_; }
  std::int64_t elapsed_ns() const { return times_.elapsed(); }

 private:
  void add_call(const spool::Record& record, std::span<const std::int64_t> items);
  bool is_alone(const OpInfo& op, std::int32_t communicator);
  bool translate(const spool::Record& record, std::span<const std::int64_t> items);
  bool translate_requests(std::span<const std::int64_t> items, bool closes);
  bool translate_created(std::span<const std::int64_t> items);
  bool translate_starts(std::span<const std::int64_t> items);
  bool translate_neighbors(std::int32_t communicator, std::span<const std::int64_t> items);

  trace::Encoder& encoder_;
  const Ranks& ranks_;
  const spool::Header& header_;
  RequestSlots slots_;
  CallTimes times_;
  std::map<std::int32_t, std::int64_t> alone_;
  std::vector<std::int64_t> items_;  // of the call at hand
  std::uint64_t calls_ = 0;
  bool sound_ = true;
};

}  // namespace simreplay::pack
