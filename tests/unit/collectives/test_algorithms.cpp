// Every algorithm, executed by all members: it ends, bytes agree, data goes where it must, and messages,
// bytes and depth are those of closed forms.
#include <algorithm>
#include <bit>
#include <numeric>

#include "replay/collectives/algorithms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/collectives/message_machine.hpp"

using namespace simreplay;
using namespace simreplay::test;
using collectives::Algorithm;
using collectives::Call;

namespace {

using Number = std::int64_t;

// --- calls ----------------------------------------------------------------------------------------------

/// What all members call. `uneven`: the blocks of the v forms differ, some are empty.
struct Scene {
  Op op;
  int p, root;
  Number n;
  bool uneven = false, commutative = true;

  Number block(int i) const { return uneven ? n * (i % 3) : n; }
  Number pair(int from, int to) const { return uneven ? n * ((from + 2 * to) % 3) : n; }
  Number total() const {
    Number sum = 0;
    for (int i = 0; i < p; i++) sum += block(i);
    return sum;
  }
};

Outcome play(const Scene& s, const Algorithm& algorithm) {
  std::vector<std::vector<Number>> items(static_cast<std::size_t>(s.p));
  std::vector<Call> calls;
  for (int r = 0; r < s.p; r++) {
    auto& mine = items[static_cast<std::size_t>(r)];
    const Items kind = info(s.op).items;
    Call c{.rank = r, .size = s.p, .root = s.root, .bytes = s.n, .commutative = s.commutative};
    if (kind == Items::blocks || kind == Items::blocks_at_root) c.bytes = s.block(r);
    if (kind == Items::blocks || (kind == Items::blocks_at_root && r == s.root))
      for (int i = 0; i < s.p; i++) mine.push_back(s.block(i));
    if (kind == Items::blocks_twice) {
      for (int i = 0; i < s.p; i++) mine.push_back(s.pair(r, i));
      for (int i = 0; i < s.p; i++) mine.push_back(s.pair(i, r));
      c.bytes = std::reduce(mine.begin(), mine.begin() + s.p);
    }
    c.blocks = mine;
    calls.push_back(c);
  }
  return run(algorithm, calls);
}

Outcome play(const Scene& s, std::string_view name) { return play(s, collectives::find(s.op, name)); }

std::vector<int> roots(Op op, int p) {
  if (!info(op).rooted) return {0};
  std::vector<int> all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), 0);
  if (p <= 9) return all;
  return {0, 1, p / 2, p - 1};
}

template <class Body>
void for_all(Op op, Body&& body) {
  for (int p = 1; p <= 33; p++)
    for (const Number n : {0, 1, 8, 1000, 65536, 1 << 20})
      for (const int root : roots(op, p)) body(Scene{op, p, root, n});
}

std::vector<Op> collective_ops() {
  std::vector<Op> ops;
  for (const OpInfo& op : mpi_ops)
    if (op.verb == Verb::collective) ops.push_back(op.op);
  return ops;
}

/// Whose data member r must have heard of in the end.
Knowledge needed(const Scene& s, int r) {
  const Knowledge all = s.p == 64 ? ~Knowledge{0} : (Knowledge{1} << s.p) - 1, own = Knowledge{1} << r;
  switch (s.op) {
    case Op::Bcast:
    case Op::Scatter:
    case Op::Scatterv:
      return Knowledge{1} << s.root;
    case Op::Gather:
    case Op::Gatherv:
    case Op::Reduce:
      return r == s.root ? all : own;
    case Op::Scan:
    case Op::Exscan:
      return 2 * own - 1;
    default:
      return all;
  }
}

// --- closed forms -----------------------------------------------------------------------------------------

constexpr int floor_log2(Number p) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p))) - 1;
}
constexpr int ceil_log2(Number p) { return p <= 1 ? 0 : floor_log2(p - 1) + 1; }
constexpr Number ceiling(Number a, Number b) { return (a + b - 1) / b; }

