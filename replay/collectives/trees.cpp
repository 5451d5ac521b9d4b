// Broadcasts, reductions, gathers and scatters along trees. Trees are built for root 0; v is the rank
// counted from the root.
#include "replay/collectives/trees.hpp"

#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"

namespace simreplay::collectives {

// --- shapes -------------------------------------------------------------------------------------------

Node chain_node(int v, int p) {
  Node n;
  n.parent = v - 1;
  if (v + 1 < p) n.add(v + 1);
  return n;
}

Node binary_node(int v, int p) {
  Node n;
  const int width = largest_power_of_two(v + 1);  // of v's level, which starts at width - 1
  for (const int child : {v + width, v + 2 * width})
    if (child < p) n.add(child);
  if (v == 0) return n;
  n.parent = v - width / 2;
  if (n.parent >= width - 1) n.parent -= width / 2;
  return n;
}

Node binomial_node(int v, int p) {
  Node n;
  const int highest = v == 0 ? 0 : largest_power_of_two(v);
  if (v > 0) n.parent = v - highest;
  for (int d = v == 0 ? 1 : 2 * highest; v + d < p; d <<= 1) n.add(v + d);
  return n;
}

Node in_order_binomial_node(int v, int p) {
  Node n;
  const int lowest = v == 0 ? p : lowest_bit(v);
  if (v > 0) n.parent = v - lowest;
  for (int d = 1; d < lowest && v + d < p; d <<= 1) n.add(v + d);
  return n;
}

Node knomial_node(int v, int p) {
  constexpr int radix = 4;
  Node n;
  int digit = 1;
  for (; digit < p; digit *= radix)
    if (v % (radix * digit) != 0) {
      n.parent = v - v % (radix * digit);
      break;
    }
  for (digit /= radix; digit > 0; digit /= radix)
    for (int i = 1; i < radix; i++)
      if (v + i * digit < p) n.add(v + i * digit);
  return n;
}

/// Descends from the root p - 1 to v. A subtree of s members [first, first + s) has its root last, before it
/// the left subtree, before that the right one, which takes half of s.
Node in_order_binary_node(int v, int p) {
  Node n;
  for (int first = 0, s = p;;) {
    const int top = first + s - 1, right = s / 2, left = s - 1 - right;
    if (v == top) {
      if (s > 1) n.add(left > 0 ? top - 1 : first + right - 1);
      if (left > 0) n.add(first + right - 1);
      return n;
    }
    n.parent = top;
    const bool in_right = v < first + right;
    s = in_right ? right : left;
    if (!in_right) first += right;
  }
}

// --- up and down --------------------------------------------------------------------------------------

namespace {

using Shape = Node(int v, int p);

/// Translates between ranks and places in a tree.
struct Rooted {
  int root, p;
  int place(int rank) const { return wrap(rank - root, p); }
  int rank(int v) const { return wrap(v + root, p); }
};

void down(const Call& c, Rounds& out, Shape* shape) {
  const Rooted at{c.root, c.size};
  const Node node = shape(at.place(c.rank), c.size);
  if (node.parent != Node::none) out.receive(at.rank(node.parent), c.bytes);
  for (const int child : node.children()) out.start_send(at.rank(child), c.bytes);
  out.finish();
}

void up(const Call& c, Rounds& out, Shape* shape) {
  const Rooted at{c.root, c.size};
  const Node node = shape(at.place(c.rank), c.size);
  for (const int child : node.children()) out.start_receive(at.rank(child), c.bytes);
  out.finish();
  if (node.parent != Node::none) out.send(at.rank(node.parent), c.bytes);
}

/// Members of the subtree of v, in an in-order binomial tree, seen by its parent.
int subtree(int v, int p) { return std::min(lowest_bit(v), p - v); }

}  // namespace

void bcast_chain(const Call& c, Rounds& out) { down(c, out, chain_node); }
void bcast_binary(const Call& c, Rounds& out) { down(c, out, binary_node); }
void bcast_binomial(const Call& c, Rounds& out) { down(c, out, binomial_node); }
void bcast_knomial(const Call& c, Rounds& out) { down(c, out, knomial_node); }

void reduce_chain(const Call& c, Rounds& out) { up(c, out, chain_node); }
void reduce_binary(const Call& c, Rounds& out) { up(c, out, binary_node); }
void reduce_binomial(const Call& c, Rounds& out) { up(c, out, in_order_binomial_node); }

/// Combines in the order of the ranks, so that the operation need not be commutative; then the last member
/// has the result and passes it to the root.
void reduce_in_order_binary(const Call& c, Rounds& out) {
  Call to_last = c;
  to_last.root = 0;  // ranks are places
  up(to_last, out, in_order_binary_node);
  const int last = c.size - 1;
  if (c.root == last) return;
  if (c.rank == last) out.send(c.root, c.bytes);
  if (c.rank == c.root) out.receive(last, c.bytes);
}

void gather_binomial(const Call& c, Rounds& out) {
  const Rooted at{c.root, c.size};
  const int v = at.place(c.rank);
  const Node node = in_order_binomial_node(v, c.size);
  for (const int child : node.children()) out.receive(at.rank(child), subtree(child, c.size) * c.bytes);
  if (node.parent != Node::none) out.send(at.rank(node.parent), subtree(v, c.size) * c.bytes);
}

void scatter_binomial(const Call& c, Rounds& out) {
  const Rooted at{c.root, c.size};
  const int v = at.place(c.rank);
  const Node node = in_order_binomial_node(v, c.size);
  if (node.parent != Node::none) out.receive(at.rank(node.parent), subtree(v, c.size) * c.bytes);
  for (int i = node.count - 1; i >= 0; i--) {
    const int child = node.child[static_cast<std::size_t>(i)];
    out.send(at.rank(child), subtree(child, c.size) * c.bytes);
  }
}

/// One half of the message goes down the left subtree, the other down the right one. Then v and v + 1 (v odd)
/// swap; without such a partner, the last member gets its second half from the root.
void bcast_split_binary(const Call& c, Rounds& out) {
  const Vector message(c.bytes, moved_element);
  if (message.count() < 2) return bcast_chain(c, out);
  const std::int64_t count = message.count(), left = count - count / 2;
  const std::int64_t half[2] = {message.bytes(0, left), message.bytes(left, count - left)};
  const Rooted at{c.root, c.size};
  const int p = c.size, v = at.place(c.rank), side = v % 2 == 0, last = p - 1;
  const Node node = binary_node(v, p);
  if (node.parent != Node::none) out.receive(at.rank(node.parent), half[side]);
  for (const int child : node.children()) out.send(at.rank(child), half[v == 0 ? child % 2 == 0 : side]);

  const bool last_alone = p % 2 == 0;
  if (v == 0 && last_alone) return out.send(at.rank(last), half[1]);
  if (v == 0) return;
  if (v == last && last_alone) return out.receive(c.root, half[1]);
  const int partner = at.rank(side ? v - 1 : v + 1);
  out.exchange(partner, half[side], partner, half[!side]);
}

}  // namespace simreplay::collectives
