// Allgather and allgatherv: everybody's block to everybody.
#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"
#include "replay/collectives/rules.hpp"

namespace simreplay::collectives {

/// Member r has the blocks [r, r + d), and twice as many after the step.
void allgather_bruck(const Call& c, Rounds& out) {
  const int p = c.size, r = c.rank;
  const Blocks blocks(c);
  for (int d = 1; d < p; d <<= 1) {
    const int count = std::min(d, p - d), to = wrap(r - d, p), from = wrap(r + d, p);
    out.exchange(to, blocks.of(r, count), from, blocks.of(from, count));
  }
}

void allgather_recursive_doubling(const Call& c, Rounds& out) {
  if (!is_power_of_two(c.size)) return allgather_bruck(c, out);
  const Blocks blocks(c);
  for (int d = 1; d < c.size; d <<= 1) {
    const int partner = c.rank ^ d;
    out.exchange(partner, blocks.of(group_of(c.rank, d), d), partner, blocks.of(group_of(partner, d), d));
  }
}

/// Each block goes once around.
void allgather_ring(const Call& c, Rounds& out) {
  const int p = c.size, r = c.rank, left = wrap(r - 1, p), right = wrap(r + 1, p);
  const Blocks blocks(c);
  for (int step = 0; step + 1 < p; step++)
    out.exchange(right, blocks.of(wrap(r - step, p)), left, blocks.of(wrap(r - step - 1, p)));
}

/// Pairs of neighbours swap blocks, then pass on, to one side and to the other in turn, the two blocks that
/// they got last (Chen et al., HPC Asia 2005).
void allgather_neighbor(const Call& c, Rounds& out) {
  if (c.size % 2 != 0) return allgather_ring(c, out);
  const int p = c.size, r = c.rank, forward = r % 2 == 0 ? 1 : -1;
  const int neighbor[2] = {wrap(r + forward, p), wrap(r - forward, p)};
  const Blocks blocks(c);
  out.exchange(neighbor[0], blocks.of(r), neighbor[0], blocks.of(neighbor[0]));
  int have = group_of(r, 2);  // the two blocks got last begin here
  int next[2] = {have, have};
  const int shift[2] = {2 * forward, -2 * forward};
  for (int step = 1; step < p / 2; step++) {
    const int turn = step % 2;
    next[turn] = wrap(next[turn] + shift[turn], p);
    out.exchange(neighbor[turn], blocks.of(have, 2), neighbor[turn], blocks.of(next[turn], 2));
    have = next[turn];
  }
}

void allgather_linear(const Call& c, Rounds& out) {
  Call part = c;
  part.root = 0;
  openmpi(Op::Gather, part, out);
  part.bytes = c.size * c.bytes;
  openmpi(Op::Bcast, part, out);
}

void allgatherv_default(const Call& c, Rounds& out) {
  Call part = c;
  part.root = 0;
  openmpi(Op::Gatherv, part, out);
  part.bytes = Blocks(c).of(0, c.size);
  part.blocks = {};
  openmpi(Op::Bcast, part, out);
}

}  // namespace simreplay::collectives
