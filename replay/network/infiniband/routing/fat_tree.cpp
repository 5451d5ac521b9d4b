// OpenSM's fat-tree routing: each leaf's hosts in turn get the least loaded way up, and all switches below
// that way the reverse of it. Zahavi et al., Optimized InfiniBand fat-tree routing for shift all-to-all
// communication patterns (Concurrency and Computation 22, 2010); the order of all steps and the counters
// follow OpenSM 3.3.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "common/error.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr std::uint32_t unranked = UINT32_MAX;
constexpr std::uint8_t far = 255;
constexpr std::uint32_t most_levels = 8;

/// Level and position of a switch; the unused rest is 255.
using Index = std::array<std::uint8_t, most_levels>;

struct Member {
  std::uint8_t number, remote_number;
  std::uint32_t up = 0, down = 0;  // routes, by their direction
};

/// The ports of a switch that lead to the same neighbor.
struct Group {
  Node remote = nothing;
  std::vector<Member> members{};
  std::uint32_t up = 0, down = 0;
};

struct Switch {
  std::uint32_t rank = unranked;  // 0: root
  bool is_leaf = false;
  Index index{};
  std::vector<Group> down{}, level{}, up{};
};

Member& least_loaded(Group& g, std::uint32_t Member::*load) {
  return *std::min_element(g.members.begin(), g.members.end(),
                           [load](const Member& a, const Member& b) { return a.*load < b.*load; });
}

/// Groups are nearly sorted each time; equal ones stay as they were.
template <class Less>
void insertion_sort(std::vector<Group>& groups, Less less) {
  for (std::size_t i = 1; i < groups.size(); i++)
    for (std::size_t j = i; j > 0 && less(groups[j], groups[j - 1]); j--) std::swap(groups[j], groups[j - 1]);
}

class FatTree {
 public:
  FatTree(const Fabric& f, const std::vector<Node>& roots)
      : fabric_(f), tables_(f), switches_(at(f.switches())) {
    if (f.switches() < 2) refuse("at least two switches", fmt::format("{}", f.switches()));
    if (f.hosts() < 2) refuse("at least two hosts", fmt::format("{}", f.hosts()));
    if (roots.empty())
      rank_from_hosts();
    else
      rank_from_roots(roots);
    collect_groups();
    find_leaves();
    give_indices();
    sort_leaves();
    if (roots.empty()) check_regular();
    hops_.assign(switches_.size(), far);
  }

  Tables route() {
    for (const Node leaf : leaves_) route_to_hosts(leaf);
    for (const Node sw : fabric_.switches_by_guid()) {
      begin(sw, fabric_.lid(sw), 0);
      go_up(sw, nothing, true, false, 0);
    }
    return std::move(tables_);
  }

 private:
  [[noreturn]] void refuse(std::string expected, std::string found) const {
    throw Error({.operation = "ftree", .expected = std::move(expected), .found = std::move(found)});
  }

  // --- levels ----------------------------------------------------------------------------------------------

  std::uint32_t spread_ranks(std::deque<Node> queue) {
    std::uint32_t deepest = 0;
    while (!queue.empty()) {
      const Node sw = queue.front();
      queue.pop_front();
      for (int p = 1; p <= fabric_.ports(sw); p++) {
        const Node n = fabric_.neighbor(fabric_.port(sw, p));
        if (n == nothing || !fabric_.is_switch(n) || switches_[at(n)].rank <= switches_[at(sw)].rank + 1)
          continue;
        switches_[at(n)].rank = deepest = switches_[at(sw)].rank + 1;
        queue.push_back(n);
      }
    }
    for (Node sw = 0; sw < fabric_.switches(); sw++)
      if (switches_[at(sw)].rank == unranked)
        refuse("one fabric", fabric_.name(sw) + ", which no cable joins to the tree");
    return deepest;
  }

