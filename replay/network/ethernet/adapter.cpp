#include "replay/network/ethernet/adapter.hpp"

#include <algorithm>

#include "replay/network/ethernet/frames.hpp"
#include "replay/network/ethernet/wide.hpp"

namespace simreplay::ethernet {

Adapter::Adapter(const SwitchedSettings& settings, const Ratio& rate)
    : settings_(settings),
      rate_(rate),
      full_frame_(rate.times(settings.wire_bytes(settings.mtu))),
      way_(settings.cable + settings.switching) {}

TimePoint Adapter::next() const {
  if (left_ > 0) return free_;
  if (waiting_.empty()) return network::never;
  return std::max(waiting_.top().time + settings_.send_overhead, free_);
}

/// Whatever comes earlier than this message is there by now: it had send_overhead to come.
void Adapter::take_next(TimePoint now) {
  now_ = waiting_.top();
  waiting_.pop();
  left_ = frames_of(now_.bytes, settings_.mtu);
  free_ = now;
  figures_.messages++;
  figures_.bytes += now_.bytes;
  figures_.frames += left_;
  figures_.queued.add(now - now_.time - settings_.send_overhead);
}

Train Adapter::send() {
  if (left_ == 0) take_next(next());
  Train train = full_frames(settings_.trains ? left_ - 1 : std::min<std::int64_t>(left_ - 1, 1));
  if (settings_.trains || train.full == 0) add_last_frame(train);
  return train;
}

Train Adapter::full_frames(std::int64_t frames) {
  Train train{.message = now_, .full = frames, .first = free_ + full_frame_ + way_, .gap = full_frame_};
  const TimePoint end = later(free_, static_cast<Int128>(full_frame_.count()) * frames);
  figures_.busy += end - free_;
  free_ = end;
  left_ -= frames;
  return train;
}

void Adapter::add_last_frame(Train& train) {
  const std::int64_t payload =
      payload_of(now_.bytes, frames_of(now_.bytes, settings_.mtu) - 1, settings_.mtu);
  const Duration time{rate_.times(settings_.wire_bytes(payload))};
  figures_.busy += time;
  free_ = later(free_, time.count());
  left_--;
  train.ends = true;
  train.last = free_ + way_;
}

}  // namespace simreplay::ethernet
