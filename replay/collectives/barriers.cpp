// Barriers: messages without bytes.
#include "replay/collectives/generators.hpp"
#include "replay/collectives/meetings.hpp"
#include "replay/collectives/parts.hpp"
#include "replay/collectives/trees.hpp"

namespace simreplay::collectives {

/// All leave at the latest request plus J (claim 8 of the patent).
void barrier_latest(const Call& c, Rounds& out) {
  all_meet(c, out);
  out.pay_barrier();
}

void barrier_tree(const Call& c, Rounds& out) {
  const Node node = in_order_binomial_node(c.rank, c.size);
  for (const int child : node.children()) out.receive(child, 0);
  if (node.parent != Node::none) {
    out.send(node.parent, 0);
    out.receive(node.parent, 0);
  }
  for (int i = node.count - 1; i >= 0; i--) out.send(node.child[static_cast<std::size_t>(i)], 0);
}

void barrier_linear(const Call& c, Rounds& out) {
  if (c.rank > 0) {
    out.send(0, 0);
    out.receive(0, 0);
    return;
  }
  for (int i = 1; i < c.size; i++) out.start_receive(i, 0);
  out.finish();
  for (int i = 1; i < c.size; i++) out.send(i, 0);
}

/// A token goes round twice; the last time around each waits until its neighbour has it.
void barrier_double_ring(const Call& c, Rounds& out) {
  if (c.size == 1) return;
  const int left = wrap(c.rank - 1, c.size), right = wrap(c.rank + 1, c.size);
  for (const bool last : {false, true}) {
    if (c.rank > 0) out.receive(left, 0);
    last ? out.synchronous_send(right, 0) : out.send(right, 0);
    if (c.rank == 0) out.receive(left, 0);
  }
}

/// Members beyond a power of two report to one below it and are released by it.
void barrier_recursive_doubling(const Call& c, Rounds& out) {
  const int power = largest_power_of_two(c.size), r = c.rank;
  if (r >= power) return out.exchange(r - power, 0, r - power, 0);
  const bool reported_to = r + power < c.size;
  if (reported_to) out.receive(r + power, 0);
  for (int d = 1; d < power; d <<= 1) out.exchange(r ^ d, 0, r ^ d, 0);
  if (reported_to) out.synchronous_send(r + power, 0);
}

void barrier_dissemination(const Call& c, Rounds& out) {
  for (int d = 1; d < c.size; d <<= 1) out.exchange(wrap(c.rank + d, c.size), 0, wrap(c.rank - d, c.size), 0);
}

}  // namespace simreplay::collectives