  void rank_from_hosts() {
    std::deque<Node> leaves;
    for (const Node host : hosts_by_guid()) {
      const Node sw = fabric_.switch_of(host);
      if (sw == nothing || switches_[at(sw)].rank == 0) continue;
      switches_[at(sw)].rank = 0;
      leaves.push_back(sw);
    }
    const std::uint32_t deepest = spread_ranks(leaves);
    for (Switch& s : switches_) s.rank = deepest - s.rank;
    leaf_rank_ = deepest;
  }

  void rank_from_roots(const std::vector<Node>& roots) {
    for (const Node root : roots) switches_[at(root)].rank = 0;
    spread_ranks({roots.begin(), roots.end()});
    for (const Node host : hosts_by_guid())
      if (const Node sw = fabric_.switch_of(host); sw != nothing) {
        leaf_rank_ = switches_[at(sw)].rank;
        return;
      }
  }

  std::vector<Node> hosts_by_guid() const {
    std::vector<Node> hosts(at(fabric_.hosts()));
    std::iota(hosts.begin(), hosts.end(), fabric_.host(0));
    std::stable_sort(hosts.begin(), hosts.end(), [this](Node a, Node b) {
      return sort_key(fabric_.guid(a)) < sort_key(fabric_.guid(b));
    });
    return hosts;
  }

  void collect_groups() {
    for (Node sw = 0; sw < fabric_.switches(); sw++)
      for (int p = 1; p <= fabric_.ports(sw); p++) {
        const Port port = fabric_.port(sw, p);
        const Node n = fabric_.neighbor(port);
        if (n == nothing || n == sw) continue;
        std::vector<Group>& groups = groups_towards(sw, n);
        auto g =
            std::find_if(groups.begin(), groups.end(), [n](const Group& group) { return group.remote == n; });
        if (g == groups.end()) g = groups.insert(g, Group{.remote = n});
        g->members.push_back(
            {static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(fabric_.number(fabric_.peer(port)))});
      }
  }

  std::vector<Group>& groups_towards(Node sw, Node n) {
    Switch& s = switches_[at(sw)];
    if (!fabric_.is_switch(n)) return s.down;
    const std::uint32_t rank = switches_[at(n)].rank;
    return s.rank > rank ? s.up : s.rank == rank ? s.level : s.down;
  }

  void find_leaves() {
    if (leaf_rank_ + 1 < 2 || leaf_rank_ + 1 > most_levels)
      refuse(fmt::format("2 to {} levels of switches", most_levels), fmt::format("{}", leaf_rank_ + 1));
    for (int h = 0; h < fabric_.hosts(); h++) {
      const Node sw = fabric_.switch_of(fabric_.host(h));
      if (sw == nothing) continue;
      Switch& s = switches_[at(sw)];
      if (s.rank != leaf_rank_)
        refuse(fmt::format("all hosts {} levels below the roots", leaf_rank_),
               fmt::format("{} {} below", fabric_.name(fabric_.host(h)), s.rank));
      s.is_leaf = true;
    }
  }

  // --- indices ---------------------------------------------------------------------------------------------

  /// From the first leaf on, neighbor by neighbor: the first index at the neighbor's level that is free and
  /// differs in the place of the level in between only.
  void give_indices() {
    Index none;
    none.fill(255);
    for (Switch& s : switches_) s.index = none;
    const auto& order = fabric_.switches_by_guid();
    const Node first =
        *std::find_if(order.begin(), order.end(), [this](Node sw) { return switches_[at(sw)].is_leaf; });
    Index index = none;
    index[0] = static_cast<std::uint8_t>(leaf_rank_);
    std::fill(index.begin() + 1, index.begin() + 1 + leaf_rank_, std::uint8_t{0});
    take_index(first, index);
    std::deque<Node> queue{first};
    while (!queue.empty()) {
      Switch& s = switches_[at(queue.front())];
      queue.pop_front();
      if (s.rank < leaf_rank_) index_neighbors(s, s.down, true, queue);
      if (s.rank != 0) index_neighbors(s, s.up, false, queue);
    }
  }

