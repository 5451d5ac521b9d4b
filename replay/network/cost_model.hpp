#pragma once
// What sending and receiving cost on the machine to predict: the patent's base model and the LogP family as
// settings of one form (docs/models/costs.md).

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"
#include "replay/network/alpha_beta.hpp"

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
  bool crosses = false;   // a network in which messages disturb each other: it comes after `flight`
  // After the match of a message that waits for its receive:
  Duration transfer{};     // rendezvous: until the data has come; of a sender: until it knows
  Duration acknowledge{};  // synchronous: until the sender knows
  Duration released{};     // rendezvous: until the sender may go on
};

/// What something costs is for. Says nothing of any machine.
struct Use {
  enum class Role : std::uint8_t {
    nothing,
    send,     // by protocol
    receive,  // a receive does not know the protocol until the message is there
    answer,   // the end of a send that waits for its receive
    access,   // to a window. flight: until the origin knows that it is done; transfer: until it has its data,
              // or may use its buffer again
    barrier,  // the patent's overhead
    formula,  // a collective without messages: the smaller of two sums of `messages` and `bytes`
  };
  Role role = Role::nothing;
  bool within_node = false;
  Protocol protocol = Protocol::eager;
  Access kind = Access::put;
  std::int64_t bytes = 0, other_bytes = 0;
  std::int32_t messages = 0, other_messages = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

/// The costs of one machine. Where a network of its own (network.hpp) joins the nodes, that says how long the
/// way takes: neither latency nor bytes nor gaps of the machine count between nodes then, and messages that
/// wait for their receive are answered across it.
/// Who answers needs a receive's epilog for it.
///   rendezvous   receive.released: from the match to the answer; send.transfer: from the answer to the data
///   synchronous  receive.released: the same
///   access       released: from its arrival to the answer
class CostModel {
 public:
  explicit CostModel(const Machine& machine);
  Cost of(const Use& use) const;
  /// Of a send of the program: synchronous if it says so, rendezvous above the eager limit.
  Protocol protocol(std::int64_t bytes, bool within_node, bool synchronous) const;
  /// No message takes less from its send to its arrival.
  Duration fastest(bool within_node) const {
    return way(within_node).send_prolog.least() + way(within_node).latency.least();
  }
  /// No process answers a message that crossed the network any sooner.
  Duration reaction() const {
    return std::min(machine_.between.send_prolog.least(), machine_.between.receive_epilog.least());
  }

 private:
  const MessageCosts& way(bool within_node) const { return within_node ? machine_.within : machine_.between; }
  Cost send(std::int64_t bytes, const MessageCosts& c, Protocol protocol) const;
  Cost receive(std::int64_t bytes, const MessageCosts& c) const;
  Cost answer(std::int64_t bytes, const MessageCosts& c, Protocol protocol) const;
  Cost access(Access kind, std::int64_t bytes, const MessageCosts& c) const;
  Cost of_message(const Use& use) const;
  Duration formula(const Use& use) const;

  Machine machine_;
  AlphaBeta between_, within_;  // nodes; a node
};

/// Numbers uses 0, 1, 2 ... in order of first use: a step holds the number, so that the costs of a whole
/// trace fit the cache and another machine is another table.
class CostClasses {
 public:
  using Class = std::uint32_t;
  static constexpr Class free = 0;
  static constexpr Class at_most = 1U << 26;

  CostClasses() : uses_(1) {}
  Class send(std::int64_t bytes, bool within_node, Protocol protocol);
  Class receive(std::int64_t bytes, bool within_node);
  Class answer(std::int64_t bytes, bool within_node, Protocol protocol);
  Class access(Access kind, std::int64_t bytes, bool within_node);
  Class barrier();
  Class formula(const Use& use) { return intern(use); }
  std::span<const Use> uses() const { return uses_; }

 private:
  struct Hash {
    std::size_t operator()(const Use& u) const;
  };
  Class intern(const Use& use);
  std::vector<Use> uses_;
  std::unordered_map<Use, Class, Hash> known_;
};

}  // namespace simreplay::network
