// Alltoall, alltoallv and alltoallw: a block of its own from everybody to everybody.
#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"

namespace simreplay::collectives {
namespace {

/// The items of the v and w forms: sizes to send, then sizes to receive.
struct Exchanged {
  explicit Exchanged(const Call& c)
      : sent(c.blocks.first(static_cast<std::size_t>(c.size))),
        received(c.blocks.last(static_cast<std::size_t>(c.size))) {}
  Blocks sent, received;
};

void pairwise(const Call& c, Rounds& out, const Blocks& sent, const Blocks& received) {
  for (int step = 1; step < c.size; step++) {
    const int to = wrap(c.rank + step, c.size), from = wrap(c.rank - step, c.size);
    out.exchange(to, sent.of(to), from, received.of(from));
  }
}

/// Whatever was chosen, Open MPI exchanges with both neighbours at distance 1, 2, ... when the blocks that
/// come take the room of those that go: with the right one by way of a copy, with the left one straight.
/// Empty blocks are left out.
void in_place(const Call& c, Rounds& out, const Blocks& blocks) {
  const auto receive = [&](int from) {
    if (blocks.of(from) > 0) out.start_receive(from, blocks.of(from));
  };
  const auto send = [&](int to) {
    if (blocks.of(to) > 0) out.send(to, blocks.of(to));
    out.finish();
  };
  for (int distance = 1; distance <= c.size / 2; distance++) {
    const int right = wrap(c.rank + distance, c.size), left = wrap(c.rank - distance, c.size);
    receive(right);
    if (left != right) {
      send(left);
      receive(left);
    }
    send(right);
  }
}

}  // namespace

void alltoall_linear(const Call& c, Rounds& out) {
  if (c.in_place) return in_place(c, out, Blocks(c.bytes));
  for (int step = 1; step < c.size; step++) out.start_receive(wrap(c.rank + step, c.size), c.bytes);
  for (int step = 1; step < c.size; step++) out.start_send(wrap(c.rank - step, c.size), c.bytes);
  out.finish();
}

void alltoall_pairwise(const Call& c, Rounds& out) {
  if (c.in_place) return in_place(c, out, Blocks(c.bytes));
  pairwise(c, out, Blocks(c.bytes), Blocks(c.bytes));
}

/// Blocks travel by the binary digits of their distance, all that have a digit in one message.
void alltoall_bruck(const Call& c, Rounds& out) {
  if (c.in_place) return in_place(c, out, Blocks(c.bytes));
  const int p = c.size;
  for (int d = 1; d < p; d <<= 1) {
    const int cycle = 2 * d, rest = std::max(0, p % cycle - d);
    const std::int64_t bytes = (std::int64_t{p / cycle} * d + rest) * c.bytes;
    out.exchange(wrap(c.rank + d, p), bytes, wrap(c.rank - d, p), bytes);
  }
}

void alltoallv_linear(const Call& c, Rounds& out) {
  const Exchanged blocks(c);
  if (c.in_place) return in_place(c, out, blocks.received);
  for (int i = 0; i < c.size; i++)
    if (i != c.rank && blocks.received.of(i) > 0) out.start_receive(i, blocks.received.of(i));
  for (int i = 0; i < c.size; i++)
    if (i != c.rank && blocks.sent.of(i) > 0) out.start_send(i, blocks.sent.of(i));
  out.finish();
}

void alltoallv_pairwise(const Call& c, Rounds& out) {
  const Exchanged blocks(c);
  if (c.in_place) return in_place(c, out, blocks.received);
  pairwise(c, out, blocks.sent, blocks.received);
}

}  // namespace simreplay::collectives
