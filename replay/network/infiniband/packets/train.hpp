#pragma once
// A train: the packets of one message on an idle path, computed without events.
//
// With S[j][k] the start of packet k on link j of the path, c its time there and R[j][k] when it is ready
// there,
//   R[0][k] = start of the train, R[j][k] = S[j-1][k] + cable + switch,
//   S[j][k] = max(R[j][k], S[j][k-1] + c[j][k-1], credits[j][k]),
// where credits[j][k] is the return of the credits of the last packet before k that must be out of the next
// buffer for k to have room in it. The equations shift in time with their solution: once all packets that
// they look back on are the same distance apart on all links, all further ones are, but the last.

#include <array>
#include <cstdint>
#include <vector>

#include "common/units.hpp"
#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

/// A link on the path of a train. Packets are the first, one of the middle, the last.
struct Stage {
  Port out = nothing, in = nothing;  // in: of the same node; nothing at the host
  std::uint8_t lane = 0, in_lane = 0;
  std::array<std::int32_t, 3> bytes{}, blocks{};
  std::array<Duration, 3> time{};     // on the link
  std::array<Duration, 3> to_next{};  // from the start here to being ready at the next switch
  std::int32_t capacity = 0;          // blocks behind the link; 0: no limit
  Duration cable{0};
  Duration credit_delay{0}, credit_period{0}, credit_way{0};
};

class TrainRun {
 public:
  TrainRun(const std::vector<Stage>& stages, std::int64_t packets, TimePoint start);

  /// Computes packets until one does not start at the host before `stop`, or all. `skip` allows jumps over
  /// packets in equal distances, all of them over before `stop`.
  void run_until(TimePoint stop, bool skip);
  void run_all() { run_until(TimePoint::max(), true); }

  /// Called for each packet and stage, and for each jump with the number of further packets like this one.
  /// Only for starts before `stop`.
  template <class Seen>
  void run_until(TimePoint stop, bool skip, Seen&& seen);

  std::int64_t computed() const { return next_; }
  std::int64_t packets() const { return packets_; }
  /// Packets whose start on the link lies before the `stop` of run_until().
  std::int64_t started(std::size_t stage) const { return started_[stage]; }
  TimePoint start(std::size_t stage, std::int64_t packet) const { return starts_[slot(stage, packet)]; }
  TimePoint end(std::size_t stage, std::int64_t packet) const {
    return start(stage, packet) + stages_[stage].time[kind(packet)];
  }
  TimePoint ready(std::size_t stage, std::int64_t packet) const {
    return stage == 0 ? begin_ : start(stage - 1, packet) + stages_[stage - 1].to_next[kind(packet)];
  }
  /// When the packet asks for the link: it is ready and the one before it has left.
  TimePoint requested(std::size_t stage, std::int64_t packet) const {
    const TimePoint r = ready(stage, packet);
    return packet == 0 ? r : std::max(r, end(stage, packet - 1));
  }
  /// When the packet's credits for this link are back; it must have started on the next one.
  TimePoint credit(std::size_t stage, std::int64_t packet) const;
  std::size_t kind(std::int64_t packet) const { return packet == 0 ? 0 : packet == packets_ - 1 ? 2 : 1; }

 private:
  std::size_t slot(std::size_t stage, std::int64_t packet) const {
    return stage * depth_ + (static_cast<std::size_t>(packet - skipped_) & (depth_ - 1));
  }
  void step(TimePoint stop);
  TimePoint credit_limit(std::size_t stage, std::int64_t packet);
  void look_for_period();
  std::int64_t jump(TimePoint stop);

  const std::vector<Stage>& stages_;
  std::int64_t packets_;
  TimePoint begin_;
  std::size_t depth_ = 8;
  std::vector<TimePoint> starts_;  // the last `depth_` packets of each stage
  std::vector<std::int64_t> started_;
  struct Window {
    std::int64_t oldest = 0, blocks = 0;  // packets that may share the next buffer
  };
  std::vector<Window> windows_;
  std::int64_t next_ = 0, skipped_ = 0;
  Duration distance_{0};
  std::size_t equal_ = 0;  // packets in a row at the same distance on all links
};

template <class Seen>
void TrainRun::run_until(TimePoint stop, bool skip, Seen&& seen) {
  while (next_ < packets_ && (next_ == 0 || start(0, next_ - 1) < stop)) {
    const std::int64_t k = next_;
    step(stop);
    const std::int64_t more = skip ? jump(stop) : 0;
    for (std::size_t j = 0; j < stages_.size(); j++)
      if (start(j, k + more) < stop || (j == 0 && k == 0)) seen(j, k + more, more + 1);
  }
}

}  // namespace simreplay::infiniband
