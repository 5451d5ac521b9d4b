#pragma once
// What sending and receiving cost on the machine to predict: the patent's base model and the LogP family as
// settings of one form (docs/models/costs.md).

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::network {

/// How a message is completed at its sender.
enum class Protocol : std::uint8_t {
  eager,        // the send ends by itself
  synchronous,  // it ends when the receive has matched; the data came with the message (MPI_Ssend)
  rendezvous,   // the message asks; the data follows when the receive has matched
};

/// Which way the data of a one-sided access goes.
enum class Access : std::uint8_t { put, get, update };

/// Times of one step, in the terms of the interpreter. A send begins when process and adapter are free:
///   start = max(now, adapter free);  adapter free = start + gap;  now = start + busy;
///   arrival = start + flight
/// a receive when the message is there and was asked for; its bytes have begun to come before that:
///   ready = max(asked + before, arrival);  start = max(ready - lead, adapter free);
///   adapter free = start + gap;  now = max(now, start + lead) + busy
struct Cost {
  Duration before{}, busy{}, flight{}, gap{}, lead{};
  bool outwards = false;  // through the adapter that sends
  // After the match of a message that waits for its receive:
  Duration transfer{};     // rendezvous: until the data has come; of a sender: until it knows
  Duration acknowledge{};  // synchronous: until the sender knows
  Duration released{};     // rendezvous: until the sender may go on
};

/// The costs in use, each stored once: a step holds the number of its class, so that the costs of a whole
/// trace fit the cache and another machine is another table.
class CostTable {
 public:
  using Class = std::uint32_t;

  explicit CostTable(const Machine& machine) : machine_(machine) { costs_.emplace_back(); }

  static constexpr Class free = 0;
  Class send(std::int64_t bytes, bool within_node, Protocol protocol);
  Class receive(std::int64_t bytes, bool within_node);
  /// The end of a send that waits for its receive.
  Class answer(std::int64_t bytes, bool within_node, Protocol protocol);
  /// A step that takes this long.
  Class lasting(Duration time);
  /// Of an access to a window. `flight`: until the origin knows that it is done; `transfer`: until it has its
  /// data, or may use its buffer again.
  Class access(Access kind, std::int64_t bytes, bool within_node);
  /// Of a send of the program: synchronous if it says so, rendezvous above the eager limit.
  Protocol protocol(std::int64_t bytes, bool within_node, bool synchronous) const;

  const Cost& operator[](Class c) const { return costs_[c]; }
  const Cost* all() const { return costs_.data(); }

 private:
  const MessageCosts& way(bool within_node) const { return within_node ? machine_.within : machine_.between; }
  Cost send_cost(std::int64_t bytes, const MessageCosts& c, Protocol protocol) const;
  Cost receive_cost(std::int64_t bytes, const MessageCosts& c) const;
  template <class Make>
  Class intern(std::uint32_t role, std::int64_t bytes, Make&& make);

  Cost access_cost(Access kind, std::int64_t bytes, const MessageCosts& c) const;

  static constexpr std::uint32_t lasting_role = 10, access_role = 11, roles = 17;
  Machine machine_;
  std::vector<Cost> costs_;
  std::unordered_map<std::int64_t, Class> known_[roles];
};

}  // namespace simreplay::network
