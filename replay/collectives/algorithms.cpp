#include "replay/collectives/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace simreplay::collectives {
namespace {

int modulo(int a, int p) { return ((a % p) + p) % p; }

std::int64_t block(const Call& c, int of) { return c.blocks[static_cast<std::size_t>(of)]; }

// --- trees: v is the rank counted from the root -------------------------------------------------------

/// Members of the subtree that hangs on v by the edge `mask` of a binomial tree over p members.
int subtree(int v, int mask, int p) { return std::min(mask, p - v); }

/// down: a member gets from its parent, then serves its children, the farthest first.
template <class Bytes>
void binomial_down(const Call& c, Rounds& out, Bytes&& bytes) {
  const int p = c.size, v = modulo(c.rank - c.root, p);
  const auto real = [&](int u) { return modulo(u + c.root, p); };
  int mask = 1;
  for (; mask < p; mask <<= 1)
    if (v & mask) {
      out.receive(real(v - mask), bytes(subtree(v, mask, p)));
      break;
    }
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (v + mask < p) out.send(real(v + mask), bytes(subtree(v + mask, mask, p)));
}

/// up: a member hears its children, the nearest first, then tells its parent.
template <class Bytes>
void binomial_up(const Call& c, Rounds& out, Bytes&& bytes) {
  const int p = c.size, v = modulo(c.rank - c.root, p);
  const auto real = [&](int u) { return modulo(u + c.root, p); };
  for (int mask = 1; mask < p; mask <<= 1) {
    if (v & mask) {
      out.send(real(v - mask), bytes(subtree(v, mask, p)));
      return;
    }
    if (v + mask < p) out.receive(real(v + mask), bytes(subtree(v + mask, mask, p)));
  }
}

void bcast_binomial(const Call& c, Rounds& out) {
  binomial_down(c, out, [&](int) { return c.bytes; });
}
void reduce_binomial(const Call& c, Rounds& out) {
  binomial_up(c, out, [&](int) { return c.bytes; });
}
void scatter_binomial(const Call& c, Rounds& out) {
  binomial_down(c, out, [&](int members) { return members * c.bytes; });
}
void gather_binomial(const Call& c, Rounds& out) {
  binomial_up(c, out, [&](int members) { return members * c.bytes; });
}

/// Up and down a tree at no cost: everyone learns the latest request (claim 8 of the patent).
void barrier_latest(const Call& c, Rounds& out) {
  Call empty = c;
  empty.root = 0;
  empty.bytes = 0;
  reduce_binomial(empty, out);
  bcast_binomial(empty, out);
}

void barrier_dissemination(const Call& c, Rounds& out) {
  for (int d = 1; d < c.size; d <<= 1) out.exchange(modulo(c.rank + d, c.size), 0, modulo(c.rank - d, c.size), 0);
}

// --- the root and each member -------------------------------------------------------------------------

template <class Bytes>
void linear_in(const Call& c, Rounds& out, Bytes&& bytes) {
  if (c.rank != c.root) return out.send(c.root, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.receive(i, bytes(i));
}

template <class Bytes>
void linear_out(const Call& c, Rounds& out, Bytes&& bytes) {
  if (c.rank != c.root) return out.receive(c.root, c.bytes);
  for (int i = 0; i < c.size; i++)
    if (i != c.root) out.send(i, bytes(i));
}

void gatherv_linear(const Call& c, Rounds& out) {
  linear_in(c, out, [&](int i) { return block(c, i); });
}
void scatterv_linear(const Call& c, Rounds& out) {
  linear_out(c, out, [&](int i) { return block(c, i); });
}
void gather_linear(const Call& c, Rounds& out) {
  linear_in(c, out, [&](int) { return c.bytes; });
}
void scatter_linear(const Call& c, Rounds& out) {
  linear_out(c, out, [&](int) { return c.bytes; });
}
void bcast_linear(const Call& c, Rounds& out) { scatter_linear(c, out); }
void reduce_linear(const Call& c, Rounds& out) { gather_linear(c, out); }

// --- rings and pairs ----------------------------------------------------------------------------------

/// Each block goes once around; `bytes(i)` is the size of member i's block.
template <class Bytes>
void ring(const Call& c, Rounds& out, Bytes&& bytes) {
  const int p = c.size, right = modulo(c.rank + 1, p), left = modulo(c.rank - 1, p);
  for (int step = 0; step + 1 < p; step++)
    out.exchange(right, bytes(modulo(c.rank - step, p)), left, bytes(modulo(c.rank - step - 1, p)));
}

void allgather_ring(const Call& c, Rounds& out) {
  ring(c, out, [&](int) { return c.bytes; });
}
void allgatherv_ring(const Call& c, Rounds& out) {
  ring(c, out, [&](int i) { return block(c, i); });
}

/// Partial sums go around; the block of member i arrives complete at i.
template <class Bytes>
void reduce_ring(const Call& c, Rounds& out, Bytes&& bytes) {
  const int p = c.size, right = modulo(c.rank + 1, p), left = modulo(c.rank - 1, p);
  for (int step = 1; step < p; step++)
    out.exchange(right, bytes(modulo(c.rank - step, p)), left, bytes(modulo(c.rank - step - 1, p)));
}

void reduce_scatter_ring(const Call& c, Rounds& out) {
  reduce_ring(c, out, [&](int i) { return block(c, i); });
}
void reduce_scatter_block_ring(const Call& c, Rounds& out) {
  reduce_ring(c, out, [&](int) { return c.bytes; });
}

/// Reduce-scatter and allgather around the ring, the vector cut into p nearly equal parts.
void allreduce_ring(const Call& c, Rounds& out) {
  const auto part = [&](int i) { return c.bytes / c.size + (i < c.bytes % c.size ? 1 : 0); };
  reduce_ring(c, out, part);
  ring(c, out, [&](int i) { return part(i); });
}

template <class Sent, class Received>
void pairwise(const Call& c, Rounds& out, Sent&& sent, Received&& received) {
  for (int step = 1; step < c.size; step++) {
    const int to = modulo(c.rank + step, c.size), from = modulo(c.rank - step, c.size);
    out.exchange(to, sent(to), from, received(from));
  }
}

void alltoall_pairwise(const Call& c, Rounds& out) {
  const auto same = [&](int) { return c.bytes; };
  pairwise(c, out, same, same);
}
void alltoallv_pairwise(const Call& c, Rounds& out) {
  pairwise(c, out, [&](int i) { return block(c, i); }, [&](int i) { return block(c, c.size + i); });
}

/// r meets r^1, r^2, r^4 ...; members beyond a power of two join through a neighbour.
void allreduce_recursive_doubling(const Call& c, Rounds& out) {
  const int p = c.size, r = c.rank;
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(p))), extra = p - power;
  const bool folded = r < 2 * extra;
  if (folded && r % 2 == 0) {
    out.send(r + 1, c.bytes);
    out.receive(r + 1, c.bytes);
    return;
  }
  if (folded) out.receive(r - 1, c.bytes);
  const int v = folded ? r / 2 : r - extra;
  for (int d = 1; d < power; d <<= 1) {
    const int u = v ^ d, peer = u < extra ? 2 * u + 1 : u + extra;
    out.exchange(peer, c.bytes, peer, c.bytes);
  }
  if (folded) out.send(r - 1, c.bytes);
}

