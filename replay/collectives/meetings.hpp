#pragma once
// Who waits for whom where no messages are simulated: times travel without cost, over p - 1 channels each
// way. What the members pay then is added by the caller.

#include "replay/collectives/algorithms.hpp"
#include "replay/collectives/trees.hpp"

namespace simreplay::collectives {

/// Up and down a tree: everybody hears of the latest member.
inline void all_meet(const Call& c, Rounds& out) {
  const Node node = in_order_binomial_node(c.rank, c.size);
  for (const int child : node.children()) out.await_signal(child);
  if (node.parent != Node::none) {
    out.signal(node.parent);
    out.await_signal(node.parent);
  }
  for (const int child : node.children()) out.signal(child);
}

/// Calls `other(member)` for all but the root. Straight between the root and each, not along a tree: a member
/// on the way would hold up others by its own time, or by never coming.
template <class Other>
void each_but_root(const Call& c, Other&& other) {
  for (int i = 0; i < c.size; i++)
    if (i != c.root) other(i);
}

/// Everybody hears of the latest of the members up to the own rank.
inline void prefix_meets(const Call& c, Rounds& out) {
  if (c.rank > 0) out.await_signal(c.rank - 1);
  if (c.rank + 1 < c.size) out.signal(c.rank + 1);
}

}  // namespace simreplay::collectives
