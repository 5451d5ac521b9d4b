#pragma once
// From the clock readings of a spool to the times of a trace: how long each call took and how much time went
// by before it, without that which the recorder needed for itself.

#include <cstdint>
#include <deque>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::pack {

/// Of one process, call by call in the order of the spool. All in ns.
class CallTimes {
 public:
  explicit CallTimes(std::int64_t origin)
      : origin_(origin), last_leave_(origin), threads_{{origin, true}}, leaves_{origin} {}

  /// The calls that follow are of this thread.
  void switch_to(std::uint16_t thread);
  std::uint16_t thread() const { return thread_; }
  /// The recorder itself took this time.
  void own_time(std::int64_t enter, std::int64_t leave);

  struct Times {
    std::int64_t before, inside;
    std::uint16_t overlaps;  // calls before this one that ended after it had begun
    std::int64_t recording;  // what was taken off `before` by take_off()
  };
  Times add(std::int64_t enter, std::int64_t leave);
  /// So much of the gap after the call that was added last went by in recording it.
  void take_off(std::int64_t recording) { threads_[thread_].recording = recording; }

  /// From the start of the process to the end of its last call.
  std::int64_t elapsed() const { return last_leave_ - origin_; }

 private:
  struct Interval {
    std::int64_t enter, leave;
  };
  struct Thread {
    std::int64_t leave = 0;  // of its last call
    bool known = false;
    std::int64_t recording = 0;  // to be taken off the gap after it
  };
  std::int64_t own_time_between(std::int64_t begin, std::int64_t end);
  std::uint16_t overlaps(std::int64_t enter) const;

  std::int64_t origin_, last_leave_;
  std::vector<Thread> threads_;
  std::uint16_t thread_ = 0;
  std::vector<Interval> own_time_;
  std::deque<std::int64_t> leaves_;  // of the last calls, ascending
};

}  // namespace simreplay::pack