void scan_linear(const Call& c, Rounds& out) {
  if (c.rank > 0) out.receive(c.rank - 1, c.bytes);
  if (c.rank + 1 < c.size) out.send(c.rank + 1, c.bytes);
}

// --- the table ----------------------------------------------------------------------------------------

// clang-format off
constexpr std::array barrier{Algorithm{"patent", "the latest requester, then the barrier overhead J", barrier_latest, true},
                             Algorithm{"dissemination", "log2 p rounds", barrier_dissemination, false}};
constexpr std::array bcast{Algorithm{"binomial", "binomial tree", bcast_binomial, false},
                           Algorithm{"linear", "from the root to each", bcast_linear, false}};
constexpr std::array reduce{Algorithm{"binomial", "binomial tree", reduce_binomial, false},
                            Algorithm{"linear", "each to the root", reduce_linear, false}};
constexpr std::array gather{Algorithm{"binomial", "binomial tree", gather_binomial, false},
                            Algorithm{"linear", "each to the root", gather_linear, false}};
constexpr std::array scatter{Algorithm{"binomial", "binomial tree", scatter_binomial, false},
                             Algorithm{"linear", "from the root to each", scatter_linear, false}};
constexpr std::array gatherv{Algorithm{"linear", "each to the root", gatherv_linear, false}};
constexpr std::array scatterv{Algorithm{"linear", "from the root to each", scatterv_linear, false}};
constexpr std::array allgather{Algorithm{"ring", "p-1 steps to the right", allgather_ring, false}};
constexpr std::array allgatherv{Algorithm{"ring", "p-1 steps to the right", allgatherv_ring, false}};
constexpr std::array alltoall{Algorithm{"pairwise", "p-1 exchanges", alltoall_pairwise, false}};
constexpr std::array alltoallv{Algorithm{"pairwise", "p-1 exchanges", alltoallv_pairwise, false}};
constexpr std::array allreduce{Algorithm{"recursive-doubling", "log2 p exchanges of the vector", allreduce_recursive_doubling, false},
                               Algorithm{"ring", "2(p-1) steps of a p-th", allreduce_ring, false}};
