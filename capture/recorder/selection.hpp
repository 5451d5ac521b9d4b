#pragma once
// Which part of a program is recorded, where not all of it is. What is left out is counted, message by
// message: only so can packing tell which of the recorded messages have their other end outside.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/recorder/spool_format.hpp"

namespace simreplay::recorder {

class Recorder;

class Selection {
 public:
  /// Whether this process is recorded at all: SIMCAPTURE_PROCESSES is empty or lists its rank ("0-3,7").
  static bool includes(int rank);
  static bool chooses_processes();
  /// What the environment asks for (SIMCAPTURE_FROM, _FOR in seconds, _PAUSED), or nullptr if nothing.
  /// Times count from `now`.
  static Selection* from_environment(std::int64_t now);

  Selection(std::int64_t now, bool records) : records_(records), since_(now) {}

  bool records() const { return records_; }
  void pause(std::int64_t now);
  void resume(Recorder& recorder, std::int64_t now);
  /// A call was entered at this time: begins or ends the chosen span.
  void pass(Recorder& recorder, std::int64_t now);

  /// Counts a call that is left out. False if it must be recorded all the same: it closes requests that are.
  bool leave_out(const spool::Record& record, std::span<const std::byte> items);
  /// What it changes counts when recording is resumed: regions are open then, timers run, counters have
  /// values.
  void leave_out_mark(const spool::Record& record, int thread);
  /// A request whose start was left out is complete.
  void complete(const spool::Completion& completion);

 private:
  /// One end of a channel, or the collectives of a communicator.
  struct Key {
    spool::Skipped what;
    std::int32_t communicator, peer, tag;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const;
  };
  struct Mark {
    spool::Record record;
    int thread;
  };
  void resume_marks(Recorder& recorder, std::int64_t at);
  void end_region(int thread, std::size_t begin);
  void count(const Key& key) { skipped_[key]++; }
  void count_receive(std::uint32_t request, std::int32_t communicator, std::int32_t peer, std::int32_t tag);

  bool records_;
  std::int64_t since_;                                // when it was paused
  std::int64_t last_leave_ = 0;                       // of the calls left out
  std::int64_t begin_ = INT64_MAX, end_ = INT64_MAX;  // of the chosen span
  std::uint32_t resumes_ = 0;
  std::unordered_map<Key, std::int64_t, Hash> skipped_;
  std::vector<Mark> marks_;                                    // left out, without those that later ones undo
  std::unordered_map<std::uint32_t, std::int32_t> wildcards_;  // posted, left out: request -> communicator
};

}  // namespace simreplay::recorder