/// -1: not compared.
struct Form {
  Number messages, bytes;
  int hops = -1, steps = -1;
};

Form operator+(const Form& a, const Outcome& b) { return {a.messages + b.messages, a.bytes + b.bytes}; }

/// Sum over the members but the root of the sizes of their subtrees in an in-order binomial tree.
template <class Size>
Number over_subtrees(int p, Size&& size) {
  Number sum = 0;
  for (int v = 1; v < p; v++) sum += size(v, std::min(v & -v, p - v));
  return sum;
}

/// Rounds in which groups of 1, 2, 4, ... members meet the group beside them, which may be cut short.
template <class Each>
void over_meetings(int p, Each&& each) {
  for (int d = 1; d < p; d *= 2)
    for (int v = 0; v < p; v++) {
      const int beside = (v / d * d) ^ d;
      if (beside < p) each(beside, std::min(d, p - beside));
    }
}

Form tree(const Scene& s, int hops, int steps = -1) { return {s.p - 1, (s.p - 1) * s.n, hops, steps}; }
Form linear(const Scene& s) { return tree(s, s.p > 1); }
Form chain(const Scene& s) { return tree(s, s.p - 1, s.p - 1); }
Form binomial(const Scene& s) { return tree(s, floor_log2(s.p)); }
Form star(const Scene& s) { return tree(s, s.p > 1, s.p - 1); }

Form binomial_blocks(const Scene& s) {
  return {s.p - 1, s.n * over_subtrees(s.p, [](int, int members) { return Number{members}; }),
          floor_log2(s.p)};
}

Form knomial(const Scene& s) {  // the longest number below p to base 4 without zeros is 11...1
  int hops = 0;
  for (Number ones = 1; ones < s.p; ones = 4 * ones + 1) hops++;
  return tree(s, hops);
}

Form split_binary(const Scene& s) {
  if (s.n < 2) return chain(s);
  if (s.p == 1) return {0, 0, 0};
  return {2 * (s.p - 1), (s.p - 1) * s.n, std::max(floor_log2(s.p), floor_log2(s.p - 1) + 1)};
}

Form scattered(const Scene& s, Number gathered_messages) {
  if (s.n < s.p) return star(s);
  const Number chunk = ceiling(s.n, s.p);
  const Number down = over_subtrees(s.p, [&](int v, int members) {
    return std::min(s.n, (v + members) * chunk) - std::min(s.n, v * chunk);
  });
  return {ceiling(s.n, chunk) - 1 + gathered_messages, down + (s.p - 1) * s.n};
}

Form scatter_allgather(const Scene& s) {
  Number messages = 0;
  over_meetings(s.p, [&](int, int) { messages++; });
  return scattered(s, messages);
}
Form scatter_ring(const Scene& s) { return scattered(s, s.p * (s.p - 1)); }

Form linear_sync(const Scene& s) { return {3 * (s.p - 1), (s.p - 1) * s.n, 2 * (s.p - 1)}; }
Form lists(const Scene& s) {  // gatherv, scatterv
  Form f{0, s.total() - s.block(s.root)};
  for (int i = 0; i < s.p; i++) f.messages += i != s.root && s.block(i) > 0;
  return f;
}

Form gathered(const Scene& s, Number messages, int hops) { return {messages, (s.p - 1) * s.total(), hops}; }
Form by_doubling(const Scene& s) { return gathered(s, s.p * ceil_log2(s.p), ceil_log2(s.p)); }
Form by_ring(const Scene& s) { return gathered(s, s.p * (s.p - 1), s.p - 1); }
Form by_neighbors(const Scene& s) { return s.p % 2 ? by_ring(s) : gathered(s, s.p * s.p / 2, s.p / 2); }

