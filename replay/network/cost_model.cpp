#include "replay/network/cost_model.hpp"

#include <algorithm>

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

template <class Make>
CostTable::Class CostTable::intern(std::uint32_t role, std::int64_t bytes, Make&& make) {
  const auto [it, is_new] = known_[role].emplace(bytes, static_cast<Class>(costs_.size()));
  if (is_new) costs_.push_back(make());
  return it->second;
}

Protocol CostTable::protocol(std::int64_t bytes, bool within_node, bool synchronous) const {
  if (bytes > way(within_node).eager_limit) return Protocol::rendezvous;
  return synchronous ? Protocol::synchronous : Protocol::eager;
}

CostTable::Class CostTable::send(std::int64_t bytes, bool within_node, Protocol protocol) {
  // A synchronous message travels as an eager one.
  const bool asks = protocol == Protocol::rendezvous;
  const std::uint32_t role = (asks ? 2U : 0U) + (within_node ? 1U : 0U);
  return intern(role, bytes, [&] { return send_cost(bytes, way(within_node), protocol); });
}

CostTable::Class CostTable::receive(std::int64_t bytes, bool within_node) {
  return intern(4U + (within_node ? 1U : 0U), bytes, [&] { return receive_cost(bytes, way(within_node)); });
}

CostTable::Class CostTable::answer(std::int64_t bytes, bool within_node, Protocol protocol) {
  const bool asked = protocol == Protocol::rendezvous;
  return intern(6U + (asked ? 2U : 0U) + (within_node ? 1U : 0U), bytes, [&] {
    const Cost at_receiver = receive_cost(bytes, way(within_node));
    Cost c;
    c.transfer = asked ? at_receiver.released : at_receiver.acknowledge;
    if (!asked) return c;
    c.busy = way(within_node).send_epilog.at(bytes);
    // The adapter was busy with the data until the sender was released.
    c.outwards = true;
    c.gap = c.lead = per_byte(way(within_node).gap_per_byte, bytes, counted(bytes, machine_.model));
    return c;
  });
}

CostTable::Class CostTable::lasting(Duration time) {
  return intern(lasting_role, time.count(), [&] {
    Cost c;
    c.busy = time;
    return c;
  });
}

CostTable::Class CostTable::access(Access kind, std::int64_t bytes, bool within_node) {
  const std::uint32_t role = access_role + 2U * static_cast<std::uint32_t>(kind) + (within_node ? 1U : 0U);
  return intern(role, bytes, [&] { return access_cost(kind, bytes, way(within_node)); });
}

/// The target's processor takes no part.
Cost CostTable::access_cost(Access kind, std::int64_t bytes, const MessageCosts& c) const {
  const Duration latency = c.latency.at(bytes);
  const Cost request = send_cost(0, c, Protocol::eager), data = send_cost(bytes, c, Protocol::eager);
  Cost cost = kind == Access::get ? request : data;
  const Duration back =
      kind == Access::put ? latency : latency + per_byte(c.per_byte, bytes, counted(bytes, machine_.model));
  cost.flight += back;
  cost.transfer = kind == Access::put ? cost.busy : cost.flight;
  return cost;
}

Cost CostTable::send_cost(std::int64_t bytes, const MessageCosts& c, Protocol protocol) const {
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

Cost CostTable::receive_cost(std::int64_t bytes, const MessageCosts& c) const {
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

}  // namespace simreplay::network
