#include "replay/network/infiniband/packets/parts.hpp"

#include <algorithm>
#include <set>

namespace simreplay::infiniband {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Leaf switches with their hosts, in blocks; hosts without a switch go to part 0.
void place_leaves(const Fabric& f, Parts& parts) {
  std::int64_t placed = 0;
  for (Node sw = 0; sw < f.switches(); sw++) {
    const std::vector<Node> hosts = f.hosts_of(sw);
    if (hosts.empty()) continue;
    // By the middle of its hosts, so that blocks differ by less than a leaf.
    const std::int64_t middle = 2 * placed + std::ssize(hosts);
    const auto part = static_cast<std::int32_t>(std::min<std::int64_t>(
        parts.count - 1, middle * parts.count / (2 * static_cast<std::int64_t>(f.hosts()))));
    parts.of_node[index(sw)] = part;
    for (const Node host : hosts) parts.of_node[index(host)] = part;
    placed += std::ssize(hosts);
  }
}

/// The part that most cables of a switch lead to; of equal ones the one with the fewest ports so far.
std::int32_t best_part(const Fabric& f, const Parts& parts, Node sw, const std::vector<std::int64_t>& load) {
  std::vector<std::int64_t> cables(index(parts.count), 0);
  for (int port = 1; port <= f.ports(sw); port++) {
    const Node other = f.neighbor(f.port(sw, port));
    if (other != nothing && parts.of_node[index(other)] >= 0) cables[index(parts.of_node[index(other)])]++;
  }
  std::int32_t best = nothing;
  for (std::int32_t p = 0; p < parts.count; p++)
    if (cables[index(p)] > 0 &&
        (best < 0 || cables[index(p)] > cables[index(best)] ||
         (cables[index(p)] == cables[index(best)] && load[index(p)] < load[index(best)])))
      best = p;
  return best;
}

/// Level by level, away from the leaves.
void place_others(const Fabric& f, Parts& parts) {
  std::vector<std::int64_t> load(index(parts.count), 0);
  std::vector<std::pair<Node, std::int32_t>> placed;
  do {
    placed.clear();
    for (Node sw = 0; sw < f.switches(); sw++) {
      if (parts.of_node[index(sw)] >= 0) continue;
      const std::int32_t part = best_part(f, parts, sw, load);
      if (part < 0) continue;
      placed.emplace_back(sw, part);
      load[index(part)] += f.ports(sw);
    }
    for (const auto& [sw, part] : placed) parts.of_node[index(sw)] = part;
  } while (!placed.empty());
}

}  // namespace

std::vector<int> Parts::neighbors(const Fabric& f, int part) const {
  std::set<int> found;
  for (const Cable& c : f.cables()) {
    const int a = of(f.node_of(c.a)), b = of(f.node_of(c.b));
    if (a != b && (a == part || b == part)) found.insert(a == part ? b : a);
  }
  return {found.begin(), found.end()};
}

Parts divide(const Fabric& fabric, int parts) {
  Parts result{parts, {}};
  if (parts == 1) return result;
  result.of_node.assign(index(fabric.nodes()), nothing);
  place_leaves(fabric, result);
  place_others(fabric, result);
  std::replace(result.of_node.begin(), result.of_node.end(), nothing, std::int32_t{0});
  return result;
}

}  // namespace simreplay::infiniband
