// Min Hop and dimension order: shortest paths, balanced. Up/down and down/up: shortest among the paths that
// do not turn the forbidden way.

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "common/error.hpp"
#include "replay/network/infiniband/routing/hops.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr int unranked = 1 << 30;

enum class Way { up, down, level };

/// Levels by breadth-first search from those that have rank 0.
std::vector<int> rank_from(const Fabric& f, const std::vector<Node>& first) {
  std::vector<int> rank(at(f.switches()), unranked);
  for (const Node sw : first) rank[at(sw)] = 0;
  std::vector<Node> reached = first;
  for (std::size_t i = 0; i < reached.size(); i++) {
    const Node sw = reached[i];
    for (Port p = f.first_port(sw); p < f.first_port(sw) + f.ports(sw); p++) {
      const Node n = f.neighbor(p);
      if (n == nothing || !f.is_switch(n) || rank[at(n)] <= rank[at(sw)] + 1) continue;
      rank[at(n)] = rank[at(sw)] + 1;
      reached.push_back(n);
    }
  }
  return rank;
}

/// The search from a target over all switches that OpenSM makes. A switch knows only the way of the step by
/// which it was queued, and so what it forbids; where a switch is reached both ways that is not exact, and is
/// kept as it is.
class RestrictedSearch {
 public:
  using WayOf = std::function<Way(Node from, Node to)>;

  RestrictedSearch(const Fabric& f, Way first, Way forbidden_after, WayOf way_of)
      : fabric_(f), first_(first), forbidden_after_(forbidden_after), way_of_(std::move(way_of)) {}

  void operator()(Node target, std::vector<std::uint8_t>& through) {
    least_.assign(at(fabric_.switches()), unreachable);
    queued_.assign(at(fabric_.switches()), false);
    ways_.assign(at(fabric_.switches()), first_);
    least_[at(target)] = 0;
    std::deque<Node> queue{target};
    while (!queue.empty()) {
      const Node sw = queue.front();
      queue.pop_front();
      queued_[at(sw)] = false;
      step_from(sw, through, queue);
    }
  }

 private:
  bool forbidden(Way before, Way next) const {
    return before == forbidden_after_ && next != forbidden_after_ && next != Way::level;
  }

  void step_from(Node sw, std::vector<std::uint8_t>& through, std::deque<Node>& queue) {
    const Way before = ways_[at(sw)];
    for (Port p = fabric_.first_port(sw); p < fabric_.first_port(sw) + fabric_.ports(sw); p++) {
      const Node n = fabric_.neighbor(p);
      if (n == nothing || !fabric_.is_switch(n)) continue;
      const Way next = way_of_(sw, n);
      if (forbidden(before, next)) continue;
      std::uint8_t& hops = through[at(fabric_.peer(p))];
      if (least_[at(sw)] + 1 >= hops) continue;
      hops = static_cast<std::uint8_t>(least_[at(sw)] + 1);
      least_[at(n)] = std::min(least_[at(n)], hops);
      if (queued_[at(n)]) continue;
      ways_[at(n)] = next;
      queued_[at(n)] = true;
      queue.push_back(n);
    }
  }

  const Fabric& fabric_;
  Way first_, forbidden_after_;
  WayOf way_of_;
  std::vector<std::uint8_t> least_;
  std::vector<bool> queued_;
  std::vector<Way> ways_;
};

/// Those that nearly all hosts (90 %) are equally far from, and hardly any (5 %) otherwise.
std::vector<Node> find_roots(const Fabric& f) {
  std::vector<std::int64_t> hosts(at(f.switches()), 0);
  std::int64_t all = 0;
  for (int h = 0; h < f.hosts(); h++)
    if (const Node sw = f.switch_of(f.host(h)); sw != nothing) hosts[at(sw)]++, all++;
  std::vector<Node> roots;
  for (const Node sw : f.switches_by_guid()) {
    const std::vector<std::uint8_t> hops = hops_to(f, sw);
    std::vector<std::int64_t> at_distance(unreachable, 0);
    for (Node n = 0; n < f.switches(); n++)
      if (hops[at(n)] != unreachable) at_distance[hops[at(n)]] += hosts[at(n)];
    const auto above = [&](std::int64_t percent) {
      return std::count_if(at_distance.begin(), at_distance.end(),
                           [&](std::int64_t n) { return 100 * n > percent * all; });
    };
    if (above(90) == 1 && above(5) == 1) roots.push_back(sw);
  }
  return roots;
}

}  // namespace

Tables route_min_hop(const Fabric& f, const RoutingOptions&) {
  return balance_ports(f, shortest_paths(f), false);
}

Tables route_dor(const Fabric& f, const RoutingOptions&) { return balance_ports(f, shortest_paths(f), true); }

Tables route_updn(const Fabric& f, const RoutingOptions& options) {
  const std::vector<Node> roots = options.roots.empty() ? find_roots(f) : options.roots;
  if (roots.empty())
    throw Error({.operation = "updn",
                 .expected = "switches that are equally far from nearly all hosts",
                 .found = "none",
                 .remedy = "name the roots (--roots of simnet, infiniband.roots of a machine)"});
  const std::vector<int> rank = rank_from(f, roots);
  const auto way = [&](Node from, Node to) {
    const int a = rank[at(from)], b = rank[at(to)];
    if (a == b) return a == 0 || sort_key(f.guid(from)) > sort_key(f.guid(to)) ? Way::up : Way::down;
    return a > b ? Way::up : Way::down;
  };
  return balance_ports(f, RestrictedSearch(f, Way::up, Way::down, way), false);
}

Tables route_dnup(const Fabric& f, const RoutingOptions&) {
  std::vector<Node> leaves;
  for (const Node sw : f.switches_by_guid())
    if (!f.hosts_of(sw).empty()) leaves.push_back(sw);
  if (leaves.empty()) throw Error({.operation = "dnup", .expected = "switches with hosts", .found = "none"});
  const std::vector<int> rank = rank_from(f, leaves);
  const auto way = [&](Node from, Node to) {
    const int a = rank[at(from)], b = rank[at(to)];
    return a == b ? Way::level : a > b ? Way::up : Way::down;
  };
  return balance_ports(f, RestrictedSearch(f, Way::down, Way::up, way), false);
}

}  // namespace simreplay::infiniband
