#pragma once
// Collectives between the two groups of an intercommunicator, as Open MPI 4.1 makes them (coll/inter, and
// coll/basic for the all-to-all family): within each group by the group's own algorithms, and by messages
// between the first members of both.

#include <functional>

#include "replay/collectives/algorithms.hpp"

namespace simreplay::collectives {

/// One call as a member of either group sees it.
struct InterCall {
  enum class Role : std::uint8_t {
    root,
    beside_root,
    remote
  };                       // of rooted operations: `remote` has the root opposite
  int rank = 0, size = 1;  // in the own group
  int remote_size = 1;
  Role role = Role::remote;
  int root = 0;            // rank in the other group
  std::int64_t bytes = 0;  // docs/trace-format.md
  std::span<const std::int64_t> blocks{};
  bool commutative = true;
};

/// Messages of the collective `op` within the own group.
using WithinGroup = std::function<void(Op op, const Call& call, Rounds& out)>;

/// Peers below `size` are members of the own group, those from `size` on of the other. Throws
/// std::invalid_argument for operations that MPI does not allow on intercommunicators.
void between_groups(Op op, const InterCall& call, const WithinGroup& within, Rounds& out);

}  // namespace simreplay::collectives
