#pragma once
// Which algorithm Open MPI 4.1 takes, as data (coll/tuned, fixed decisions; coll/basic where tuned has none).

#include <cstdint>
#include <string_view>

#include "replay/collectives/algorithms.hpp"

namespace simreplay::collectives {

/// The size that the rules of an operation look at: a block, the message, the mean or the sum of blocks.
std::int64_t decisive_bytes(Op op, const Call& c);

/// Name of the algorithm for a communicator of `size` members and that many decisive bytes.
std::string_view openmpi_choice(Op op, int size, std::int64_t bytes, bool commutative = true);

/// The rounds of the algorithm chosen.
void openmpi(Op op, const Call& c, Rounds& out);

template <Op op>
void openmpi(const Call& c, Rounds& out) {
  openmpi(op, c, out);
}

}  // namespace simreplay::collectives