Form pairwise(const Scene& s, int hops, bool empty_too) {
  Form f{0, 0, hops};
  const bool listed = info(s.op).items == Items::blocks_twice;
  for (int i = 0; i < s.p; i++)
    for (int j = 0; j < s.p; j++) {
      const Number n = listed ? s.pair(i, j) : s.n;
      if (i == j || (n == 0 && !empty_too)) continue;
      f.messages++;
      f.bytes += n;
    }
  return f;
}
Form steps_pairwise(const Scene& s) { return pairwise(s, s.p - 1, true); }
Form at_once(const Scene& s) { return pairwise(s, s.p > 1, true); }
Form at_once_without_empty(const Scene& s) {
  Form f = pairwise(s, 0, false);
  f.hops = f.messages > 0;
  return f;
}
Form alltoall_bruck(const Scene& s) {
  Number digits = 0;
  for (int i = 0; i < s.p; i++) digits += std::popcount(static_cast<unsigned>(i));
  return {s.p * ceil_log2(s.p), s.p * digits * s.n, ceil_log2(s.p)};
}

// Powers of two: q of p members take part, e others are folded in.
Number q(const Scene& s) { return Number{1} << floor_log2(s.p); }
Number e(const Scene& s) { return s.p - q(s); }
Number right_half(Number n) { return n - std::min(n, ceiling(n, 8) / 2 * 8); }
bool halves(const Scene& s) { return s.p > 1 && s.commutative && ceiling(s.n, 8) >= q(s); }

Form doubling(const Scene& s) {
  const Number messages = q(s) * floor_log2(q(s)) + 2 * e(s);
  const int rounds = floor_log2(q(s));
  // A chain from one folded member to another crosses all rounds only if their partners' numbers are
  // complements.
  const int folds = 2 * e(s) > q(s) ? 2 : e(s) > 0;
  return {messages, messages * s.n, rounds + folds, rounds + (e(s) ? 2 : 0)};
}
Form doubling_barrier(const Scene& s) {
  return {doubling(s).messages, 0, doubling(s).hops, doubling(s).steps};
}
Form reduce_rabenseifner(const Scene& s) {
  if (!halves(s)) return linear(s);
  const bool root_folded = s.root < 2 * e(s) && s.root % 2 == 1, even_parts = s.n % (8 * q(s)) == 0;
  const Number folded = e(s) * (s.n + right_half(s.n)),
               gathered = s.n * floor_log2(q(s)) / 2 + (root_folded ? s.n / q(s) : 0);
  return {3 * e(s) + q(s) * floor_log2(q(s)) + q(s) - 1 + root_folded,
          even_parts ? folded + s.n * (q(s) - 1) + gathered : -1};
}
Form reduce_bcast(const Scene& s) { return {2 * (s.p - 1), 2 * (s.p - 1) * s.n, s.p > 1 ? 2 : 0}; }
Form allreduce_rabenseifner(const Scene& s) {
  if (!halves(s)) return reduce_bcast(s);
  return {4 * e(s) + 2 * q(s) * floor_log2(q(s)), e(s) * (2 * s.n + right_half(s.n)) + 2 * s.n * (q(s) - 1)};
}
Form allreduce_ring(const Scene& s) {
  if (ceiling(s.n, 8) < s.p) return doubling(s);
  return {2 * s.p * (s.p - 1), 2 * (s.p - 1) * s.n, 2 * (s.p - 1)};
}