  void index_neighbors(const Switch& s, std::vector<Group>& groups, bool down, std::deque<Node>& queue) {
    for (const Group& g : groups) {
      if (!fabric_.is_switch(g.remote) || switches_[at(g.remote)].index[0] != 255) continue;
      Index index = s.index;
      const std::size_t place = down ? s.index[0] + 1U : s.index[0];
      index[0] = static_cast<std::uint8_t>(down ? index[0] + 1 : index[0] - 1);
      index[place] = 0;
      while (taken_.count(index) > 0)
        if (index[place]++ == 254)
          refuse("at most 255 neighbors in one direction", "more at " + fabric_.name(g.remote));
      take_index(g.remote, index);
      queue.push_back(g.remote);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [this](const Group& a, const Group& b) { return index_of(a) < index_of(b); });
  }

  Index index_of(const Group& g) const {
    Index none;
    none.fill(255);
    return fabric_.is_switch(g.remote) ? switches_[at(g.remote)].index : none;
  }

  void take_index(Node sw, const Index& index) {
    switches_[at(sw)].index = index;
    taken_.insert(index);
  }

  /// All switches of the leaves' level from the first to the last that has hosts.
  void sort_leaves() {
    for (const Node sw : fabric_.switches_by_guid())
      if (switches_[at(sw)].rank == leaf_rank_) leaves_.push_back(sw);
    std::stable_sort(leaves_.begin(), leaves_.end(),
                     [this](Node a, Node b) { return switches_[at(a)].index < switches_[at(b)].index; });
    const auto real = [this](Node sw) { return switches_[at(sw)].is_leaf; };
    leaves_.erase(leaves_.begin(), std::find_if(leaves_.begin(), leaves_.end(), real));
    leaves_.erase(std::find_if(leaves_.rbegin(), leaves_.rend(), real).base(), leaves_.end());
    for (const Node leaf : leaves_) most_hosts_ = std::max(most_hosts_, fabric_.hosts_of(leaf).size());
  }

  /// Switches of a level must have as many neighbors above and below, joined by as many cables.
  void check_regular() const {
    std::map<std::uint32_t, Node> example;
    for (const Node sw : fabric_.switches_by_guid()) {
      const Node other = example.emplace(switches_[at(sw)].rank, sw).first->second;
      const bool with_down = switches_[at(sw)].rank != leaf_rank_;
      if (shape(sw, with_down) != shape(other, with_down))
        refuse(
            fmt::format("as many neighbors and cables at {} as at {}", fabric_.name(sw), fabric_.name(other)),
            "others");
    }
  }

  std::vector<std::size_t> shape(Node sw, bool with_down) const {
    const Switch& s = switches_[at(sw)];
    std::vector<std::size_t> shape{s.up.size(), with_down ? s.down.size() : 0};
    std::set<std::size_t> cables;
    for (const Group& g : s.up) cables.insert(g.members.size());
    shape.insert(shape.end(), cables.begin(), cables.end());
    if (with_down && !s.down.empty()) shape.push_back(s.down.front().members.size());
    return shape;
  }

  // --- routes ----------------------------------------------------------------------------------------------

  void begin(Node sw, Lid lid, std::uint8_t hops) {
    std::fill(hops_.begin(), hops_.end(), far);
    lid_ = lid;
    hops_[at(sw)] = hops;
    if (hops == 0) tables_.set_port(sw, lid, 0);
  }

  void route_to_hosts(Node leaf) {
    std::size_t routed = 0;
    for (const Node host : fabric_.hosts_of(leaf)) {
      begin(leaf, fabric_.lid(host), 1);
      tables_.set_port(leaf, lid_,
                       static_cast<std::uint8_t>(fabric_.number(fabric_.port_towards_host(host))));
      go_up(leaf, nothing, true, true, 1);
      routed++;
    }
    // As if the hosts that others have more were there, so that the next leaf's begin alike.
    std::fill(hops_.begin(), hops_.end(), far);
    for (; routed < most_hosts_; routed++) go_up(leaf, nothing, false, true, 1);
  }

