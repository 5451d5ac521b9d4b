#pragma once
// Executes the rounds of all members of a collective with one ordered channel per pair of members.

#include <cstdint>
#include <string>
#include <vector>

#include "replay/collectives/algorithms.hpp"

namespace simreplay::test {

/// Bit i: the data of member i. Enough for 64 members.
using Knowledge = std::uint64_t;

struct Outcome {
  std::string fault;  // empty if every message was received with the bytes sent
  std::int64_t messages = 0, bytes = 0;
  int hops = 0;   // messages in the longest chain of which each depends on the one before
  int steps = 0;  // the same if a send occupies its sender for a step and arrives at its end
  std::vector<Knowledge> knowledge;  // of each member, at the end
};

Outcome run(const collectives::Algorithm& algorithm, const std::vector<collectives::Call>& calls);

}  // namespace simreplay::test