Form none() { return {0, 0, 0, 0}; }
Number even_blocks(const Scene& s) {
  Number sum = 0;
  for (int i = 0; i < 2 * e(s); i += 2) sum += s.block(i);
  return sum;
}
Form recursive_halving(const Scene& s) {
  if (s.total() == 0) return none();
  const Number bytes = s.total() * (e(s) + q(s) - 1) + even_blocks(s);
  return {s.uneven ? -1 : q(s) * floor_log2(q(s)) + 2 * e(s), bytes};
}
Form butterfly(const Scene& s) {
  if (s.p == 1) return none();
  const int digits = floor_log2(q(s));
  Number moved = 0, bytes = 0;
  for (int v = 0; v < q(s); v++) {
    int mirrored = 0;
    for (int i = 0; i < digits; i++) mirrored |= (v >> i & 1) << (digits - 1 - i);
    if (mirrored == v) continue;
    moved++;
    bytes += s.block(static_cast<int>(v < e(s) ? 2 * v + 1 : v + e(s)));
  }
  return {q(s) * digits + 2 * e(s) + moved, s.total() * (e(s) + q(s) - 1) + even_blocks(s) + bytes};
}
Form block_butterfly(const Scene& s) {
  if (s.n == 0) return none();
  return e(s) ? butterfly(s) : Form{s.p * floor_log2(s.p), s.total() * (s.p - 1), floor_log2(s.p)};
}
Form block_doubling(const Scene& s) {
  Form f = none();
  if (s.n == 0) return f;
  over_meetings(s.p, [&](int, int members) {
    f.messages++;
    f.bytes += (s.p - members) * s.n;
  });
  return {f.messages, f.bytes};
}
Form scan_doubling(const Scene& s) {
  Number messages = 0;
  for (int d = 1; d < s.p; d *= 2)
    for (int r = 0; r < s.p; r++) messages += (r ^ d) < s.p;
  return {messages, messages * s.n, ceil_log2(s.p)};
}

// Made of two other collectives, of which Open MPI chooses the algorithms.
Form both(const Scene& first, const Scene& second) {
  return Form{0, 0} + play(first, "openmpi") + play(second, "openmpi");
}
Form allgather_linear(const Scene& s) {
  return both({Op::Gather, s.p, 0, s.n}, {Op::Bcast, s.p, 0, s.p * s.n});
}
Form allgatherv_default(const Scene& s) {
  return both({Op::Gatherv, s.p, 0, s.n, s.uneven}, {Op::Bcast, s.p, 0, s.total()});
}
Form nonoverlapping(const Scene& s) {
  return both({Op::Reduce, s.p, 0, s.n, false, s.commutative}, {Op::Bcast, s.p, 0, s.n});
}
Form reduce_scatterv(const Scene& s) {
  return both({Op::Reduce, s.p, 0, s.total(), false, s.commutative}, {Op::Scatterv, s.p, 0, s.n, s.uneven});
}
Form reduce_scatter(const Scene& s) {
  return both({Op::Reduce, s.p, 0, s.total(), false, s.commutative}, {Op::Scatter, s.p, 0, s.n});
}

Form barrier_tree(const Scene& s) { return {2 * (s.p - 1), 0, 2 * floor_log2(s.p)}; }
Form signals_of_root(const Scene& s) { return {s.p - 1, 0, s.p > 1}; }
Form signals_to_the_right(const Scene& s) { return {s.p - 1, 0, s.p - 1}; }

struct Case {
  Op op;
  std::string_view name;
  Form (*form)(const Scene&);
};

