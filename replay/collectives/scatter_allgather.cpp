// Broadcasts that scatter the message down a binomial tree and put it together again on all members.
#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"
#include "replay/collectives/trees.hpp"

namespace simreplay::collectives {
namespace {

/// The message in p chunks of equal length; the last ones may be short or empty. v counts from the root.
struct Chunks {
  explicit Chunks(const Call& c)
      : message(c.bytes, moved_element),
        length((message.count() + c.size - 1) / c.size),
        p(c.size),
        root(c.root),
        v(wrap(c.rank - c.root, c.size)) {}
  int rank(int place) const { return wrap(place + root, p); }
  std::int64_t bytes(int first, int chunks) const { return message.bytes(first * length, chunks * length); }

  Vector message;
  std::int64_t length;
  int p, root, v;
};

/// Each subtree gets its chunks; those that would get nothing get no message.
void scatter(const Chunks& m, Rounds& out) {
  const auto share = [&](int v) { return m.bytes(v, std::min(lowest_bit(v), m.p - v)); };
  const Node node = in_order_binomial_node(m.v, m.p);
  if (node.parent != Node::none && share(m.v) > 0) out.receive(m.rank(node.parent), share(m.v));
  for (int i = node.count - 1; i >= 0; i--) {
    const int child = node.child[static_cast<std::size_t>(i)];
    if (share(child) > 0) out.send(m.rank(child), share(child));
  }
}

void double_up(const Chunks& m, Rounds& out) {
  for (int d = 1; d < m.p; d <<= 1) {
    const int partner = m.v ^ d, beside = group_of(partner, d);
    const std::int64_t own = m.bytes(group_of(m.v, d), d), other = m.bytes(beside, d);
    if (partner < m.p) out.exchange(m.rank(partner), own, m.rank(partner), other);
    hand_on(
        m.v, d, m.p, [&](int to) { out.send(m.rank(to), other); },
        [&](int from) { out.receive(m.rank(from), other); });
  }
}

void ring(const Chunks& m, Rounds& out) {
  const int left = m.rank(wrap(m.v - 1, m.p)), right = m.rank(wrap(m.v + 1, m.p));
  for (int step = 0; step + 1 < m.p; step++)
    out.exchange(right, m.bytes(wrap(m.v - step, m.p), 1), left, m.bytes(wrap(m.v - step - 1, m.p), 1));
}

bool too_short(const Call& c) { return Vector(c.bytes, moved_element).count() < c.size; }

}  // namespace

void bcast_scatter_allgather(const Call& c, Rounds& out) {
  if (too_short(c)) return bcast_linear(c, out);
  const Chunks m(c);
  scatter(m, out);
  double_up(m, out);
}

void bcast_scatter_allgather_ring(const Call& c, Rounds& out) {
  if (too_short(c)) return bcast_linear(c, out);
  const Chunks m(c);
  scatter(m, out);
  ring(m, out);
}

}  // namespace simreplay::collectives
