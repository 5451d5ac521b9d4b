// LASH, layered shortest paths (Skeie, Lysne, Theiss, IPDPS 2002): one shortest path for each pair of
// switches; the pair goes, both ways, to the first lane in which its paths close no circle of channels. Then
// pairs move from the fullest to the emptiest lane as OpenSM moves them, which draws them with the C
// library's rand().

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/error.hpp"
#include "replay/network/infiniband/routing/acyclic.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// What rand() of glibc yields in a program that never called srand(): the additive generator x(i) = x(i-3) +
/// x(i-31).
class GlibcRandom {
 public:
  GlibcRandom() {
    std::int64_t x = 1;
    for (std::size_t i = 0; i < lag; i++) {
      values_[i] = static_cast<std::uint32_t>(x);
      x = 16807 * x % 2147483647;
    }
    for (int i = 0; i < 310; i++) next();
  }
  int next() {
    const std::size_t i = next_++ % lag;
    values_[i] += values_[(i + lag - 3) % lag];
    return static_cast<int>(values_[i] >> 1);
  }

 private:
  static constexpr std::size_t lag = 31;
  std::uint32_t values_[lag];
  std::size_t next_ = 3;
};

/// Switches are numbered in the order of their GUIDs here; a link is a neighbor, however many cables lead
/// there.
class Lash {
 public:
  Lash(const Fabric& f, int max_lanes)
      : fabric_(f),
        max_lanes_(max_lanes),
        switches_(f.switches_by_guid()),
        n_(f.switches()),
        next_link_(at(n_) * at(n_), nothing),
        lane_(at(n_) * at(n_), 0) {
    std::vector<int> place(at(n_));
    for (int i = 0; i < n_; i++) place[at(switches_[at(i)])] = i;
    for (const Node sw : switches_) {
      begins_.push_back(static_cast<int>(targets_.size()));
      for (Port p = f.first_port(sw); p < f.first_port(sw) + f.ports(sw); p++) {
        const Node n = f.neighbor(p);
        if (n == nothing || n == sw || !f.is_switch(n)) continue;
        const int target = place[at(n)];
        if (std::find(targets_.begin() + begins_.back(), targets_.end(), target) != targets_.end()) continue;
        targets_.push_back(target);
        ports_.push_back(p);
      }
    }
    begins_.push_back(static_cast<int>(targets_.size()));
  }

  Tables route() {
    for (int source = 0; source < n_; source++) grow_tree(source);
    assign_lanes();
    balance_lanes();
    return fill_tables();
  }

 private:
  std::size_t pair(int from, int to) const { return at(from) * at(n_) + at(to); }

  /// Breadth first; each switch of the tree learns its way to all below, where it has none yet.
  void grow_tree(int source) {
    std::vector<int> reached{source}, parent(at(n_), nothing), link_here(at(n_), nothing);
    for (std::size_t i = 0; i < reached.size(); i++)
      for (int l = begins_[at(reached[i])]; l < begins_[at(reached[i]) + 1]; l++) {
        const int n = targets_[at(l)];
        if (n == source || parent[at(n)] != nothing) continue;
        parent[at(n)] = reached[i];
        link_here[at(n)] = l;
        reached.push_back(n);
      }
    if (reached.size() < at(n_))
      throw Error({.operation = "lash",
                   .expected = "one fabric",
                   .found = fmt::format("{}, which reaches {} of {} switches",
                                        fabric_.name(switches_[at(source)]), reached.size(), n_)});
    for (const int below : reached)
      for (int n = below; n != source; n = parent[at(n)]) {
        int& link = next_link_[pair(parent[at(n)], below)];
        if (link == nothing) link = link_here[at(n)];
      }
  }

  /// Adds a pair's path to a lane, or takes it out.
  bool add_path(AcyclicGraph& lane, int from, int to) {
    int before = nothing;
    for (int sw = from; sw != to; sw = targets_[at(before)]) {
      const int link = next_link_[pair(sw, to)];
      if (before != nothing && !lane.add(before, link)) {
        remove_path(lane, from, to, sw);
        return false;
      }
      before = link;
    }
    return true;
  }
  void remove_path(AcyclicGraph& lane, int from, int to, int up_to) {
    int before = nothing;
    for (int sw = from; sw != up_to; sw = targets_[at(before)]) {
      const int link = next_link_[pair(sw, to)];
      if (before != nothing) lane.remove(before, link);
      before = link;
    }
  }
  bool add_pair(int lane, int a, int b) {
    if (!add_path(lanes_[at(lane)], a, b)) return false;
    if (add_path(lanes_[at(lane)], b, a)) return true;
    remove_path(lanes_[at(lane)], a, b, b);
    return false;
  }

