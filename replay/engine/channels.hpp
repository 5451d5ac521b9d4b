#pragma once
// Channels: where messages meet receives. One per (source, destination, communicator, tag), numbered when a
// signature first names it, so that no message is ever looked up by its envelope.

#include <cstdint>
#include <functional>
#include <vector>

#include "common/huge_pages.hpp"
#include "replay/engine/clock.hpp"

namespace simreplay::engine {

struct Envelope {
  std::int32_t source, destination, communicator, tag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

/// Tags of the messages that the simulator makes: no MPI tag is negative.
constexpr std::int32_t collective_tag = -1, posted_collective_tag = -3;  // blocking ones, non-blocking ones
/// Of signals, which are no messages: they take no time, and must not be taken for a message that is still on
/// its way.
constexpr std::int32_t signal_tag = -4, posted_signal_tag = -5;
constexpr std::int32_t epoch_begin_tag = -6, epoch_end_tag = -7;  // of windows

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

template <class Clock>
struct Arrival {
  typename Clock::Time time;
  Kind kind;
  [[no_unique_address]] typename Clock::Origin origin{};
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
  friend bool operator==(const PendingReceive&, const PendingReceive&) = default;
};

/// The queues of the channels that end on this rank. A channel holds arrivals that no receive has asked for
/// or receives whose message has not come, never both: so one queue serves for either, and its memory is
/// that of the open messages. The first entry lies in the queue itself: most channels never hold a second.
template <class Clock>
class Channels {
 public:
  using Arrival = engine::Arrival<Clock>;

  std::uint32_t open(const Envelope& e) {
    const auto [number, is_new] = index_.intern(e);
    if (is_new) queues_.emplace_back();
    return number;
  }
  const Envelope& envelope(std::uint32_t channel) const { return index_[channel]; }
  std::uint32_t processor(std::uint32_t channel) const { return queues_[channel].processor; }
  void set_processor(std::uint32_t channel, std::uint32_t processor) {
    queues_[channel].processor = processor;
  }

  void push_arrival(std::uint32_t channel, const Arrival& a) {
    Entry entry;
    entry.time = a.time;
    entry.kind = a.kind;
    entry.origin = a.origin;
    push(channel, entry, +1);
  }
  /// The arrival that is first in the queue, if there is one.
  bool take_arrival(std::uint32_t channel, Arrival& a) {
    Queue& q = queues_[channel];
    if (q.balance <= 0) return false;
    a = {q.first.time, q.first.kind, q.first.origin};
    drop_first(q, -1);
    return true;
  }
  /// The same, which stays there.
  bool find_arrival(std::uint32_t channel, Arrival& a) const {
    const Queue& q = queues_[channel];
    if (q.balance <= 0) return false;
    a = {q.first.time, q.first.kind, q.first.origin};
    return true;
  }

  void push_receive(std::uint32_t channel, PendingReceive r) {
    Entry entry;
    entry.receive = r;
    push(channel, entry, -1);
  }
  bool take_receive(std::uint32_t channel, PendingReceive& r) {
    Queue& q = queues_[channel];
    if (q.balance >= 0) return false;
    r = q.first.receive;
    drop_first(q, +1);
    return true;
  }
  bool find_receive(std::uint32_t channel, PendingReceive& r) const {
    const Queue& q = queues_[channel];
    r = q.first.receive;
    return q.balance < 0;
  }
  void prefetch(std::uint32_t channel) const { __builtin_prefetch(&queues_[channel], 1); }
  /// The receive is given up, but still takes the message that MPI would give it.
  void abandon_receive(std::uint32_t channel, PendingReceive r, std::uint32_t nobody);

  /// Messages that were sent and never received.
  std::int64_t unreceived() const;
  /// Calls `f` with each envelope that has such messages, and their number.
  void each_unreceived(const std::function<void(const Envelope&, std::int64_t)>& f) const;

 private:
  struct Entry {
    Entry() : time{} {}
    union {
      typename Clock::Time time;
      PendingReceive receive;
    };
    Kind kind = Kind::eager;
    [[no_unique_address]] typename Clock::Origin origin{};
  };
  struct Queue {
    Entry first{};
    std::int32_t balance = 0;
    std::uint32_t processor = 0;
    std::uint32_t last = none;  // of the ring of further entries: its successor is the second
  };
  struct Node {
    Entry entry;
    std::uint32_t next = 0;
  };

  void push(std::uint32_t channel, const Entry& entry, std::int32_t step) {
    Queue& q = queues_[channel];
    if (q.balance == 0) [[likely]]
      q.first = entry;
    else
      append(q, entry);
    q.balance += step;
  }
  void drop_first(Queue& q, std::int32_t step) {
    q.balance += step;
    if (q.balance != 0) [[unlikely]]
      q.first = take_second(q);
  }
  void append(Queue& q, const Entry& entry);
  Entry take_second(Queue& q);

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  EnvelopeIndex index_;
  HugeVector<Queue> queues_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
};

}  // namespace simreplay::engine
