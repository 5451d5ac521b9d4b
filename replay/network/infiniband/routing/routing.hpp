#pragma once
// Routing engines: forwarding tables made from a fabric, as OpenSM's engine of the same name makes them.

#include <string>
#include <vector>

#include "replay/network/infiniband/tables.hpp"

namespace simreplay::infiniband {

struct RoutingOptions {
  std::vector<Node> roots{};  // of updn and ftree; empty: found by the engine
  int max_lanes = 8;          // of lash
};

/// Throws Error: unknown names with the valid ones; a fabric that the engine cannot route.
Tables route(const Fabric& fabric, const std::string& engine, const RoutingOptions& options = {});

bool is_engine(const std::string& name);
std::vector<std::string> engine_names();

/// A file of switch GUIDs, one a line, as OpenSM's --root_guid_file. Throws Error: GUIDs of no switch.
std::vector<Node> read_roots(const std::string& path, const Fabric& fabric);

// The engines.
Tables route_min_hop(const Fabric& fabric, const RoutingOptions& options);
Tables route_dor(const Fabric& fabric, const RoutingOptions& options);
Tables route_updn(const Fabric& fabric, const RoutingOptions& options);
Tables route_dnup(const Fabric& fabric, const RoutingOptions& options);
Tables route_fat_tree(const Fabric& fabric, const RoutingOptions& options);
Tables route_lash(const Fabric& fabric, const RoutingOptions& options);
Tables route_torus_2qos(const Fabric& fabric, const RoutingOptions& options);

}  // namespace simreplay::infiniband
