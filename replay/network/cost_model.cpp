#include "replay/network/cost_model.hpp"

namespace simreplay::network {

CostTable::Class CostTable::intern(Role role, std::int64_t bytes, const Cost& cost) {
  const auto [it, is_new] = known_[static_cast<std::size_t>(role)].emplace(bytes, static_cast<Class>(costs_.size()));
  if (is_new) costs_.push_back(cost);
  return it->second;
}

CostTable::Class CostTable::send(std::int64_t bytes) {
  return intern(Role::send, bytes,
                {.before = machine_.send_prolog + Duration{machine_.send_per_byte.times(bytes)},
                 .flight = machine_.network_latency + Duration{machine_.network_per_byte.times(bytes)},
                 .after = machine_.send_epilog});
}

CostTable::Class CostTable::receive(std::int64_t bytes) {
  return intern(Role::receive, bytes,
                {.before = machine_.receive_prolog,
                 .flight = {},
                 .after = Duration{machine_.receive_per_byte.times(bytes)} + machine_.receive_epilog});
}

CostTable::Class CostTable::barrier() { return intern(Role::barrier, 0, {.before = {}, .flight = {}, .after = machine_.barrier_overhead}); }

}  // namespace simreplay::network