constexpr std::array reduce_scatter{Algorithm{"ring", "p-1 steps to the right", reduce_scatter_ring, false}};
constexpr std::array reduce_scatter_block{Algorithm{"ring", "p-1 steps to the right", reduce_scatter_block_ring, false}};
constexpr std::array scan{Algorithm{"linear", "from rank to rank", scan_linear, false}};

struct Row { Op op; std::span<const Algorithm> algorithms; };
constexpr std::array table{
    Row{Op::Barrier, barrier},     Row{Op::Bcast, bcast},           Row{Op::Reduce, reduce},
    Row{Op::Gather, gather},       Row{Op::Gatherv, gatherv},       Row{Op::Scatter, scatter},
    Row{Op::Scatterv, scatterv},   Row{Op::Allgather, allgather},   Row{Op::Allgatherv, allgatherv},
    Row{Op::Alltoall, alltoall},   Row{Op::Alltoallv, alltoallv},   Row{Op::Alltoallw, alltoallv},
    Row{Op::Allreduce, allreduce}, Row{Op::Reduce_scatter, reduce_scatter},
    Row{Op::Reduce_scatter_block, reduce_scatter_block},            Row{Op::Scan, scan}, Row{Op::Exscan, scan}};
// clang-format on

static_assert([] {
  for (const OpInfo& op : mpi_ops) {
    bool found = false;
    for (const Row& row : table) found = found || row.op == op.op;
    if (found != (op.verb == Verb::collective)) return false;
  }
  return true;
}(), "every collective has an algorithm");

}  // namespace

std::span<const Algorithm> algorithms(Op op) {
  for (const Row& row : table)
    if (row.op == op) return row.algorithms;
  return {};
}

const Algorithm& find(Op op, std::string_view name) {
  const auto valid = algorithms(op);
  if (name.empty()) return valid.front();
  const auto it = std::ranges::find(valid, name, &Algorithm::name);
  if (it != valid.end()) return *it;
  std::vector<std::string_view> names;
  for (const Algorithm& a : valid) names.push_back(a.name);
  throw std::invalid_argument(fmt::format("expected an algorithm of {} ({}), found '{}'", info(op).name,
                                          fmt::join(names, ", "), name));
}

}  // namespace simreplay::collectives
