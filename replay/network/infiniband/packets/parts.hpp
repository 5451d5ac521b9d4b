#pragma once
// A fabric divided among ranks: leaf switches with their hosts, in blocks of about equal numbers of hosts;
// other switches go where most of their cables lead.

#include <cstdint>
#include <vector>

#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

struct Parts {
  int count = 1;
  std::vector<std::int32_t> of_node{};  // empty: all in part 0

  std::int32_t of(Node n) const { return of_node.empty() ? 0 : of_node[static_cast<std::size_t>(n)]; }
  /// Parts that a cable joins to `part`, ascending.
  std::vector<int> neighbors(const Fabric& fabric, int part) const;
};

/// There may be more parts than leaf switches: some are empty then.
Parts divide(const Fabric& fabric, int parts);

}  // namespace simreplay::infiniband
