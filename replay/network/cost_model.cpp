#include "replay/network/cost_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace simreplay::network {
namespace {

/// LogGP counts the bytes after the first.
std::int64_t counted(std::int64_t bytes, Machine::Model model) {
  return model == Machine::Model::loggops ? std::max<std::int64_t>(bytes - 1, 0) : bytes;
}

Duration per_byte(const BySize<Ratio>& cost, std::int64_t bytes, std::int64_t counted_bytes) {
  return Duration{cost.at(bytes).times(counted_bytes)};
}

}  // namespace

CostModel::CostModel(const Machine& machine)
    : machine_(machine), between_(machine.between, machine.model), within_(machine.within, machine.model) {
  if (machine.network.empty()) return;
  MessageCosts& between = machine_.between;
  between.latency = between.gap = BySize<Duration>{};
  between.per_byte = between.gap_per_byte = BySize<Ratio>{Ratio{0, 1}};
  between.half_duplex = false;
}

Protocol CostModel::protocol(std::int64_t bytes, bool within_node, bool synchronous) const {
  if (bytes > way(within_node).eager_limit) return Protocol::rendezvous;
  return synchronous ? Protocol::synchronous : Protocol::eager;
}

Cost CostModel::of(const Use& use) const {
  Cost c = of_message(use);
  if (machine_.network.empty() || use.within_node) return c;
  const MessageCosts& costs = machine_.between;
  const Duration leaves =
      costs.send_prolog.at(use.bytes) + per_byte(costs.send_per_byte, use.bytes, use.bytes);
  c.crosses = use.role == Use::Role::send || use.role == Use::Role::access;
  c.released = costs.receive_epilog.at(use.bytes);
  if (use.role == Use::Role::send) c.transfer = leaves;
  if (use.role == Use::Role::answer) c.transfer = Duration{};
  return c;
}

Cost CostModel::of_message(const Use& use) const {
  const MessageCosts& costs = way(use.within_node);
  switch (use.role) {
    case Use::Role::nothing:
      return {};
    case Use::Role::send:
      return send(use.bytes, costs, use.protocol);
    case Use::Role::receive:
      return receive(use.bytes, costs);
    case Use::Role::answer:
      return answer(use.bytes, costs, use.protocol);
    case Use::Role::access:
      return access(use.kind, use.bytes, costs);
    case Use::Role::barrier:
      return {.busy = machine_.barrier_overhead};
    case Use::Role::formula:
      return {.busy = formula(use)};
  }
  return {};
}

Duration CostModel::formula(const Use& use) const {
  const AlphaBeta& line = use.within_node ? within_ : between_;
  return std::min(line.of(use.messages, use.bytes), line.of(use.other_messages, use.other_bytes));
}

Cost CostModel::answer(std::int64_t bytes, const MessageCosts& costs, Protocol protocol) const {
  const bool asked = protocol == Protocol::rendezvous;
  const Cost at_receiver = receive(bytes, costs);
  Cost c;
  c.transfer = asked ? at_receiver.released : at_receiver.acknowledge;
  if (!asked) return c;
  c.busy = costs.send_epilog.at(bytes);
  // The adapter was busy with the data until the sender was released.
  c.outwards = true;
  c.gap = c.lead = per_byte(costs.gap_per_byte, bytes, counted(bytes, machine_.model));
  return c;
}

/// The target's processor takes no part.
Cost CostModel::access(Access kind, std::int64_t bytes, const MessageCosts& c) const {
  const Duration latency = c.latency.at(bytes);
  const Cost request = send(0, c, Protocol::eager), data = send(bytes, c, Protocol::eager);
  Cost cost = kind == Access::get ? request : data;
  const Duration back =
      kind == Access::put ? latency : latency + per_byte(c.per_byte, bytes, counted(bytes, machine_.model));
  cost.flight += back;
  cost.transfer = kind == Access::put ? cost.busy : cost.flight;
  return cost;
}

