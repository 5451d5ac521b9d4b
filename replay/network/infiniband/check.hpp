#pragma once
// What tables do, before any packet is sent: does every host reach every other, how far is it, can packets
// block each other in a circle, how many routes share a cable.

#include <cstdint>
#include <string>
#include <vector>

#include "replay/network/infiniband/tables.hpp"

namespace simreplay::infiniband {

/// A pair of hosts that tables do not join.
struct LostPair {
  Node from = nothing, to = nothing;
  std::vector<Node> way{};  // switches passed; the last one has no route, or is met again
  bool loop = false;
};

/// A direction of a cable between switches, with a lane.
struct Channel {
  Port out = nothing;
  std::uint8_t lane = 0;
};

struct Check {
  std::int64_t pairs = 0;  // of different hosts
  std::int64_t lost = 0;   // of them
  std::vector<LostPair> some_lost{};
  std::int64_t switches_passed = 0;                 // by all pairs that arrive
  int longest = 0;                                  // switches passed
  std::int64_t detours = 0;                         // pairs with more switches than needed
  std::vector<std::int64_t> routes{};               // through each port out of a switch towards a switch
  std::int64_t most_routes = 0, fewest_routes = 0;  // of the directed cables between switches that are used
  std::int64_t used = 0, unused = 0;                // such
  int levels = 0, lanes = 0;                        // service levels and lanes in use
  std::vector<Channel> cycle{};                     // channels that wait for each other, if there are such

  bool arrives() const { return lost == 0; }
  bool acyclic() const { return cycle.empty(); }
  double mean_switches() const {
    return pairs == lost ? 0 : static_cast<double>(switches_passed) / static_cast<double>(pairs - lost);
  }
};

Check check(const Fabric& fabric, const Tables& tables);

/// The switches that a packet passes; the last one may be wrong where tables are.
LostPair trace(const Fabric& fabric, const Tables& tables, Node from, Node to);

/// "h3 to h9: leaf0, spine1, which has no route", "a circle: leaf0[3] lane 0, ..."
std::string to_string(const Fabric& fabric, const LostPair& pair);
std::string cycle_to_string(const Fabric& fabric, const std::vector<Channel>& cycle);

}  // namespace simreplay::infiniband
