#pragma once
// Matches sends with receives: the k-th receive of a channel takes the k-th send.

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/simtrace/fault_log.hpp"
#include "common/mpi_ops.hpp"

namespace simreplay::simtrace {

/// Messages of one channel arrive in the order in which they were sent.
struct Channel {
  std::int32_t source = 0, destination = 0, communicator = 0, tag = 0;
  friend bool operator==(const Channel&, const Channel&) = default;
};

enum class Side : std::uint8_t { send, receive };

/// One half of a message.
struct Half {
  std::uint64_t call = 0;  // in the process that made it
  std::int64_t bytes = 0;
  std::int32_t request = -1;  // slot that the call opened
  Op op = Op::count;
};

/// A message that was not received as it was sent.
struct WrongSize {
  std::int64_t received = 0, sent = 0;
  std::int32_t sender = 0;
  std::uint64_t sending_call = 0;
};
Fault fault_of(const CallName& receive, const WrongSize& wrong);

/// The halves that still miss the other one. Memory follows them: a channel without any takes none.
class Channels {
 public:
  Channels() : slots_(1024) {}

  /// The oldest open half of the other side, which is taken away; if there is none, `half` stays open.
  std::optional<Half> meet(const Channel& channel, Side side, const Half& half);

  struct Open {
    Channel channel;
    Side side;
    Half half;
  };
  /// All that is open, ordered by process and call.
  std::vector<Open> open() const;
  std::uint64_t open_count() const { return open_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Node {
    Half half;
    std::uint32_t next = none;
  };
  struct Slot {  // of an open-addressing table with linear probing
    Channel channel;
    std::uint32_t head = none, tail = none;  // first in, first out; all of one side
    Side side = Side::send;
  };

  std::size_t home(const Channel& channel) const;
  std::size_t find(const Channel& channel) const;
  void append(Slot& slot, const Half& half);
  Half take(std::size_t index);
  void erase(std::size_t index);
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::uint64_t open_ = 0;
};

}  // namespace simreplay::simtrace
