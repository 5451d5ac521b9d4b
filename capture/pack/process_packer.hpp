#pragma once
// The calls of one process, from records of its spool to signatures and times of the trace.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "capture/pack/call_times.hpp"
#include "capture/pack/communicators.hpp"
#include "capture/pack/request_slots.hpp"
#include "capture/pack/survey.hpp"
#include "capture/recorder/spool_format.hpp"
#include "common/trace/encoder.hpp"

namespace simreplay::pack {

class ProcessPacker {
 public:
  ProcessPacker(trace::Encoder& encoder, const Ranks& ranks, const spool::Header& header,
                const Survey& survey)
      : encoder_(encoder),
        ranks_(ranks),
        header_(header),
        metrics_(survey.metrics),
        times_(header.loaded_ns),
        alone_(survey.alone) {}

  /// Takes the next record. After one that makes no sense it takes no more.
  void add(const spool::Record& record, std::span<const std::int64_t> items);
  /// The process left at this time.
  void exit(std::int64_t at_ns);

  bool is_sound() const { return sound_; }
  std::uint64_t calls() const { return calls_; }
  std::int64_t elapsed_ns() const { return times_.elapsed(); }

 private:
  void add_call(const spool::Record& record, std::span<const std::int64_t> items);
  void take_off_recording(const OpInfo& op, const spool::Record& record);
  bool is_alone(const OpInfo& op, std::int32_t communicator);
  bool translate(const spool::Record& record, std::span<const std::int64_t> items);
  bool translate_requests(std::span<const std::int64_t> items, bool closes);
  bool translate_created(std::span<const std::int64_t> items);
  bool translate_starts(std::span<const std::int64_t> items);
  bool translate_mark(const spool::Record& record, trace::Signature& s);
  bool translate_neighbors(std::int32_t communicator, std::span<const std::int64_t> items);

  trace::Encoder& encoder_;
  const Ranks& ranks_;
  const spool::Header& header_;
  std::span<const LocalMetric> metrics_;
  RequestSlots slots_;
  CallTimes times_;
  std::map<std::int32_t, std::int64_t> alone_;
  std::vector<std::int64_t> items_;  // of the call at hand
  std::uint64_t calls_ = 0;
  bool sound_ = true;
};

}  // namespace simreplay::pack
