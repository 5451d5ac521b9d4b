#include "capture/pack/call_times.hpp"

#include <algorithm>

namespace simreplay::pack {
namespace {

constexpr std::size_t most_overlaps = UINT16_MAX;

}  // namespace

void CallTimes::switch_to(std::uint16_t thread) {
  thread_ = thread;
  if (threads_.size() <= thread) threads_.resize(thread + std::size_t{1});
}

void CallTimes::own_time(std::int64_t enter, std::int64_t leave) { own_time_.push_back({enter, leave}); }

CallTimes::Times CallTimes::add(std::int64_t enter, std::int64_t leave) {
  Thread& own = threads_[thread_];
  const std::uint16_t overlapping = overlaps(enter);
  const std::int64_t since = own.known ? own.leave : leaves_[leaves_.size() - 1 - overlapping];
  enter = std::max(enter, since);
  leave = std::max(leave, enter);
  const std::int64_t recording = own.recording;
  const std::int64_t before = enter - since - own_time_between(since, enter) - recording;
  own = {leave, true, 0};
  last_leave_ = std::max(last_leave_, leave);
  if (leaves_.size() > most_overlaps) leaves_.pop_front();
  leaves_.push_back(last_leave_);
  return {std::max<std::int64_t>(before, 0), leave - enter, overlapping, recording};
}

std::uint16_t CallTimes::overlaps(std::int64_t enter) const {
  std::size_t n = 0;
  while (n + 1 < leaves_.size() && leaves_[leaves_.size() - 1 - n] > enter) n++;
  return static_cast<std::uint16_t>(n);
}

/// What the recorder did there is forgotten where no other thread can have waited for it.
std::int64_t CallTimes::own_time_between(std::int64_t begin, std::int64_t end) {
  std::int64_t sum = 0;
  for (const Interval& own : own_time_)
    sum += std::max<std::int64_t>(std::min(own.leave, end) - std::max(own.enter, begin), 0);
  if (threads_.size() == 1) std::erase_if(own_time_, [end](const Interval& own) { return own.leave <= end; });
  return sum;
}

}  // namespace simreplay::pack
