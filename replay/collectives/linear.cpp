// The root and each other member, directly.
#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"

namespace simreplay::collectives {

void bcast_linear(const Call& c, Rounds& out) { scatter_linear_nb(c, out); }

/// In the order in which the values are combined: the last member's first.
void reduce_linear(const Call& c, Rounds& out) {
  if (c.rank != c.root) return out.send(c.root, c.bytes);
  for (int i = c.size - 1; i >= 0; i--)
    if (i != c.root) out.receive(i, c.bytes);
}

void gather_linear(const Call& c, Rounds& out) {
  if (c.rank != c.root) return out.send(c.root, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.receive(i, c.bytes);
}

/// The root lets one member go ahead after the other. The block could come in two segments, of which the
/// second is empty without segmentation, but sent.
void gather_linear_sync(const Call& c, Rounds& out) {
  if (c.rank != c.root) {
    out.receive(c.root, 0);
    out.send(c.root, c.bytes);
    out.send(c.root, 0);
    return;
  }
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.exchange(i, 0, i, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.start_receive(i, 0);
  out.finish();
}

void scatter_linear(const Call& c, Rounds& out) {
  if (c.rank != c.root) return out.receive(c.root, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.send(i, c.bytes);
}

void scatter_linear_nb(const Call& c, Rounds& out) {
  if (c.rank != c.root) return out.receive(c.root, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.start_send(i, c.bytes);
  out.finish();
}

// Empty blocks of the v forms are not sent.

void gatherv_linear(const Call& c, Rounds& out) {
  if (c.rank != c.root) {
    if (c.bytes > 0) out.send(c.root, c.bytes);
    return;
  }
  const Blocks blocks(c);
  for (int i = 0; i < c.size; i++)
    if (i != c.root && blocks.of(i) > 0) out.receive(i, blocks.of(i));
}

void scatterv_linear(const Call& c, Rounds& out) {
  if (c.rank != c.root) {
    if (c.bytes > 0) out.receive(c.root, c.bytes);
    return;
  }
  const Blocks blocks(c);
  for (int i = 0; i < c.size; i++)
    if (i != c.root && blocks.of(i) > 0) out.send(i, blocks.of(i));
}

}  // namespace simreplay::collectives
