#include "replay/network/infiniband/routing/hops.hpp"

#include <algorithm>
#include <memory>

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// For one target: the ports among which each switch chooses.
class Choices {
 public:
  Choices(const Fabric& f, const PortHops& port_hops, bool one_neighbor)
      : fabric_(f),
        port_hops_(port_hops),
        one_neighbor_(one_neighbor),
        through_(at(f.first_port(f.switches()))) {}

  void find(Node target) {
    std::fill(through_.begin(), through_.end(), unreachable);
    port_hops_(target, through_);
    ports_.clear();
    begins_.assign(1, 0);
    for (Node sw = 0; sw < fabric_.switches(); sw++) {
      if (sw != target) find_of(sw);
      begins_.push_back(ports_.size());
    }
  }

  /// The least loaded; nothing if there is no way.
  Port best(Node sw, const std::vector<std::int32_t>& load) const {
    Port best = nothing;
    for (std::size_t i = begins_[at(sw)]; i < begins_[at(sw) + 1]; i++)
      if (best == nothing || load[at(ports_[i])] < load[at(best)]) best = ports_[i];
    return best;
  }

 private:
  void find_of(Node sw) {
    const Port begin = fabric_.first_port(sw), end = begin + fabric_.ports(sw);
    const std::uint8_t least =
        begin == end ? unreachable : *std::min_element(through_.begin() + begin, through_.begin() + end);
    if (least == unreachable) return;
    Node neighbor = nothing;
    for (Port p = begin; p < end; p++) {
      if (through_[at(p)] != least) continue;
      if (neighbor == nothing) neighbor = fabric_.neighbor(p);
      if (!one_neighbor_ || fabric_.neighbor(p) == neighbor) ports_.push_back(p);
    }
  }

  const Fabric& fabric_;
  const PortHops& port_hops_;
  bool one_neighbor_;
  std::vector<std::uint8_t> through_;
  std::vector<Port> ports_;
  std::vector<std::size_t> begins_;  // of each switch in ports_
};

}  // namespace

std::vector<std::uint8_t> hops_to(const Fabric& f, Node target) {
  std::vector<std::uint8_t> hops(at(f.switches()), unreachable);
  std::vector<Node> reached{target};
  hops[at(target)] = 0;
  for (std::size_t i = 0; i < reached.size(); i++) {
    const Node sw = reached[i];
    for (Port p = f.first_port(sw); p < f.first_port(sw) + f.ports(sw); p++) {
      const Node n = f.neighbor(p);
      if (n == nothing || !f.is_switch(n) || hops[at(n)] != unreachable || hops[at(sw)] + 1 == unreachable)
        continue;
      hops[at(n)] = static_cast<std::uint8_t>(hops[at(sw)] + 1);
      reached.push_back(n);
    }
  }
  return hops;
}

PortHops shortest_paths(const Fabric& f) {
  return [&f](Node target, std::vector<std::uint8_t>& through) {
    const std::vector<std::uint8_t> hops = hops_to(f, target);
    for (Port p = 0; at(p) < through.size(); p++) {
      const Node n = f.neighbor(p);
      if (n == nothing || !f.is_switch(n) || hops[at(n)] >= unreachable - 1) continue;
      through[at(p)] = static_cast<std::uint8_t>(hops[at(n)] + 1);
    }
  };
}

Tables balance_ports(const Fabric& f, const PortHops& port_hops, bool one_neighbor) {
  Tables tables(f);
  std::vector<std::int32_t> load(at(f.first_port(f.switches())), 0);
  Choices choices(f, port_hops, one_neighbor);
  const auto assign = [&](Lid lid, bool counts) {
    for (Node sw = 0; sw < f.switches(); sw++) {
      const Port p = choices.best(sw, load);
      if (p == nothing) continue;
      tables.set_port(sw, lid, static_cast<std::uint8_t>(f.number(p)));
      if (counts) load[at(p)]++;
    }
  };
  // Switches with many hosts first, then all switches themselves, which count for no load.
  std::vector<Node> order = f.switches_by_guid();
  std::vector<std::vector<Node>> hosts(at(f.switches()));
  for (const Node sw : order) hosts[at(sw)] = f.hosts_of(sw);
  std::stable_sort(order.begin(), order.end(),
                   [&](Node a, Node b) { return hosts[at(a)].size() > hosts[at(b)].size(); });
  for (const Node target : order) {
    if (hosts[at(target)].empty()) continue;
    choices.find(target);
    for (const Node host : hosts[at(target)]) {
      assign(f.lid(host), true);
      tables.set_port(target, f.lid(host), static_cast<std::uint8_t>(f.number(f.port_towards_host(host))));
    }
  }
  for (const Node target : f.switches_by_guid()) {
    choices.find(target);
    assign(f.lid(target), false);
    tables.set_port(target, f.lid(target), 0);
  }
  return tables;
}

}  // namespace simreplay::infiniband