// clang-format off
const std::vector<Case> cases{
    {Op::Barrier, "patent", barrier_tree},
    {Op::Barrier, "dissemination", [](const Scene& s) { return Form{s.p * ceil_log2(s.p), 0, ceil_log2(s.p), ceil_log2(s.p)}; }},
    {Op::Barrier, "bruck", [](const Scene& s) { return Form{s.p * ceil_log2(s.p), 0, ceil_log2(s.p), ceil_log2(s.p)}; }},
    {Op::Barrier, "two-proc", [](const Scene& s) { return s.p == 2 ? Form{2, 0, 1, 1} : Form{-1, 0}; }},
    {Op::Barrier, "linear", [](const Scene& s) { return s.p == 1 ? none() : Form{2 * (s.p - 1), 0, 2, s.p}; }},
    {Op::Barrier, "double-ring", [](const Scene& s) { return s.p == 1 ? none() : Form{2 * s.p, 0, 2 * s.p, 2 * s.p}; }},
    {Op::Barrier, "recursive-doubling", doubling_barrier},
    {Op::Barrier, "tree", barrier_tree},
    {Op::Barrier, "formula", barrier_tree},
    {Op::Bcast, "linear", star},
    {Op::Bcast, "chain", chain},
    {Op::Bcast, "pipeline", chain},
    {Op::Bcast, "split-binary", split_binary},
    {Op::Bcast, "binary", binomial},  // as deep as a binomial tree
    {Op::Bcast, "binomial", [](const Scene& s) { return tree(s, floor_log2(s.p), ceil_log2(s.p)); }},
    {Op::Bcast, "knomial", knomial},
    {Op::Bcast, "scatter-allgather", scatter_allgather},
    {Op::Bcast, "scatter-allgather-ring", scatter_ring},
    {Op::Bcast, "formula", signals_of_root},
    {Op::Gather, "linear", linear},
    {Op::Gather, "binomial", binomial_blocks},
    {Op::Gather, "linear-sync", linear_sync},
    {Op::Gather, "formula", signals_of_root},
    {Op::Gatherv, "linear", lists},
    {Op::Gatherv, "formula", signals_of_root},
    {Op::Scatter, "linear", star},
    {Op::Scatter, "binomial", [](const Scene& s) { Form f = binomial_blocks(s); f.steps = ceil_log2(s.p); return f; }},
    {Op::Scatter, "linear-nb", star},
    {Op::Scatter, "formula", signals_of_root},
    {Op::Scatterv, "linear", lists},
    {Op::Scatterv, "formula", signals_of_root},
    {Op::Allgather, "linear", allgather_linear},
    {Op::Allgather, "bruck", by_doubling},
    {Op::Allgather, "recursive-doubling", by_doubling},
    {Op::Allgather, "ring", by_ring},
    {Op::Allgather, "neighbor", by_neighbors},
    {Op::Allgather, "two-proc", by_ring},
    {Op::Allgather, "formula", barrier_tree},
    {Op::Allgatherv, "default", allgatherv_default},
    {Op::Allgatherv, "bruck", by_doubling},
    {Op::Allgatherv, "ring", by_ring},
    {Op::Allgatherv, "neighbor", by_neighbors},
    {Op::Allgatherv, "two-proc", by_ring},
    {Op::Allgatherv, "formula", barrier_tree},
    {Op::Alltoall, "linear", at_once},
    {Op::Alltoall, "pairwise", steps_pairwise},
    {Op::Alltoall, "modified-bruck", alltoall_bruck},
    {Op::Alltoall, "linear-sync", at_once},
    {Op::Alltoall, "two-proc", steps_pairwise},
    {Op::Alltoall, "formula", barrier_tree},
    {Op::Alltoallv, "linear", at_once_without_empty},
    {Op::Alltoallv, "pairwise", steps_pairwise},
    {Op::Alltoallv, "formula", barrier_tree},
    {Op::Alltoallw, "linear", at_once_without_empty},
    {Op::Alltoallw, "pairwise", steps_pairwise},
    {Op::Alltoallw, "formula", barrier_tree},
    {Op::Reduce, "linear", linear},
    {Op::Reduce, "chain", chain},
    {Op::Reduce, "pipeline", chain},
    {Op::Reduce, "binary", binomial},
    {Op::Reduce, "binomial", binomial},
    {Op::Reduce, "in-order-binary", [](const Scene& s) {
       const Number messages = s.p - 1 + (s.root != s.p - 1);
       return Form{messages, messages * s.n};
     }},
    {Op::Reduce, "rabenseifner", reduce_rabenseifner},
    {Op::Reduce, "formula", signals_of_root},
    {Op::Allreduce, "linear", reduce_bcast},
    {Op::Allreduce, "nonoverlapping", nonoverlapping},
    {Op::Allreduce, "recursive-doubling", doubling},
    {Op::Allreduce, "ring", allreduce_ring},
    {Op::Allreduce, "segmented-ring", allreduce_ring},
    {Op::Allreduce, "rabenseifner", allreduce_rabenseifner},
    {Op::Allreduce, "formula", barrier_tree},
    {Op::Reduce_scatter, "nonoverlapping", reduce_scatterv},
    {Op::Reduce_scatter, "recursive-halving", recursive_halving},
    {Op::Reduce_scatter, "ring", by_ring},
    {Op::Reduce_scatter, "butterfly", butterfly},
    {Op::Reduce_scatter, "formula", barrier_tree},
    {Op::Reduce_scatter_block, "linear", reduce_scatter},
    {Op::Reduce_scatter_block, "recursive-doubling", block_doubling},
    {Op::Reduce_scatter_block, "recursive-halving", recursive_halving},
    {Op::Reduce_scatter_block, "butterfly", block_butterfly},
    {Op::Reduce_scatter_block, "ring", by_ring},
    {Op::Reduce_scatter_block, "formula", barrier_tree},
    {Op::Scan, "linear", chain},
    {Op::Scan, "recursive-doubling", scan_doubling},
    {Op::Scan, "formula", signals_to_the_right},
    {Op::Exscan, "linear", chain},
    {Op::Exscan, "recursive-doubling", scan_doubling},
    {Op::Exscan, "formula", signals_to_the_right}};
