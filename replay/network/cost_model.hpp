#pragma once
// What sending and receiving cost on the machine to predict: the base model (docs/models/base.md).

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::network {

/// Times of one step. Its process is busy `before` and `after`; a message is `flight` on its way.
struct Cost {
  Duration before{}, flight{}, after{};
};

/// The costs in use, each stored once: a step holds the number of its class, so that the costs of a whole
/// trace fit the cache and another machine is another table.
class CostTable {
 public:
  using Class = std::uint32_t;

  explicit CostTable(const Machine& machine) : machine_(machine) { costs_.emplace_back(); }

  static constexpr Class free = 0;
  Class send(std::int64_t bytes);
  Class receive(std::int64_t bytes);
  Class barrier();

  const Cost& operator[](Class c) const { return costs_[c]; }

 private:
  enum class Role : std::uint8_t { send, receive, barrier };
  Class intern(Role role, std::int64_t bytes, const Cost& cost);

  Machine machine_;
  std::vector<Cost> costs_;
  std::unordered_map<std::int64_t, Class> known_[3];
};

}  // namespace simreplay::network
