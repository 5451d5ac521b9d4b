#pragma once
// Distances between switches, and the choice of ports by distance and load that several engines share.

#include <cstdint>
#include <functional>
#include <vector>

#include "replay/network/infiniband/tables.hpp"

namespace simreplay::infiniband {

inline constexpr std::uint8_t unreachable = 255;

/// Hops from each switch to `target`.
std::vector<std::uint8_t> hops_to(const Fabric& fabric, Node target);

/// Fills in, for each port of a switch, the hops to switch `target` through it; all are unreachable before.
using PortHops = std::function<void(Node target, std::vector<std::uint8_t>& through)>;

/// The shortest paths that there are.
PortHops shortest_paths(const Fabric& fabric);

/// OpenSM's choice: each switch for itself, of the ports with the fewest hops the one with the fewest hosts
/// behind it so far. `one_neighbor`: only among cables to the neighbor that the first of them leads to.
Tables balance_ports(const Fabric& fabric, const PortHops& port_hops, bool one_neighbor);

}  // namespace simreplay::infiniband
