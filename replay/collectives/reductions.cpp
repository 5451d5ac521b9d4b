// Reduce, allreduce, scan and exscan.
#include <array>

#include "replay/collectives/generators.hpp"
#include "replay/collectives/parts.hpp"
#include "replay/collectives/rules.hpp"

namespace simreplay::collectives {
namespace {

Call rooted_at_0(const Call& c) {
  Call part = c;
  part.root = 0;
  return part;
}

Vector vector_of(const Call& c) { return {c.bytes, reduced_element}; }

// --- Rabenseifner's algorithm (Thakur, Rabenseifner, Gropp 2005) -----------------------------------------

bool suits_rabenseifner(const Call& c) {
  return c.size > 1 && c.commutative && vector_of(c).count() >= largest_power_of_two(c.size);
}

/// Pairs exchange halves of their vectors; the odd member gives its combined half to the even one.
void fold_halves(const Call& c, Rounds& out, const Fold& fold) {
  if (!fold.paired(c.rank)) return;
  const Vector v = vector_of(c);
  const std::int64_t count = v.count(), left = v.bytes(0, count / 2),
                     right = v.bytes(count / 2, count - count / 2);
  const int partner = c.rank ^ 1;
  if (fold.leaves(c.rank)) {
    out.exchange(partner, left, partner, right);
    out.send(partner, right);
  } else {
    out.exchange(partner, right, partner, left);
    out.receive(partner, right);
  }
}

/// What number v keeps and gives away in each step of halving its part of the vector.
struct Halving {
  Halving(const Vector& vector, int v, int power) {
    std::int64_t first = 0, count = vector.count();
    for (int d = 1; d < power; d <<= 1, steps++) {
      const std::int64_t half = count / 2;
      const auto i = static_cast<std::size_t>(steps);
      const std::int64_t left = vector.bytes(first, half), right = vector.bytes(first + half, count - half);
      const bool keeps_left = (v & d) == 0;
      kept[i] = keeps_left ? left : right;
      given[i] = keeps_left ? right : left;
      if (!keeps_left) first += half;
      count = keeps_left ? half : count - half;
    }
  }
  std::array<std::int64_t, 31> kept{}, given{};
  int steps = 0;
};

/// Every number ends with a part of the result, halving the vector and doubling the distance.
void reduce_scatter_halves(int v, const Fold& fold, const Halving& halves, Rounds& out) {
  for (int step = 0; step < halves.steps; step++) {
    const int partner = fold.rank(v ^ (1 << step));
    const auto i = static_cast<std::size_t>(step);
    out.exchange(partner, halves.given[i], partner, halves.kept[i]);
  }
}

/// The way back: the parts are gathered at number `to`, those of partners far away first.
void gather_halves(int v, int to, const Halving& halves, auto&& rank_of, Rounds& out) {
  for (int step = halves.steps - 1; step >= 0; step--) {
    const int partner = v ^ (1 << step);
    const auto i = static_cast<std::size_t>(step);
    if (partner >> step == to >> step) return out.send(rank_of(partner), halves.kept[i]);
    out.receive(rank_of(partner), halves.given[i]);
  }
}

}  // namespace

/// A root that left when pairs were folded takes over the part and the place of number 0.
void reduce_rabenseifner(const Call& c, Rounds& out) {
  if (!suits_rabenseifner(c)) return reduce_linear(c, out);
  const Fold fold(c.size, Fold::Stays::even);
  const bool root_left = fold.leaves(c.root), root_returns = root_left && c.rank == c.root;
  fold_halves(c, out, fold);
  if (fold.leaves(c.rank) && !root_returns) return;
  const int v = root_returns ? 0 : fold.number(c.rank);
  const Halving halves(vector_of(c), v, fold.power());
  if (!root_returns) reduce_scatter_halves(v, fold, halves, out);
  if (root_left && v == 0) {
    const std::int64_t part = halves.kept[static_cast<std::size_t>(halves.steps) - 1];
    if (!root_returns) return out.send(c.root, part);
    out.receive(fold.rank(0), part);
  }
  const auto rank_of = [&](int number) { return root_left && number == 0 ? c.root : fold.rank(number); };
  gather_halves(v, root_left ? 0 : fold.number(c.root), halves, rank_of, out);
}

void allreduce_rabenseifner(const Call& c, Rounds& out) {
  if (!suits_rabenseifner(c)) return allreduce_linear(c, out);
  const Fold fold(c.size, Fold::Stays::even);
  fold_halves(c, out, fold);
  if (fold.leaves(c.rank)) return out.receive(c.rank - 1, c.bytes);
  const int v = fold.number(c.rank);
  const Halving halves(vector_of(c), v, fold.power());
  reduce_scatter_halves(v, fold, halves, out);
  for (int step = halves.steps - 1; step >= 0; step--) {
    const int partner = fold.rank(v ^ (1 << step));
    const auto i = static_cast<std::size_t>(step);
    out.exchange(partner, halves.kept[i], partner, halves.given[i]);
  }
  if (fold.paired(c.rank)) out.send(c.rank + 1, c.bytes);
}

// --- other allreduces -----------------------------------------------------------------------------------

void allreduce_linear(const Call& c, Rounds& out) {
  reduce_linear(rooted_at_0(c), out);
  bcast_linear(rooted_at_0(c), out);
}

void allreduce_nonoverlapping(const Call& c, Rounds& out) {
  openmpi(Op::Reduce, rooted_at_0(c), out);
  openmpi(Op::Bcast, rooted_at_0(c), out);
}

/// r meets r^1, r^2, r^4, ...; members beyond a power of two join through a neighbour.
void allreduce_recursive_doubling(const Call& c, Rounds& out) {
  const Fold fold(c.size, Fold::Stays::odd);
  if (fold.leaves(c.rank)) {
    out.send(c.rank + 1, c.bytes);
    out.receive(c.rank + 1, c.bytes);
    return;
  }
  if (fold.paired(c.rank)) out.receive(c.rank - 1, c.bytes);
  const int v = fold.number(c.rank);
  for (int d = 1; d < fold.power(); d <<= 1)
    out.exchange(fold.rank(v ^ d), c.bytes, fold.rank(v ^ d), c.bytes);
  if (fold.paired(c.rank)) out.send(c.rank - 1, c.bytes);
}

/// Reduce-scatter and allgather around the ring. The vector is cut into p nearly equal parts; part r + 1
/// is complete at r after the first time around.
void allreduce_ring(const Call& c, Rounds& out) {
  const int p = c.size, r = c.rank, left = wrap(r - 1, p), right = wrap(r + 1, p);
  const Vector vector = vector_of(c);
  if (vector.count() < p) return allreduce_recursive_doubling(c, out);
  const std::int64_t length = vector.count() / p, longer = vector.count() % p;
  const auto part = [&](int i) {
    return vector.bytes(i * length + std::min<std::int64_t>(i, longer), length + (i < longer));
  };
  for (int step = 0; step + 1 < p; step++)
    out.exchange(right, part(wrap(r - step, p)), left, part(wrap(r - step - 1, p)));
  for (int step = 0; step + 1 < p; step++)
    out.exchange(right, part(wrap(r + 1 - step, p)), left, part(wrap(r - step, p)));
}

// --- scans ----------------------------------------------------------------------------------------------

void scan_linear(const Call& c, Rounds& out) {
  if (c.rank > 0) out.receive(c.rank - 1, c.bytes);
  if (c.rank + 1 < c.size) out.send(c.rank + 1, c.bytes);
}

void scan_recursive_doubling(const Call& c, Rounds& out) {
  for (int d = 1; d < c.size; d <<= 1)
    if ((c.rank ^ d) < c.size) out.exchange(c.rank ^ d, c.bytes, c.rank ^ d, c.bytes);
}

}  // namespace simreplay::collectives