  void set_route(Node sw, std::uint8_t port, int hops) {
    tables_.set_port(sw, lid_, port);
    hops_[at(sw)] = static_cast<std::uint8_t>(hops);
  }

  /// Ways up from all switches below `sw`: against the direction in which we look for them.
  bool go_down(Node sw, Node previous, bool real, int hops) {
    Switch& s = switches_[at(sw)];
    if (s.down.empty()) return false;
    const auto less = [](const Group& a, const Group& b) { return a.up < b.up; };
    insertion_sort(s.down, less);
    insertion_sort(s.level, less);
    bool created = false;
    for (auto* groups : {&s.down, &s.level}) {
      if (groups == &s.level && !real) break;
      for (Group& g : *groups) created |= reach_below(g, previous, real, hops);
    }
    return created;
  }

  bool reach_below(Group& g, Node previous, bool real, int hops) {
    if (!fabric_.is_switch(g.remote)) return true;
    if (g.remote == previous) return false;
    Member& member = least_loaded(g, &Member::up);
    if (hops_[at(g.remote)] != far && hops + 1 >= hops_[at(g.remote)]) return false;
    if (real) set_route(g.remote, member.remote_number, hops + 1);
    if (!go_down(g.remote, nothing, real, hops + 1)) return false;
    member.up++;
    g.up++;
    return true;
  }

  bool is_nearer(Node sw, int hops) const { return hops + 1 < hops_[at(sw)]; }

  /// Ways down from all switches above `sw`. The main way is the least loaded one and counts as load; a
  /// destination that is not real is counted only.
  bool go_up(Node sw, Node previous, bool real, bool main, int hops) {
    bool created = go_down(sw, previous, real, hops);
    Switch& s = switches_[at(sw)];
    if (s.rank == 0 || s.up.empty()) return created;
    sort_by_load_down(s.up);
    if (main) {
      Group& g = s.up.front();
      Member& member = least_loaded(g, &Member::down);
      g.down++;
      member.down++;
      if (real && is_nearer(g.remote, hops)) {
        set_route(g.remote, member.remote_number, hops + 1);
        created |= go_up(g.remote, sw, true, true, hops + 1);
      }
    }
    if (!real) return created;
    for (std::size_t i = main ? 1 : 0; i < s.up.size(); i++) created |= reach_above(s.up[i], sw, hops);
    sort_by_load_down(s.level);
    for (Group& g : s.level) created |= reach_above(g, sw, hops);
    return created;
  }

  void sort_by_load_down(std::vector<Group>& groups) {
    insertion_sort(groups, [this](const Group& a, const Group& b) {
      if (a.down != b.down) return a.down < b.down;
      return sort_key(fabric_.guid(a.remote)) < sort_key(fabric_.guid(b.remote));
    });
  }

  bool reach_above(Group& g, Node sw, int hops) {
    if (!is_nearer(g.remote, hops)) return false;
    set_route(g.remote, least_loaded(g, &Member::down).remote_number, hops + 1);
    return go_up(g.remote, sw, true, false, hops + 1);
  }

  const Fabric& fabric_;
  Tables tables_;
  std::vector<Switch> switches_;
  std::uint32_t leaf_rank_ = 0;
  std::set<Index> taken_;
  std::vector<Node> leaves_;
  std::size_t most_hosts_ = 0;
  Lid lid_ = 0;                     // that is being routed
  std::vector<std::uint8_t> hops_;  // to it, from each switch
};

}  // namespace

Tables route_fat_tree(const Fabric& f, const RoutingOptions& options) {
  return FatTree(f, options.roots).route();
}

}  // namespace simreplay::infiniband