// clang-format on

std::string text(const Scene& s, std::string_view name) {
  return std::string(info(s.op).name) + " " + std::string(name) + " of " + std::to_string(s.p) + ", root " +
         std::to_string(s.root) + ", " + std::to_string(s.n) + " bytes" + (s.uneven ? ", uneven" : "") +
         (s.commutative ? "" : ", not commutative");
}

void check_sound(const Scene& s, std::string_view name, const Outcome& out) {
  INFO(text(s, name));
  REQUIRE(out.fault == "");
  if (s.op != Op::Barrier && (s.n == 0 || s.uneven)) return;  // who has nothing to say need not be heard
  for (int r = 0; r < s.p; r++) {
    const Knowledge must = needed(s, r);
    INFO("member " << r);
    REQUIRE((out.knowledge[static_cast<std::size_t>(r)] & must) == must);
  }
}

void check_form(const Scene& s, const Case& c, const Outcome& out) {
  const Form f = c.form(s);
  INFO(text(s, c.name));
  if (f.messages >= 0) REQUIRE(out.messages == f.messages);
  if (f.bytes >= 0 && s.op != Op::Barrier) REQUIRE(out.bytes == f.bytes);
  if (f.hops >= 0 && s.n > 0 && !s.uneven) REQUIRE(out.hops == f.hops);
  if (f.steps >= 0) REQUIRE(out.steps == f.steps);
}

}  // namespace

TEST_CASE("every algorithm has a closed form to be compared with") {
  for (const Op op : collective_ops())
    for (const Algorithm& a : collectives::algorithms(op)) {
      if (a.name == "openmpi") continue;
      INFO(info(op).name << " " << a.name);
      CHECK(std::ranges::any_of(cases, [&](const Case& c) { return c.op == op && c.name == a.name; }));
    }
}

TEST_CASE("messages, bytes, depth and flow of data of every algorithm") {
  for (const Case& c : cases)
    for_all(c.op, [&](const Scene& s) {
      const Outcome out = play(s, c.name);
      check_sound(s, c.name, out);
      check_form(s, c, out);
    });
}

TEST_CASE("blocks of different sizes, some empty") {
  for (const Case& c : cases) {
    if (info(c.op).items == Items::none) continue;
    for_all(c.op, [&](Scene s) {
      s.uneven = true;
      const Outcome out = play(s, c.name);
      check_sound(s, c.name, out);
      check_form(s, c, out);
    });
  }
}

TEST_CASE("operations that are not commutative") {
  for (const Case& c : cases) {
    const bool recursive_halving = c.name == "recursive-halving";  // falls back to another algorithm
    if (!info(c.op).reduces) continue;
    for_all(c.op, [&](Scene s) {
      s.commutative = false;
      const Outcome out = play(s, c.name);
      check_sound(s, c.name, out);
      if (!recursive_halving) check_form(s, c, out);
    });
  }
}

