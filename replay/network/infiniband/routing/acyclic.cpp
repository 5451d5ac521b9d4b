#include "replay/network/infiniband/routing/acyclic.hpp"

#include <algorithm>
#include <numeric>

namespace simreplay::infiniband {

AcyclicGraph::AcyclicGraph(const std::vector<int>& begins, const std::vector<int>& targets)
    : begins_(&begins),
      targets_(&targets),
      sources_(begins.size() - 1),
      position_(targets.size()),
      seen_(targets.size(), false) {
  std::size_t edges = 0;
  for (std::size_t link = 0; link < targets.size(); link++) {
    const int end = targets[link];
    first_edge_.push_back(edges);
    edges += at(begins[at(end) + 1] - begins[at(end)]);
    sources_[at(end)].push_back(static_cast<int>(link));
  }
  for (std::size_t sw = 0; sw + 1 < begins.size(); sw++)
    origins_.insert(origins_.end(), at(begins[sw + 1] - begins[sw]), static_cast<int>(sw));
  counts_.assign(edges, 0);
  std::iota(position_.begin(), position_.end(), 0);
}

bool AcyclicGraph::add(int from, int to) {
  if (count(from, to) == 0 && position_[at(from)] > position_[at(to)]) {
    ahead_.clear();
    behind_.clear();
    const bool free = search_forward(to, position_[at(from)], from);
    if (free) search_backward(from, position_[at(to)]);
    for (const auto* found : {&ahead_, &behind_})
      for (const int link : *found) seen_[at(link)] = false;
    if (!free) return false;
    reorder();
  }
  count(from, to)++;
  return true;
}

bool AcyclicGraph::search_forward(int link, int limit, int forbidden) {
  ahead_.push_back(link);
  seen_[at(link)] = true;
  for (std::size_t i = 0; i < ahead_.size(); i++) {
    const int sw = (*targets_)[at(ahead_[i])];
    for (int next = (*begins_)[at(sw)]; next < (*begins_)[at(sw) + 1]; next++) {
      if (count(ahead_[i], next) == 0) continue;
      if (next == forbidden) return false;
      if (seen_[at(next)] || position_[at(next)] > limit) continue;
      seen_[at(next)] = true;
      ahead_.push_back(next);
    }
  }
  return true;
}

void AcyclicGraph::search_backward(int link, int limit) {
  behind_.push_back(link);
  seen_[at(link)] = true;
  for (std::size_t i = 0; i < behind_.size(); i++)
    for (const int before : sources_[at(origins_[at(behind_[i])])]) {
      if (seen_[at(before)] || position_[at(before)] < limit || count(before, behind_[i]) == 0) continue;
      seen_[at(before)] = true;
      behind_.push_back(before);
    }
}

/// All that is behind goes before all that is ahead, in the positions that both had.
void AcyclicGraph::reorder() {
  const auto by_position = [this](int a, int b) { return position_[at(a)] < position_[at(b)]; };
  std::sort(ahead_.begin(), ahead_.end(), by_position);
  std::sort(behind_.begin(), behind_.end(), by_position);
  std::vector<int> free;
  for (const auto* found : {&behind_, &ahead_})
    for (const int link : *found) free.push_back(position_[at(link)]);
  std::sort(free.begin(), free.end());
  std::size_t i = 0;
  for (const auto* found : {&behind_, &ahead_})
    for (const int link : *found) position_[at(link)] = free[i++];
}

}  // namespace simreplay::infiniband
