#pragma once
// Where the order of arrival decides which receive takes which message: one mailbox per process and
// communicator, with the rules of MPI (MPI 3.1, 3.5). A message goes to the receive that was posted first of
// those that it fits, a receive takes the message that arrived first of those that fit it.
//
// Which one takes which does not depend on when posting and arriving interleave, as long as each has its
// order: a process may post long before the messages of that time are known.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/engine/channels.hpp"

namespace simreplay::engine {

class Mailboxes {
 public:
  using Arrival = engine::Arrival<OneMachineInOrder>;
  /// A channel of messages, or of what a wildcard asks for: then source or tag are trace::anybody.
  struct Found {
    std::uint32_t channel;
    Arrival arrival;
  };

  /// Whether messages of the program go there, not those that the simulator made of its calls.
  static bool is_for(const Envelope& e);
  /// All channels that end at the same process and communicator share a mailbox.
  void open(std::uint32_t channel, const Envelope& e);

  /// The arrival that the receive takes; else it is posted.
  std::optional<Found> receive(std::uint32_t channel, PendingReceive r);
  /// The same arrival, which stays there.
  std::optional<Found> find(std::uint32_t channel) const;
  /// The receive that takes the arrival, and its channel; else the arrival is kept. Arrivals come in order.
  std::optional<PendingReceive> arrive(std::uint32_t channel, const Arrival& a);
  /// The receive is given up, but still takes the message that MPI would give it.
  void abandon(std::uint32_t channel, PendingReceive r);

  /// The envelope of each message that nobody received.
  std::vector<Envelope> unreceived_envelopes() const;

 private:
  struct Posted {
    std::uint32_t channel;
    PendingReceive receive;
  };
  struct Mailbox {
    std::deque<Found> arrived;
    std::deque<Posted> posted;
  };
  Mailbox& of(std::uint32_t channel) { return boxes_[box_[channel]]; }
  bool fits(std::uint32_t receive, std::uint32_t message) const;
  std::deque<Found>::const_iterator first_for(std::uint32_t receive) const;

  std::vector<std::uint32_t> box_;  // by channel
  std::vector<Envelope> envelope_;  // the same
  std::vector<Mailbox> boxes_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> known_;  // process, communicator
};

}  // namespace simreplay::engine