TEST_CASE("what Open MPI chooses moves the data, too") {
  for (const Op op : collective_ops())
    for_all(op, [&](Scene s) {
      check_sound(s, "openmpi", play(s, "openmpi"));
      s.uneven = true;
      check_sound(s, "openmpi", play(s, "openmpi"));
      s.uneven = false;
      s.commutative = false;
      check_sound(s, "openmpi", play(s, "openmpi"));
    });
}

TEST_CASE("alltoall in place: every algorithm becomes the exchange with both neighbours of each distance") {
  for (const Op op : {Op::Alltoall, Op::Alltoallv, Op::Alltoallw})
    for (const Algorithm& a : collectives::algorithms(op))
      for (int p = 1; p <= 33; p++) {
        if (a.name == "formula") continue;
        const auto block = [&](int i, int j) { return Number{op == Op::Alltoall ? 8 : (i + j) % 3}; };
        std::vector<std::vector<Number>> items(static_cast<std::size_t>(p));
        std::vector<Call> calls;
        Number messages = 0, bytes = 0;
        for (int r = 0; r < p; r++) {
          auto& mine = items[static_cast<std::size_t>(r)];
          for (int twice = 0; twice < 2 && op != Op::Alltoall; twice++)
            for (int i = 0; i < p; i++) mine.push_back(block(r, i));
          for (int i = 0; i < p; i++) {
            if (i == r) continue;
            messages += block(r, i) > 0;
            bytes += block(r, i);
          }
          calls.push_back({.rank = r, .size = p, .bytes = 8, .blocks = mine, .in_place = true});
        }
        const Outcome out = run(a, calls);
        INFO(info(op).name << " " << a.name << " of " << p);
        REQUIRE(out.fault == "");
        REQUIRE(out.messages == messages);
        REQUIRE(out.bytes == bytes);
        if (op == Op::Alltoall) REQUIRE(out.steps == (p == 1 ? 0 : p - 1));
      }
}

TEST_CASE("alltoallv in place: as Open MPI 4.1.4 made it") {
  using collectives::Message;
  using Kind = Message::Kind;
  const std::vector<Number> counts{12, 0, 4, 8, 0};  // of member 1 of 5
  std::vector<Number> twice = counts;
  twice.insert(twice.end(), counts.begin(), counts.end());
  collectives::Rounds out;
  collectives::find(Op::Alltoallv, "").rounds({.rank = 1, .size = 5, .blocks = twice, .in_place = true}, out);
  const std::vector<Message> expected{{Kind::start_receive, 2, 4},  {Kind::send, 0, 12}, {Kind::finish},
                                      {Kind::start_receive, 0, 12}, {Kind::send, 2, 4},  {Kind::finish},
                                      {Kind::start_receive, 3, 8},  {Kind::finish},      {Kind::send, 3, 8}};
  const auto m = out.messages();
  REQUIRE(m.size() == expected.size());
  for (std::size_t i = 0; i < m.size(); i++) {
    INFO("message " << i);
    CHECK(
        (m[i].kind == expected[i].kind && m[i].peer == expected[i].peer && m[i].bytes == expected[i].bytes));
  }
}

TEST_CASE("an exchange posts its receive first, and finish is said once") {
  collectives::Rounds out;
  out.exchange(1, 10, 2, 20);
  out.finish();
  using Kind = collectives::Message::Kind;
  const auto m = out.messages();
  REQUIRE(m.size() == 3);
  CHECK((m[0].kind == Kind::start_receive && m[0].peer == 2 && m[0].bytes == 20));
  CHECK((m[1].kind == Kind::send && m[1].peer == 1 && m[1].bytes == 10));
  CHECK(m[2].kind == Kind::finish);
}
