#include "replay/network/infiniband/packets/train.hpp"

#include <algorithm>
#include <bit>

namespace simreplay::infiniband {

TrainRun::TrainRun(const std::vector<Stage>& stages, std::int64_t packets, TimePoint start)
    : stages_(stages), packets_(packets), begin_(start), started_(stages.size(), 0), windows_(stages.size()) {
  // Packets between the newest at the host and the oldest whose credits are not back on the last link.
  std::int64_t looked_back_on = 8;
  for (const Stage& s : stages) looked_back_on += s.capacity / s.blocks[1] + 2;
  looked_back_on = std::min(looked_back_on, packets + 1);
  depth_ = std::bit_ceil(static_cast<std::size_t>(looked_back_on));
  starts_.resize(depth_ * stages.size());
}

void TrainRun::run_until(TimePoint stop, bool skip) {
  run_until(stop, skip, [](std::size_t, std::int64_t, std::int64_t) {});
}

TimePoint TrainRun::credit(std::size_t stage, std::int64_t packet) const {
  const Stage& s = stages_[stage];
  TimePoint leaves =
      (stage + 1 < stages_.size() ? end(stage + 1, packet) : end(stage, packet) + s.cable) + s.credit_delay;
  if (s.credit_period.count() > 0) {
    const auto rest = leaves.time_since_epoch() % s.credit_period;
    if (rest.count() > 0) leaves += s.credit_period - rest;
  }
  return leaves + s.credit_way;
}

TimePoint TrainRun::credit_limit(std::size_t stage, std::int64_t packet) {
  const Stage& s = stages_[stage];
  if (s.capacity == 0) return TimePoint::min();
  Window& w = windows_[stage];
  w.blocks += s.blocks[kind(packet)];
  while (w.blocks > s.capacity) w.blocks -= s.blocks[kind(w.oldest++)];
  return w.oldest == 0 ? TimePoint::min() : credit(stage, w.oldest - 1);
}

void TrainRun::step(TimePoint stop) {
  const std::int64_t k = next_;
  for (std::size_t j = 0; j < stages_.size(); j++) {
    const TimePoint start = std::max(requested(j, k), credit_limit(j, k));
    starts_[slot(j, k)] = start;
    if (start < stop || (j == 0 && k == 0)) started_[j]++;
  }
  look_for_period();
  next_++;
}

void TrainRun::look_for_period() {
  if (next_ == 0) return;
  const Duration first = start(0, next_) - start(0, next_ - 1);
  bool same = first == distance_;
  for (std::size_t j = 1; j < stages_.size(); j++)
    same = same && start(j, next_) - start(j, next_ - 1) == distance_;
  equal_ = same ? equal_ + 1 : 0;
  distance_ = first;
}

std::int64_t TrainRun::jump(TimePoint stop) {
  if (equal_ < depth_ || stages_[0].credit_period.count() > 0) return 0;
  const std::int64_t middle_left = packets_ - 1 - next_;
  const TimePoint last = start(stages_.size() - 1, next_ - 1);
  if (middle_left <= 0 || last >= stop) return 0;
  std::int64_t n = middle_left;
  if (stop != TimePoint::max() && distance_.count() > 0)
    n = std::min(n, (stop - last - Duration{1}) / distance_);
  if (n <= 0) return 0;
  for (TimePoint& t : starts_) t += n * distance_;
  for (std::int64_t& s : started_) s += n;
  for (Window& w : windows_) w.oldest += n;
  next_ += n;
  skipped_ += n;
  return n;
}

}  // namespace simreplay::infiniband
