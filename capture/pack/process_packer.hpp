#pragma once
// The calls of one process, from records of its spool to signatures and times of the trace.

#include <cstdint>
#include <span>
#include <vector>

#include "capture/pack/communicators.hpp"
#include "capture/pack/request_slots.hpp"
#include "capture/recorder/spool_format.hpp"
#include "common/trace/encoder.hpp"

namespace simreplay::pack {

class ProcessPacker {
 public:
  ProcessPacker(trace::Encoder& encoder, const Ranks& ranks, std::int64_t origin_ns)
      : encoder_(encoder), ranks_(ranks), origin_(origin_ns), previous_leave_(origin_ns) {}

  /// Takes the next record. After one that makes no sense it takes no more.
  void add(const spool::Record& record, std::span<const std::int64_t> items);
  /// The process left at this time.
  void exit(std::int64_t at_ns);

  bool is_sound() const { return sound_; }
  std::uint64_t calls() const { return calls_; }
  std::int64_t elapsed_ns() const { return previous_leave_ - origin_; }

 private:
  void add_call(const spool::Record& record, std::span<const std::int64_t> items);
  bool translate(const spool::Record& record, std::span<const std::int64_t> items);
  bool translate_requests(std::span<const std::int64_t> items, bool closes);
  void encode(const trace::Signature& signature, std::int64_t enter, std::int64_t leave);
  std::int64_t own_time_until(std::int64_t enter);

  struct Interval {
    std::int64_t enter, leave;
  };

  trace::Encoder& encoder_;
  const Ranks& ranks_;
  RequestSlots slots_;
  std::vector<Interval> own_time_;   // of the recorder, not yet taken off a computation
  std::vector<std::int64_t> items_;  // of the call at hand
  std::int64_t origin_, previous_leave_;
  std::uint64_t calls_ = 0;
  bool sound_ = true;
};

}  // namespace simreplay::pack
