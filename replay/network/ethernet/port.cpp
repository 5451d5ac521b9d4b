#include "replay/network/ethernet/port.hpp"

#include <algorithm>

#include "replay/network/ethernet/frames.hpp"
#include "replay/network/ethernet/wide.hpp"

namespace simreplay::ethernet {

Port::Port(const SwitchedSettings& settings, const Ratio& rate)
    : settings_(settings), rate_(rate), full_frame_(rate.times(settings.wire_bytes(settings.mtu))) {}

void Port::serve(TimePoint until, std::vector<network::Arrival>& arrivals) {
  while (!trains_.empty() && trains_.top().next() < until) {
    Train train = trains_.top();
    trains_.pop();
    if (train.full == 0) {
      serve_last_frame(train, arrivals);
      continue;
    }
    serve_full_frames(train, alone_until(train, until));
    if (train.full > 0 || train.ends) trains_.push(train);
  }
}

/// Before this time, no frame of another message has its turn before those of this one.
TimePoint Port::alone_until(const Train& train, TimePoint until) const {
  if (trains_.empty()) return until;
  const Train& other = trains_.top();
  const bool wins_tie =
      std::pair(train.message.source, train.message.id) < std::pair(other.message.source, other.message.id);
  return std::min(until, other.next() + Duration{wins_tie ? 1 : 0});
}

/// Frame k is ready at first + k gap and starts at max(free + k s, first + k max(gap, s)).
void Port::serve_full_frames(Train& train, TimePoint until) {
  const std::int64_t before = (until - train.first - Duration{1}) / train.gap + 1;
  const std::int64_t frames = std::min(train.full, before);
  count_queued(train.first, train.gap, frames);
  const Int128 s = full_frame_.count(), slower = std::max(train.gap, full_frame_).count();
  const TimePoint start = std::max(later(free_, s * (frames - 1)), later(train.first, slower * (frames - 1)));
  free_ = later(start, s);
  figures_.frames += frames;
  figures_.busy += full_frame_ * frames;
  train.full -= frames;
  train.first += train.gap * frames;
}

/// Frame k waits w + k (s - gap) where that is above 0; the first one waits w.
void Port::count_queued(TimePoint first, Duration gap, std::int64_t frames) {
  const Int128 wait = std::max(free_ - first, Duration{0}).count();
  const Int128 growth = (full_frame_ - gap).count();
  std::int64_t waiting = frames;
  if (growth < 0)
    waiting = static_cast<std::int64_t>(std::min<Int128>(frames, (wait - growth - 1) / -growth));
  const Int128 sum = wait * waiting + growth * waiting * (waiting - 1) / 2;
  const Int128 most = growth < 0 ? wait : wait + growth * (frames - 1);
  figures_.queued.add(frames, sum, static_cast<std::int64_t>(most));
}

void Port::serve_last_frame(const Train& train, std::vector<network::Arrival>& arrivals) {
  const network::Message& m = train.message;
  const std::int64_t payload = payload_of(m.bytes, frames_of(m.bytes, settings_.mtu) - 1, settings_.mtu);
  const Duration time{rate_.times(settings_.wire_bytes(payload))};
  const TimePoint start = std::max(free_, train.last);
  figures_.queued.add(start - train.last);
  figures_.frames++;
  figures_.busy += time;
  free_ = later(start, time.count());
  const TimePoint arrival = later(free_, (settings_.cable + settings_.receive_overhead).count());
  arrivals.push_back(
      {arrival, m.id, m.source, m.destination, m.bytes, m.payload, m.time, start - train.last});
  figures_.arrived.add(m.time, arrival, m.bytes);
}

}  // namespace simreplay::ethernet
