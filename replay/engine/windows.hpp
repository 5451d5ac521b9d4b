#pragma once
// Messages in the order of simulated time. Processes run as far as the messages they have allow; then all
// ranks agree on a window, in which the network works, and the messages that are certain from then on are
// delivered, the earliest first. Time in which nothing happens is skipped.
//
//   from     the earliest event anywhere; a message that is due counts `notice` before its time
//   until    as far as the network works
//   horizon  until + notice: messages due before it are delivered
//
// What processes do then, they do at from + notice or later. They need `reaction` before a message of theirs
// leaves, and that has effects on the network `entry` later, which must not be before `until`.

#include <mpi.h>

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "common/handles.hpp"
#include "common/mpi_lists.hpp"
#include "common/units.hpp"
#include "replay/engine/clock.hpp"
#include "replay/network/network.hpp"

namespace simreplay::engine {

/// What a message between processes is for.
enum class Role : std::uint8_t {
  eager,
  synchronous,  // its data; the sender waits for `acknowledgement`
  rendezvous,   // asks for a receive, which answers with `clear`; `data` follows
  clear,
  data,
  acknowledgement,
  access,  // to a window of the target, whose adapter sends `returned`
  returned,
};

/// Of a message: by what the program does, so that it is the same for any number of ranks. Ties are broken by
/// it: sender, role, lane of the sender, how many that has sent before.
struct MessageId {
  static constexpr unsigned count_bits = 32, lane_bits = 6, role_bits = 3;
  static constexpr std::int32_t most_processes = std::int32_t{1} << 22;

  /// Throws Error for a lane that is too many.
  static std::uint64_t first_of_lane(std::uint64_t lane);
  static std::int64_t of(std::int32_t process, Role role, std::uint64_t lane_and_count) {
    return static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(process) << role_bits | static_cast<std::uint64_t>(role))
            << (lane_bits + count_bits) |
        lane_and_count);
  }
  static Role role(std::int64_t id) {
    return static_cast<Role>(id >> (lane_bits + count_bits) & ((1 << role_bits) - 1));
  }
  /// The same message in another role.
  static std::int64_t as(std::int64_t id, Role role) {
    constexpr std::int64_t mask = std::int64_t{(1 << role_bits) - 1} << (lane_bits + count_bits);
    return (id & ~mask) | static_cast<std::int64_t>(role) << (lane_bits + count_bits);
  }
};

/// A message that is due at a process of this rank.
struct Due {
  TimePoint time{};
  std::int64_t id = 0;
  std::int64_t bytes = 0;
  std::uint32_t channel = 0;  // here
  bool crossed = false;       // the network
  Way way{};
  bool operator>(const Due& o) const { return time != o.time ? time > o.time : id > o.id; }
};

class Windows {
 public:
  struct Rules {
    Duration reaction;       // from an arrival to the message that answers it, on the network
    bool is_strict = false;  // messages that do not cross the network come in order as well
    Duration fastest{};      // no message that does not cross the network is faster
  };
  /// `network` may be null.
  Windows(MPI_Comm comm, network::Network* network, const Rules& rules);

  network::Network* network() const { return network_; }
  bool is_strict() const { return rules_.is_strict; }
  void hold(const Due& due) { due_.push(due); }

  enum class Verdict : std::uint8_t {
    under_way,  // between ranks; to be received first
    open,       // messages are due: take them with next()
    ended,
    failed,
  };
  /// Collective, when this rank can do nothing more. `in_flight`: what it has sent to other ranks minus what
  /// it has received. Works through the window if there is one.
  Verdict agree(std::int64_t in_flight, bool failed);
  /// The next message to be delivered in this window.
  bool next(Due& due);
  /// What came out of the network for this rank; the engine holds it under its channels.
  std::vector<network::Arrival> take_arrivals();

  /// Why the network failed here; empty if it did not.
  const std::string& failure() const { return failure_; }
  std::int64_t windows() const { return windows_; }

 private:
  struct Words {
    std::int64_t next = 0, in_flight = 0, failed = 0;
  };
  Words all(Words words) const;
  void work(TimePoint from);

  MPI_Comm comm_;
  int ranks_;
  network::Network* network_;
  Rules rules_;
  network::Bounds bounds_{};
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  TimePoint horizon_{};
  std::string failure_;
  std::int64_t windows_ = 0;
  struct FreeOp {
    using Handle = MPI_Op;
    static Handle null() { return MPI_OP_NULL; }
    static void free(Handle h) { MPI_Op_free(&h); }
  };
  UniqueHandle<FreeOp> combine_;
  MpiType type_;
};

}  // namespace simreplay::engine