Cost CostModel::send(std::int64_t bytes, const MessageCosts& c, Protocol protocol) const {
  const std::int64_t n = counted(bytes, machine_.model);
  const Duration prolog = c.send_prolog.at(bytes), latency = c.latency.at(bytes),
                 epilog = c.send_epilog.at(bytes);
  Cost cost;
  cost.outwards = true;
  if (protocol == Protocol::rendezvous) {  // only the request leaves now
    cost.busy = prolog;
    cost.flight = prolog + latency;
    cost.gap = c.gap.at(bytes);
    return cost;
  }
  const Duration own = prolog + per_byte(c.send_per_byte, bytes, n);
  cost.busy = own + epilog;
  // LogGOPS: the first byte arrives after o + L; the rest of the message is the receiver's max(O, G).
  const Duration leaves = machine_.model == Machine::Model::loggops ? prolog : own;
  cost.flight = leaves + latency + per_byte(c.per_byte, bytes, n);
  cost.gap = c.gap.at(bytes) + per_byte(c.gap_per_byte, bytes, n);
  return cost;
}

Cost CostModel::receive(std::int64_t bytes, const MessageCosts& c) const {
  const std::int64_t n = counted(bytes, machine_.model);
  const Duration latency = c.latency.at(bytes), answers = c.receive_epilog.at(bytes);
  const Duration own = per_byte(c.receive_per_byte, bytes, n), adapter = per_byte(c.gap_per_byte, bytes, n);
  const bool loggops = machine_.model == Machine::Model::loggops;
  Cost cost;
  cost.outwards = c.half_duplex;
  cost.before = c.receive_prolog.at(bytes);
  cost.busy = c.receive_epilog.at(bytes) + (loggops ? std::max(own, adapter) : own);
  cost.gap = c.gap.at(bytes) + adapter;
  // Where the arrival is that of the last byte, the adapter has been busy with it for as long as they took.
  if (!loggops)
    cost.lead = std::min(adapter, per_byte(c.send_per_byte, bytes, n) + per_byte(c.per_byte, bytes, n));
  cost.acknowledge = latency;
  // The receiver answers, the sender sends: its overhead, its bytes, the way. It is free when the bytes have
  // left.
  const Duration leaves =
      c.send_prolog.at(bytes) + (loggops ? Duration{} : per_byte(c.send_per_byte, bytes, n));
  const Duration data_starts = answers + latency;
  cost.released =
      data_starts + leaves + (loggops ? std::max(per_byte(c.send_per_byte, bytes, n), adapter) : adapter);
  cost.transfer = data_starts + leaves + latency + per_byte(c.per_byte, bytes, n);
  return cost;
}

// --- classes
// ------------------------------------------------------------------------------------------------

std::size_t CostClasses::Hash::operator()(const Use& u) const {
  const auto mixed = [](std::uint64_t h, std::uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ULL; };
  std::uint64_t h = static_cast<std::uint64_t>(u.role) << 24 | static_cast<std::uint64_t>(u.protocol) << 16 |
                    static_cast<std::uint64_t>(u.kind) << 8 | static_cast<std::uint64_t>(u.within_node);
  h = mixed(mixed(h, static_cast<std::uint64_t>(u.bytes)), static_cast<std::uint64_t>(u.other_bytes));
  h = mixed(h, static_cast<std::uint64_t>(u.messages) << 32 | static_cast<std::uint64_t>(u.other_messages));
  return h ^ h >> 32;
}

CostClasses::Class CostClasses::intern(const Use& use) {
  const auto [it, is_new] = known_.emplace(use, static_cast<Class>(uses_.size()));
  if (is_new) {
    if (uses_.size() == at_most) throw std::length_error("messages of too many sizes");
    uses_.push_back(use);
  }
  return it->second;
}

CostClasses::Class CostClasses::send(std::int64_t bytes, bool within_node, Protocol protocol) {
  // A synchronous message travels as an eager one.
  const Protocol as = protocol == Protocol::rendezvous ? protocol : Protocol::eager;
  return intern({.role = Use::Role::send, .within_node = within_node, .protocol = as, .bytes = bytes});
}

CostClasses::Class CostClasses::receive(std::int64_t bytes, bool within_node) {
  return intern({.role = Use::Role::receive, .within_node = within_node, .bytes = bytes});
}

CostClasses::Class CostClasses::answer(std::int64_t bytes, bool within_node, Protocol protocol) {
  return intern(
      {.role = Use::Role::answer, .within_node = within_node, .protocol = protocol, .bytes = bytes});
}

CostClasses::Class CostClasses::access(Access kind, std::int64_t bytes, bool within_node) {
  return intern({.role = Use::Role::access, .within_node = within_node, .kind = kind, .bytes = bytes});
}

CostClasses::Class CostClasses::barrier() { return intern({.role = Use::Role::barrier}); }

}  // namespace simreplay::network