  void open_lane() {
    lanes_.emplace_back(begins_, targets_);
    filled_.push_back(0);
  }

  void put(int lane, int a, int b) {
    lane_[pair(a, b)] = lane_[pair(b, a)] = static_cast<std::uint8_t>(lane);
    filled_[at(lane)] += 2;
  }

  void assign_lanes() {
    open_lane();
    for (int a = 0; a < n_; a++)
      for (int b = a + 1; b < n_; b++) {
        int lane = 0;
        while (lane < static_cast<int>(lanes_.size()) && !add_pair(lane, a, b)) lane++;
        if (lane == max_lanes_)
          throw Error({.operation = "lash",
                       .expected = fmt::format("paths without circles in {} lanes", max_lanes_),
                       .found = "none: more lanes are needed"});
        if (lane == static_cast<int>(lanes_.size())) {
          open_lane();
          add_pair(lane, a, b);
        }
        put(lane, a, b);
      }
  }

  // --- balance ---------------------------------------------------------------------------------------------

  /// Until the fullest and the emptiest lane differ by less than this, or no pair of the fullest fits the
  /// emptiest.
  static constexpr int balanced = 6;

  void balance_lanes() {
    const int lanes = static_cast<int>(lanes_.size());
    if (lanes == 1) return;
    GlibcRandom random;
    std::vector<bool> stuck(lane_.size(), false);
    int fullest = 0, emptiest = lanes - 1, trials = filled_[0];
    for (;;) {
      int a = random.next() % n_;
      int b = random.next() % n_;
      if (!find_candidate(a, b, fullest, stuck)) return;
      if (add_pair(emptiest, a, b)) {
        remove_path(lanes_[at(fullest)], a, b, b);
        remove_path(lanes_[at(fullest)], b, a, a);
        filled_[at(fullest)] -= 2;
        put(emptiest, a, b);
      } else {
        stuck[pair(a, b)] = stuck[pair(b, a)] = true;
        trials -= 2;
      }
      if (trials <= 0 || filled_[at(fullest)] - filled_[at(emptiest)] < balanced) return;
      const int old_fullest = fullest, old_emptiest = emptiest;
      fullest = static_cast<int>(std::max_element(filled_.begin(), filled_.end()) - filled_.begin());
      emptiest = static_cast<int>(std::min_element(filled_.begin(), filled_.end()) - filled_.begin());
      if (fullest == old_fullest && emptiest == old_emptiest) continue;
      trials = filled_[at(fullest)];
      std::fill(stuck.begin(), stuck.end(), false);
    }
  }

  /// From a drawn pair on, the next one that is in the lane and was not tried.
  bool find_candidate(int& a, int& b, int lane, const std::vector<bool>& stuck) const {
    const auto fits = [&](int x, int y) { return x != y && lane_[pair(x, y)] == lane && !stuck[pair(x, y)]; };
    for (int rows = 0; rows <= n_; rows++) {
      for (int i = 0; i < n_; i++, b = (b + 1) % n_)
        if (fits(a, b)) return true;
      a = (a + 1) % n_;
    }
    return false;
  }

  // --- tables ----------------------------------------------------------------------------------------------

  Tables fill_tables() {
    Tables tables(fabric_);
    std::vector<std::uint8_t> levels(lane_.size(), 0);
    for (int from = 0; from < n_; from++)
      for (int to = 0; to < n_; to++) {
        const Node sw = switches_[at(from)], target = switches_[at(to)];
        levels[at(sw) * at(n_) + at(target)] = lane_[pair(from, to)];
        const std::uint8_t port =
            from == to ? std::uint8_t{0}
                       : static_cast<std::uint8_t>(fabric_.number(ports_[at(next_link_[pair(from, to)])]));
        tables.set_port(sw, fabric_.lid(target), port);
        for (const Node host : fabric_.hosts_of(target))
          tables.set_port(
              sw, fabric_.lid(host),
              from == to ? static_cast<std::uint8_t>(fabric_.number(fabric_.port_towards_host(host))) : port);
      }
    tables.set_levels(std::move(levels), static_cast<int>(lanes_.size()));
    return tables;
  }

  const Fabric& fabric_;
  int max_lanes_;
  const std::vector<Node>& switches_;
  int n_;
  std::vector<int> begins_, targets_;  // links of each switch
  std::vector<Port> ports_;            // of each link: its first cable
  std::vector<int> next_link_;         // of each pair
  std::vector<std::uint8_t> lane_;     // of each pair
  std::vector<AcyclicGraph> lanes_;
  std::vector<int> filled_;  // pairs in each lane
};

}  // namespace

Tables route_lash(const Fabric& f, const RoutingOptions& options) {
  return Lash(f, options.max_lanes).route();
}

}  // namespace simreplay::infiniband
