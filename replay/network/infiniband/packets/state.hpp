#pragma once
// The state of ports, lanes, packets and messages: plain records in arrays, linked by their indices.

#include <cstdint>
#include <vector>

#include "replay/network/infiniband/packets/event_queue.hpp"
#include "replay/network/infiniband/packets/messages.hpp"

namespace simreplay::infiniband {

inline constexpr std::int32_t credit_block = 64;  // bytes
inline std::int32_t blocks_of(std::int64_t bytes) {
  return static_cast<std::int32_t>((bytes + credit_block - 1) / credit_block);
}

/// A port as a sender: what each packet needs, in one line of the cache.
struct alignas(64) OutPort {
  TimePoint busy_until{};
  TimePoint wake_at = EventQueue::never;  // an event is due to look after it
  Duration delay{0};                      // of the cable
  Port peer = nothing;
  Node next_node = nothing;      // that the peer belongs to
  std::int32_t train = nothing;  // that holds it
  Port last_input = nothing;     // that was served
  std::uint16_t waiting = 0;     // lanes, a bit each
  bool from_host : 1 = false, to_host : 1 = false;
};

/// Where a port stands in the tables of lanes.
struct LaneTurn {
  std::uint8_t high_entry = 0, low_entry = 0;
  std::int16_t high_left = 0, low_left = 0;  // weights
  std::int32_t high_sent = 0;                // bytes since a low lane had its turn
};

/// A lane of a port as a sender: credits, and who waits for them; what their return needs, in one line.
struct alignas(64) SendLane {
  std::int32_t available = 0, capacity = 0;  // blocks
  std::int32_t missing = 0;                  // blocks whose return is not known yet and will wake the port
  std::int32_t first = nothing, last = nothing;  // packets of a switch, messages of a host
  std::uint32_t ring = 0;                        // credits on their way back
  std::uint16_t ring_size = 0, ring_head = 0, ring_count = 0;
  std::uint16_t unmarked = 0;  // packets since the last mark
  std::int32_t queued = 0;     // bytes in the inputs; kept up for congestion control only
  std::int32_t part = 0;       // of the node
  Duration credit_way{0};      // of a flow-control packet back over the cable
};

/// A lane of a port as a receiver: a queue, whose first packet leaves until `busy_until`.
struct ReceiveLane {
  TimePoint busy_until{};
  std::int32_t first = nothing, last = nothing;
};

struct alignas(64) Packet {
  std::int32_t next = nothing;          // in the queue of its input, or among the spare ones
  std::int32_t next_request = nothing;  // for the same output and lane
  std::int32_t message = nothing;       // of a last packet
  std::int32_t source = 0, destination = 0;
  Port in = nothing, out = nothing;
  std::uint16_t bytes = 0;
  std::uint8_t lane = 0, out_lane = 0, level = 0, flags = 0;
  Port from = nothing;  // the peer of `in`
  TimePoint ready{}, requested{};
  Duration waited{0};

  enum Flag : std::uint8_t { last = 1, marked = 2 };
};

struct Message {
  std::int64_t id = 0, bytes = 0;  // as given
  std::int64_t packets = 0, sent = 0;
  TimePoint injected{}, requested{};  // by the program; by the packet that is next
  TimePoint not_before{};             // of the next packet
  Duration software{0}, adapter_wait{0};
  std::int32_t source = 0, destination = 0;
  std::int32_t next = nothing;
  std::uint32_t payload = 0;
  std::uint8_t level = 0, lane = 0;
};

/// Records that come and go. References hold until the next take().
template <class T>
class Pool {
 public:
  T& operator[](std::int32_t i) { return all_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int32_t i) const { return all_[static_cast<std::size_t>(i)]; }
  std::int32_t take() {
    used_++;
    if (spare_ == nothing) {
      all_.emplace_back();
      return static_cast<std::int32_t>(all_.size()) - 1;
    }
    const std::int32_t i = spare_;
    spare_ = (*this)[i].next;
    (*this)[i] = T{};
    return i;
  }
  void give_back(std::int32_t i) {
    used_--;
    (*this)[i].next = spare_;
    spare_ = i;
  }
  std::int64_t used() const { return used_; }

 private:
  HugeVector<T> all_;
  std::int32_t spare_ = nothing;
  std::int64_t used_ = 0;
};

/// Credits that are known to come back, of all lanes: a ring each, moved to a larger one when it is full.
class CreditRings {
 public:
  struct Credit {
    TimePoint time;
    std::int32_t blocks;
  };

  void push(SendLane& lane, TimePoint time, std::int32_t blocks) {
    if (lane.ring_count == lane.ring_size) enlarge(lane);
    at(lane, lane.ring_count++) = {time, blocks};
  }
  Credit& at(const SendLane& lane, unsigned i) {
    return all_[lane.ring + ((lane.ring_head + i) & (lane.ring_size - 1U))];
  }
  /// Asks for the first one, or for where the next one goes, ahead of time.
  void fetch_first(const SendLane& lane) const { fetch(lane, lane.ring_head); }
  void fetch_last(const SendLane& lane) const {
    fetch(lane, static_cast<unsigned>(lane.ring_head) + lane.ring_count);
  }
  /// Counts what has come back until `now`.
  void collect(SendLane& lane, TimePoint now) {
    while (lane.ring_count > 0 && at(lane, 0).time <= now) {
      lane.available += at(lane, 0).blocks;
      lane.ring_head++;
      if (--lane.ring_count == 0) lane.ring_head = 0;
    }
  }

 private:
  void fetch(const SendLane& lane, unsigned i) const {
    if (lane.ring_size > 0) __builtin_prefetch(&all_[lane.ring + (i & (lane.ring_size - 1U))]);
  }
  void enlarge(SendLane& lane) {
    const auto start = static_cast<std::uint32_t>(all_.size());
    const std::uint16_t size = lane.ring_size == 0 ? 4 : static_cast<std::uint16_t>(2 * lane.ring_size);
    all_.resize(start + size);
    for (unsigned i = 0; i < lane.ring_count; i++) all_[start + i] = at(lane, i);
    lane.ring = start;
    lane.ring_head = 0;
    lane.ring_size = size;
  }

  HugeVector<Credit> all_;
};

}  // namespace simreplay::infiniband
