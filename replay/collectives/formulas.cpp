// Collectives without messages: who waits for whom, and then the cost of the textbook algorithms,
// Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1),
// 2005; Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and
// Experience, CCPE 19(13), 2007. n are bytes as there: of the vector, or of all blocks together; lg p is
// rounded up.
#include <algorithm>
#include <bit>
#include <limits>

#include "replay/collectives/generators.hpp"
#include "replay/collectives/meetings.hpp"
#include "replay/collectives/parts.hpp"

namespace simreplay::collectives {
namespace {

int lg(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))); }

/// Bytes that no memory holds become the largest number, which no machine sends in time.
std::int64_t times(int factor, std::int64_t bytes) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(bytes, factor, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// (p-1)/p n: what each member sends or receives of a vector of which it has a p-th already.
std::int64_t all_but_own(int p, std::int64_t n) { return n - n / p; }

/// The vector in each of lg p rounds, or halves of it there and back: 2 lg p rounds, 2 (p-1)/p n bytes.
Formula of_vector(int p, std::int64_t n) {
  return {{lg(p), times(lg(p), n)}, {2 * lg(p), 2 * all_but_own(p, n)}};
}

/// Blocks that grow or shrink by half in each of lg p rounds: (p-1)/p n bytes in the end.
Formula of_blocks(int p, std::int64_t n) {
  const CriticalPath path{lg(p), all_but_own(p, n)};
  return {path, path};
}

void from_root(const Call& c, Rounds& out, const Formula& formula) {
  if (c.rank != c.root) return out.await_signal(c.root);
  out.pay(formula);
  each_but_root(c, [&](int member) { out.signal(member); });
}

void to_root(const Call& c, Rounds& out, const Formula& formula) {
  if (c.rank != c.root) {
    out.signal(c.root);
    return out.pay_send(c.bytes);
  }
  each_but_root(c, [&](int member) { out.await_signal(member); });
  out.pay(formula);
}

void among_all(const Call& c, Rounds& out, const Formula& formula) {
  all_meet(c, out);
  out.pay(formula);
}

/// Of all members together; where they are listed.
std::int64_t all_blocks(const Call& c) { return Blocks(c).of(0, c.size); }

}  // namespace

void formula_barrier(const Call& c, Rounds& out) { among_all(c, out, of_vector(c.size, 0)); }

void formula_bcast(const Call& c, Rounds& out) { from_root(c, out, of_vector(c.size, c.bytes)); }
void formula_reduce(const Call& c, Rounds& out) { to_root(c, out, of_vector(c.size, c.bytes)); }
void formula_allreduce(const Call& c, Rounds& out) { among_all(c, out, of_vector(c.size, c.bytes)); }

void formula_scatter(const Call& c, Rounds& out) { from_root(c, out, of_blocks(c.size, all_blocks(c))); }
void formula_gather(const Call& c, Rounds& out) { to_root(c, out, of_blocks(c.size, all_blocks(c))); }
void formula_allgather(const Call& c, Rounds& out) { among_all(c, out, of_blocks(c.size, all_blocks(c))); }
void formula_reduce_scatter(const Call& c, Rounds& out) {
  among_all(c, out, of_blocks(c.size, all_blocks(c)));
}

/// Half of all blocks in each of lg p rounds (Bruck et al.), or each block straight to its receiver.
void formula_alltoall(const Call& c, Rounds& out) {
  const std::int64_t n = times(c.size, c.bytes);
  among_all(c, out, {{lg(c.size), times(lg(c.size), n - n / 2)}, {c.size - 1, n - c.bytes}});
}

/// Each block straight to its receiver; a member knows its own blocks alone.
void formula_alltoallv(const Call& c, Rounds& out) {
  const auto members = static_cast<std::size_t>(c.size), own = static_cast<std::size_t>(c.rank);
  const auto to_others = [&](std::span<const std::int64_t> blocks) {
    return Blocks(blocks).of(0, c.size) - blocks[own];
  };
  const CriticalPath path{c.size - 1,
                          std::max(to_others(c.blocks.first(members)), to_others(c.blocks.last(members)))};
  among_all(c, out, {path, path});
}

void formula_scan(const Call& c, Rounds& out) {
  const CriticalPath path{lg(c.size), times(lg(c.size), c.bytes)};
  prefix_meets(c, out);
  out.pay({path, path});
}

}  // namespace simreplay::collectives
