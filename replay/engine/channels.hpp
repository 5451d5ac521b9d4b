#pragma once
// Channels: where messages meet receives. One per (source, destination, communicator, tag), numbered when a
// signature first names it, so that no message is ever looked up by its envelope.

#include <cstdint>
#include <functional>
#include <vector>

#include "common/units.hpp"

namespace simreplay::engine {

struct Envelope {
  std::int32_t source, destination, communicator, tag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

/// Tag of the messages that a collective is made of: no MPI tag is negative.
constexpr std::int32_t collective_tag = -1;
constexpr std::int32_t posted_collective_tag = -3;                // of non-blocking ones
constexpr std::int32_t epoch_begin_tag = -4, epoch_end_tag = -5;  // of windows

/// Numbers envelopes 0, 1, 2 ... in order of first use.
class EnvelopeIndex {
 public:
  EnvelopeIndex() : slots_(1024, 0) {}
  /// The number of `e`, and whether it is new.
  std::pair<std::uint32_t, bool> intern(const Envelope& e);
  const Envelope& operator[](std::uint32_t number) const { return envelopes_[number]; }
  std::size_t size() const { return envelopes_.size(); }

 private:
  void grow();
  std::vector<Envelope> envelopes_;
  std::vector<std::uint32_t> slots_;  // open addressing: number + 1, 0 = free
};

/// What an arrival brings: a message by its protocol, or the answer to one.
enum class Kind : std::uint8_t { eager, synchronous, rendezvous, answer };

struct Arrival {
  TimePoint time;
  Kind kind;
};

/// Answers go against the message, on a channel of their own.
constexpr std::int32_t answers = std::int32_t{1} << 30;  // added to the communicator
constexpr Envelope answer_to(const Envelope& e) {
  return {e.destination, e.source, e.communicator | answers, e.tag};
}

/// A receive that waits for its message: a request slot of a virtual processor.
struct PendingReceive {
  std::uint32_t processor;
  std::uint32_t slot;
};

/// The queues of the channels that end on this rank. A channel holds arrivals that no receive has asked for
/// or receives whose message has not come, never both: so one queue serves for either, and its memory is
/// that of the open messages. The first entry lies in the queue itself: most channels never hold a second.
class Channels {
 public:
  std::uint32_t open(const Envelope& e);
  const Envelope& envelope(std::uint32_t channel) const { return index_[channel]; }
  std::uint32_t processor(std::uint32_t channel) const { return queues_[channel].processor; }
  void set_processor(std::uint32_t channel, std::uint32_t processor) {
    queues_[channel].processor = processor;
  }

  bool has_arrival(std::uint32_t channel) const { return queues_[channel].balance > 0; }
  bool has_receive(std::uint32_t channel) const { return queues_[channel].balance < 0; }

  void push_arrival(std::uint32_t channel, Arrival a) {
    push(channel, a.time.time_since_epoch().count(), a.kind, +1);
  }
  Arrival pop_arrival(std::uint32_t channel) { return as_arrival(pop(channel, -1)); }
  Arrival first_arrival(std::uint32_t channel) const { return as_arrival(queues_[channel].first); }

  void push_receive(std::uint32_t channel, PendingReceive r) {
    push(channel, static_cast<std::int64_t>(std::uint64_t{r.processor} << 32 | r.slot), Kind::eager, -1);
  }
  PendingReceive pop_receive(std::uint32_t channel) {
    const auto v = static_cast<std::uint64_t>(pop(channel, +1).value);
    return {static_cast<std::uint32_t>(v >> 32), static_cast<std::uint32_t>(v)};
  }
  /// The receive is given up, but still takes the message that MPI would give it.
  void abandon_receive(std::uint32_t channel, PendingReceive r, std::uint32_t nobody);

  /// Messages that were sent and never received.
  std::int64_t unreceived() const;
  /// Calls `f` with each envelope that has such messages, and their number.
  void each_unreceived(const std::function<void(const Envelope&, std::int64_t)>& f) const;

 private:
  struct Entry {
    std::int64_t value;
    Kind kind;
  };
  struct Queue {
    Entry first{};
    std::int32_t balance = 0;
    std::uint32_t processor = 0;
    std::uint32_t last = none;  // of the ring of further entries: its successor is the second
  };
  struct Node {
    Entry entry;
    std::uint32_t next;
  };
  static Arrival as_arrival(const Entry& e) { return {TimePoint{Duration{e.value}}, e.kind}; }

  void push(std::uint32_t channel, std::int64_t value, Kind kind, std::int32_t step) {
    Queue& q = queues_[channel];
    if (q.balance == 0)
      q.first = {value, kind};
    else
      append(q, {value, kind});
    q.balance += step;
  }
  Entry pop(std::uint32_t channel, std::int32_t step) {
    Queue& q = queues_[channel];
    const Entry entry = q.first;
    q.balance += step;
    if (q.balance != 0) q.first = take_second(q);
    return entry;
  }
  void append(Queue& q, Entry entry);
  Entry take_second(Queue& q);

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  EnvelopeIndex index_;
  std::vector<Queue> queues_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
};

}  // namespace simreplay::engine
