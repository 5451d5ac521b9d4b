#pragma once
// A graph between links that stays without circles.

#include <cstdint>
#include <vector>

namespace simreplay::infiniband {

/// Nodes are links; an edge leads from a link to one that leaves the switch where the first one ends. Edges
/// count how often they were added. Keeps an order of all links in which edges lead forward, and repairs it
/// locally: Pearce, Kelly, A dynamic topological sort algorithm for directed acyclic graphs (ACM JEA 11,
/// 2006).
class AcyclicGraph {
 public:
  /// `begins` of each switch's links; `targets`: where each link ends. Both must stay.
  AcyclicGraph(const std::vector<int>& begins, const std::vector<int>& targets);

  /// False, and nothing is changed, if the edge would close a circle.
  bool add(int from, int to);
  void remove(int from, int to) { count(from, to)--; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int& count(int from, int to) {
    return counts_[first_edge_[at(from)] + at(to - (*begins_)[at((*targets_)[at(from)])])];
  }
  bool search_forward(int link, int limit, int forbidden);
  void search_backward(int link, int limit);
  void reorder();

  const std::vector<int>*begins_, *targets_;
  std::vector<std::vector<int>> sources_;  // links that end at each switch
  std::vector<int> origins_;               // switch of each link
  std::vector<std::size_t> first_edge_;
  std::vector<int> counts_, position_;
  std::vector<bool> seen_;
  std::vector<int> ahead_, behind_;  // found by the searches
};

}  // namespace simreplay::infiniband
