// Reduce_scatter and reduce_scatter_block: everybody gets its block of the combined vector.
#include <optional>

#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"
#include "replay/collectives/rules.hpp"

namespace simreplay::collectives {
namespace {

/// Bytes of the whole vector.
std::int64_t total(const Call& c) { return Blocks(c).of(0, c.size); }

void reduce_at_0(const Call& c, Rounds& out) {
  Call part = c;
  part.root = 0;
  part.bytes = total(c);
  part.blocks = {};
  openmpi(Op::Reduce, part, out);
}

/// Even members of the pairs give their vectors away. Returns the number of a member that stays.
std::optional<int> fold_whole(const Call& c, Rounds& out, const Fold& fold) {
  if (fold.leaves(c.rank)) {
    out.send(c.rank + 1, total(c));
    return std::nullopt;
  }
  if (fold.paired(c.rank)) out.receive(c.rank - 1, total(c));
  return fold.number(c.rank);
}

/// Bytes of the blocks in the care of the numbers [first, first + count).
std::int64_t cared_for(const Blocks& blocks, const Fold& fold, int first, int count) {
  const int member = fold.first_member(first);
  return blocks.of(member, fold.first_member(first + count) - member);
}

/// The number whose binary digits are those of v in reverse.
int mirrored(int v, int power) {
  int m = 0;
  for (int d = 1; d < power; d <<= 1, v >>= 1) m = 2 * m + (v & 1);
  return m;
}

/// Halves the vector while the distance doubles: number v ends with the part of mirrored(v).
void halve_by_growing_distance(int v, const Fold& fold, const Blocks& blocks, Rounds& out) {
  int first = 0;
  for (int d = 1, width = fold.power() / 2; width > 0; d <<= 1, width /= 2) {
    const int lower = first, upper = first + width;
    first = v & d ? upper : lower;
    const int partner = fold.rank(v ^ d);
    out.exchange(partner, cared_for(blocks, fold, first == lower ? upper : lower, width), partner,
                 cared_for(blocks, fold, first, width));
  }
}

}  // namespace

void reduce_scatter_nonoverlapping(const Call& c, Rounds& out) {
  reduce_at_0(c, out);
  Call part = c;
  part.root = 0;
  part.bytes = Blocks(c).of(c.rank);
  openmpi(Op::Scatterv, part, out);
}

void reduce_scatter_block_linear(const Call& c, Rounds& out) {
  if (c.bytes == 0) return;
  reduce_at_0(c, out);
  Call part = c;
  part.root = 0;
  openmpi(Op::Scatter, part, out);
}

/// Partial sums go around; the block of member r arrives complete at r.
void reduce_scatter_ring(const Call& c, Rounds& out) {
  const int p = c.size, r = c.rank, left = wrap(r - 1, p), right = wrap(r + 1, p);
  const Blocks blocks(c);
  for (int step = 1; step < p; step++)
    out.exchange(right, blocks.of(wrap(r - step, p)), left, blocks.of(wrap(r - step - 1, p)));
}

/// Halves vector and distance. Empty parts are not sent.
void reduce_scatter_recursive_halving(const Call& c, Rounds& out) {
  if (!c.commutative) return reduce_scatter_nonoverlapping(c, out);
  if (total(c) == 0) return;
  const Fold fold(c.size, Fold::Stays::odd);
  const Blocks blocks(c);
  if (const auto v = fold_whole(c, out, fold)) {
    for (int width = fold.power() / 2; width > 0; width /= 2) {
      const int partner = fold.rank(*v ^ width);
      const std::int64_t sent = cared_for(blocks, fold, group_of(*v ^ width, width), width);
      const std::int64_t received = cared_for(blocks, fold, group_of(*v, width), width);
      if (received > 0) out.start_receive(partner, received);
      if (sent > 0) out.send(partner, sent);
      out.finish();
    }
  }
  if (!fold.paired(c.rank)) return;
  const int even = group_of(c.rank, 2);
  if (blocks.of(even) == 0) return;
  c.rank == even ? out.receive(even + 1, blocks.of(even)) : out.send(even, blocks.of(even));
}

void reduce_scatter_block_recursive_halving(const Call& c, Rounds& out) {
  c.commutative ? reduce_scatter_recursive_halving(c, out) : reduce_scatter_block_linear(c, out);
}

/// The order of combination is that of the ranks, at the price of a last exchange of blocks (Träff 2005).
void reduce_scatter_butterfly(const Call& c, Rounds& out) {
  if (c.size == 1) return;
  const Fold fold(c.size, Fold::Stays::odd);
  const Blocks blocks(c);
  const auto v = fold_whole(c, out, fold);
  if (!v) return out.receive(fold.rank(mirrored(fold.number(c.rank), fold.power())), blocks.of(c.rank));
  halve_by_growing_distance(*v, fold, blocks, out);
  const int other = mirrored(*v, fold.power()), owner = fold.rank(other);
  if (fold.paired(owner)) out.send(owner - 1, blocks.of(owner - 1));
  if (other != *v) out.exchange(owner, blocks.of(owner), owner, blocks.of(c.rank));
}

/// Equal blocks of a power of two members can be put in mirrored order beforehand.
void reduce_scatter_block_butterfly(const Call& c, Rounds& out) {
  if (c.bytes == 0) return;
  if (!is_power_of_two(c.size)) return reduce_scatter_butterfly(c, out);
  halve_by_growing_distance(c.rank, Fold(c.size, Fold::Stays::odd), Blocks(c.bytes), out);
}

/// Groups that double exchange what the other side does not have yet of its own blocks' results.
void reduce_scatter_block_recursive_doubling(const Call& c, Rounds& out) {
  if (c.bytes == 0) return;
  const int p = c.size, r = c.rank;
  for (int d = 1; d < p; d <<= 1) {
    const auto all_but = [&](int group) { return (p - std::min(d, p - group)) * c.bytes; };
    const int partner = r ^ d, beside = group_of(partner, d);
    if (partner < p) out.exchange(partner, all_but(group_of(r, d)), partner, all_but(beside));
    hand_on(
        r, d, p, [&](int to) { out.send(to, all_but(beside)); },
        [&](int from) { out.receive(from, all_but(beside)); });
  }
}

}  // namespace simreplay::collectives
