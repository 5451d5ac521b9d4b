#include "replay/collectives/rules.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "replay/collectives/parts.hpp"
#include "replay/collectives/table.hpp"

namespace simreplay::collectives {
namespace {

// The first row holds whose limits lie above both the members of the communicator and the decisive bytes.
// Segment sizes and fan-outs of the fixed decisions are all 0: no segmentation, chains of fan-out 1.

constexpr int any = std::numeric_limits<int>::max();

struct Rule {
  int members_below;
  int bytes_below;
  std::string_view algorithm;
  constexpr bool open() const { return bytes_below == any; }
};

// clang-format off
constexpr std::array barrier{
    Rule{4, any, "recursive-doubling"},
    Rule{8, any, "linear"},
    Rule{64, any, "recursive-doubling"},
    Rule{256, any, "bruck"},
    Rule{512, any, "tree"},
    Rule{1024, any, "bruck"},
    Rule{4096, any, "tree"},
    Rule{any, any, "bruck"}
};
constexpr std::array bcast{
    Rule{4, 32, "pipeline"}, Rule{4, 256, "binary"}, Rule{4, 512, "pipeline"}, Rule{4, 1024, "knomial"},
    Rule{4, 32768, "linear"}, Rule{4, 131072, "binary"}, Rule{4, 262144, "chain"}, Rule{4, 524288, "linear"},
    Rule{4, 1048576, "binomial"}, Rule{4, any, "binary"},
    Rule{8, 64, "binary"}, Rule{8, 128, "binomial"}, Rule{8, 2048, "binary"}, Rule{8, 8192, "binomial"},
    Rule{8, 1048576, "linear"}, Rule{8, any, "chain"},
    Rule{16, 8, "knomial"}, Rule{16, 64, "binary"}, Rule{16, 4096, "knomial"}, Rule{16, 16384, "binary"},
    Rule{16, 32768, "binomial"}, Rule{16, any, "linear"},
    Rule{32, 4096, "knomial"}, Rule{32, 1048576, "binomial"}, Rule{32, any, "scatter-allgather"},
    Rule{64, 2048, "binomial"}, Rule{64, any, "knomial"},
    Rule{128, any, "knomial"},
    Rule{256, 2, "binomial"}, Rule{256, 16384, "binary"}, Rule{256, 32768, "linear"}, Rule{256, 65536, "binary"},
    Rule{256, any, "knomial"},
    Rule{1024, 16384, "knomial"}, Rule{1024, 32768, "split-binary"}, Rule{1024, any, "knomial"},
    Rule{2048, 524288, "knomial"}, Rule{2048, any, "scatter-allgather"},
    Rule{4096, 262144, "knomial"}, Rule{4096, any, "scatter-allgather"},
    Rule{any, 8192, "knomial"}, Rule{any, 16384, "binary"}, Rule{any, 262144, "knomial"},
    Rule{any, any, "scatter-allgather"}
};
constexpr std::array gather{
    Rule{4, 2, "linear-sync"}, Rule{4, 4, "linear"}, Rule{4, 32768, "binomial"}, Rule{4, 65536, "linear"},
    Rule{4, 131072, "binomial"}, Rule{4, any, "linear-sync"},
    Rule{8, 1024, "binomial"}, Rule{8, 8192, "linear"}, Rule{8, 32768, "binomial"}, Rule{8, 262144, "linear"},
    Rule{8, any, "linear-sync"},
    Rule{256, any, "binomial"},
    Rule{512, 2048, "binomial"}, Rule{512, 8192, "linear"}, Rule{512, any, "binomial"},
    Rule{any, any, "binomial"}
};
constexpr std::array scatter{
    Rule{4, 2, "linear-nb"}, Rule{4, 131072, "linear"}, Rule{4, 262144, "linear-nb"}, Rule{4, any, "linear"},
    Rule{8, 2048, "binomial"}, Rule{8, 4096, "linear"}, Rule{8, 8192, "binomial"}, Rule{8, 32768, "linear"},
    Rule{8, 1048576, "linear-nb"}, Rule{8, any, "linear"},
    Rule{16, 16384, "binomial"}, Rule{16, 1048576, "linear-nb"}, Rule{16, any, "linear"},
    Rule{32, 16384, "binomial"}, Rule{32, 32768, "linear"}, Rule{32, any, "linear-nb"},
    Rule{64, 512, "binomial"}, Rule{64, 8192, "linear-nb"}, Rule{64, 16384, "binomial"}, Rule{64, any, "linear-nb"},
    Rule{any, 512, "binomial"}, Rule{any, any, "linear-nb"}
};
constexpr std::array allgather{
    Rule{3, any, "two-proc"},
    Rule{32, any, "recursive-doubling"},
    Rule{64, 1024, "recursive-doubling"}, Rule{64, 65536, "neighbor"}, Rule{64, any, "ring"},
    Rule{128, 512, "recursive-doubling"}, Rule{128, 65536, "neighbor"}, Rule{128, any, "ring"},
    Rule{256, 512, "recursive-doubling"}, Rule{256, 131072, "neighbor"}, Rule{256, 524288, "ring"},
    Rule{256, 1048576, "neighbor"}, Rule{256, any, "ring"},
    Rule{512, 32, "recursive-doubling"}, Rule{512, 128, "bruck"}, Rule{512, 1024, "recursive-doubling"},
    Rule{512, 131072, "neighbor"}, Rule{512, 524288, "ring"}, Rule{512, 1048576, "neighbor"}, Rule{512, any, "ring"},
    Rule{1024, 64, "recursive-doubling"}, Rule{1024, 256, "bruck"}, Rule{1024, 2048, "recursive-doubling"},
    Rule{1024, any, "neighbor"},
    Rule{2048, 4, "recursive-doubling"}, Rule{2048, 8, "bruck"}, Rule{2048, 16, "recursive-doubling"},
    Rule{2048, 32, "bruck"}, Rule{2048, 256, "recursive-doubling"}, Rule{2048, 512, "bruck"},
    Rule{2048, 4096, "recursive-doubling"}, Rule{2048, any, "neighbor"},
    Rule{4096, 32, "bruck"}, Rule{4096, 128, "recursive-doubling"}, Rule{4096, 512, "bruck"},
    Rule{4096, 4096, "recursive-doubling"}, Rule{4096, any, "neighbor"},
    Rule{any, 2, "recursive-doubling"}, Rule{any, 8, "bruck"}, Rule{any, 16, "recursive-doubling"},
    Rule{any, 512, "bruck"}, Rule{any, 4096, "recursive-doubling"}, Rule{any, any, "neighbor"}
};
constexpr std::array allgatherv{
    Rule{3, 2048, "ring"}, Rule{3, 4096, "two-proc"}, Rule{3, 8192, "ring"}, Rule{3, any, "two-proc"},
    Rule{8, 256, "default"}, Rule{8, 4096, "neighbor"}, Rule{8, 8192, "ring"}, Rule{8, 16384, "neighbor"},
    Rule{8, 262144, "bruck"}, Rule{8, any, "neighbor"},
    Rule{16, 1024, "default"}, Rule{16, any, "bruck"},
    Rule{32, 128, "default"}, Rule{32, 262144, "bruck"}, Rule{32, any, "ring"},
    Rule{64, 256, "default"}, Rule{64, 8192, "bruck"}, Rule{64, any, "ring"},
    Rule{128, 256, "default"}, Rule{128, 4096, "bruck"}, Rule{128, any, "ring"},
    Rule{256, 1024, "bruck"}, Rule{256, 65536, "neighbor"}, Rule{256, any, "ring"},
    Rule{512, 1024, "bruck"}, Rule{512, any, "ring"},
    Rule{1024, 512, "bruck"}, Rule{1024, 1024, "default"}, Rule{1024, 4096, "bruck"},
    Rule{1024, 1048576, "neighbor"}, Rule{1024, any, "ring"},
    Rule{any, 4096, "bruck"}, Rule{any, any, "neighbor"}
};
constexpr std::array alltoall{
    Rule{3, 2, "pairwise"}, Rule{3, 4, "two-proc"}, Rule{3, 16, "pairwise"}, Rule{3, 64, "two-proc"},
    Rule{3, 256, "pairwise"}, Rule{3, 4096, "two-proc"}, Rule{3, 32768, "pairwise"}, Rule{3, 262144, "linear-sync"},
    Rule{3, 1048576, "two-proc"}, Rule{3, any, "pairwise"},
    Rule{8, 8192, "linear-sync"}, Rule{8, 16384, "linear"}, Rule{8, 65536, "linear-sync"}, Rule{8, 524288, "linear"},
    Rule{8, 1048576, "pairwise"}, Rule{8, any, "linear"},
    Rule{16, 262144, "linear-sync"}, Rule{16, any, "linear"},
    Rule{32, 4, "linear-sync"}, Rule{32, 512, "modified-bruck"}, Rule{32, 8192, "linear-sync"},
    Rule{32, 32768, "linear"}, Rule{32, 262144, "linear-sync"}, Rule{32, 524288, "linear"},
    Rule{32, any, "linear-sync"},
    Rule{64, 512, "modified-bruck"}, Rule{64, 524288, "linear"}, Rule{64, any, "linear-sync"},
    Rule{128, 1024, "modified-bruck"}, Rule{128, 2048, "linear"}, Rule{128, 4096, "linear-sync"},
    Rule{128, 262144, "linear"}, Rule{128, any, "pairwise"},
    Rule{256, 1024, "modified-bruck"}, Rule{256, 2048, "linear-sync"}, Rule{256, 262144, "linear"},
    Rule{256, any, "pairwise"},
    Rule{512, 1024, "modified-bruck"}, Rule{512, 8192, "linear-sync"}, Rule{512, 32768, "linear"},
    Rule{512, any, "pairwise"},
    Rule{1024, 512, "modified-bruck"}, Rule{1024, 8192, "linear-sync"}, Rule{1024, 16384, "linear"},
    Rule{1024, 131072, "linear-sync"}, Rule{1024, 262144, "linear"}, Rule{1024, any, "pairwise"},
    Rule{2048, 512, "modified-bruck"}, Rule{2048, 1024, "linear-sync"}, Rule{2048, 2048, "linear"},
    Rule{2048, 16384, "linear-sync"}, Rule{2048, 262144, "linear"}, Rule{2048, any, "linear-sync"},
    Rule{4096, 1024, "modified-bruck"}, Rule{4096, 4096, "linear-sync"}, Rule{4096, 8192, "linear"},
    Rule{4096, 131072, "linear-sync"}, Rule{4096, any, "linear"},
    Rule{any, 2048, "modified-bruck"}, Rule{any, 8192, "linear-sync"}, Rule{any, 16384, "linear"},
    Rule{any, 32768, "linear-sync"}, Rule{any, 65536, "linear"}, Rule{any, any, "linear-sync"}
};
constexpr std::array alltoallv{
    Rule{4, any, "pairwise"},
    Rule{64, any, "linear"},
    Rule{128, any, "pairwise"},
    Rule{256, any, "linear"},
    Rule{1024, any, "pairwise"},
    Rule{any, any, "linear"}
};
constexpr std::array reduce{
    Rule{4, 8, "rabenseifner"}, Rule{4, 16, "binary"}, Rule{4, 32, "pipeline"}, Rule{4, 262144, "linear"},
    Rule{4, 524288, "pipeline"}, Rule{4, 1048576, "chain"}, Rule{4, any, "pipeline"},
    Rule{8, 4096, "binary"}, Rule{8, 65536, "chain"}, Rule{8, 262144, "binomial"}, Rule{8, 524288, "linear"},
    Rule{8, 1048576, "binomial"}, Rule{8, any, "linear"},
    Rule{16, 8192, "binary"}, Rule{16, any, "binomial"},
    Rule{32, 4096, "binary"}, Rule{32, any, "binomial"},
    Rule{256, any, "binomial"},
    Rule{512, 8192, "binomial"}, Rule{512, 16384, "in-order-binary"}, Rule{512, any, "binomial"},
    Rule{2048, any, "binomial"},
    Rule{4096, 512, "binomial"}, Rule{4096, 1024, "in-order-binary"}, Rule{4096, 8192, "binomial"},
    Rule{4096, 16384, "in-order-binary"}, Rule{4096, any, "binomial"},
    Rule{any, 16, "binomial"}, Rule{any, 32, "in-order-binary"}, Rule{any, 1024, "binomial"},
    Rule{any, 2048, "in-order-binary"}, Rule{any, 8192, "binomial"}, Rule{any, 16384, "in-order-binary"},
    Rule{any, any, "binomial"}
};
constexpr std::array ordered_reduce{
    Rule{4, 8, "in-order-binary"}, Rule{4, any, "linear"},
    Rule{8, any, "linear"},
    Rule{16, 1024, "in-order-binary"}, Rule{16, 8192, "linear"}, Rule{16, 16384, "in-order-binary"},
    Rule{16, 262144, "linear"}, Rule{16, any, "in-order-binary"},
    Rule{128, any, "in-order-binary"},
    Rule{256, 512, "in-order-binary"}, Rule{256, 1024, "linear"}, Rule{256, any, "in-order-binary"},
    Rule{any, any, "in-order-binary"}
};
constexpr std::array allreduce{
    Rule{4, 8, "ring"}, Rule{4, 4096, "recursive-doubling"}, Rule{4, 8192, "ring"},
    Rule{4, 16384, "recursive-doubling"}, Rule{4, 65536, "ring"}, Rule{4, 262144, "segmented-ring"},
    Rule{4, any, "rabenseifner"},
    Rule{8, 16, "ring"}, Rule{8, 8192, "recursive-doubling"}, Rule{8, any, "rabenseifner"},
    Rule{16, 8192, "recursive-doubling"}, Rule{16, any, "rabenseifner"},
    Rule{32, 64, "segmented-ring"}, Rule{32, 4096, "recursive-doubling"}, Rule{32, any, "rabenseifner"},
    Rule{64, 128, "segmented-ring"}, Rule{64, any, "rabenseifner"},
    Rule{128, 262144, "recursive-doubling"}, Rule{128, any, "rabenseifner"},
    Rule{256, 131072, "nonoverlapping"}, Rule{256, 262144, "recursive-doubling"}, Rule{256, any, "rabenseifner"},
    Rule{512, 4096, "nonoverlapping"}, Rule{512, any, "rabenseifner"},
    Rule{2048, 2048, "nonoverlapping"}, Rule{2048, 16384, "recursive-doubling"}, Rule{2048, any, "rabenseifner"},
    Rule{4096, 2048, "nonoverlapping"}, Rule{4096, 4096, "segmented-ring"}, Rule{4096, 16384, "recursive-doubling"},
    Rule{4096, any, "rabenseifner"},
    Rule{any, 2048, "nonoverlapping"}, Rule{any, 16384, "segmented-ring"}, Rule{any, 32768, "recursive-doubling"},
    Rule{any, any, "rabenseifner"}
};
constexpr std::array ordered_allreduce{
    Rule{4, 131072, "recursive-doubling"}, Rule{4, any, "linear"},
    Rule{8, any, "recursive-doubling"},
    Rule{16, 1048576, "recursive-doubling"}, Rule{16, any, "nonoverlapping"},
    Rule{128, any, "recursive-doubling"},
    Rule{256, 131072, "nonoverlapping"}, Rule{256, 524288, "recursive-doubling"}, Rule{256, any, "nonoverlapping"},
    Rule{512, 4096, "nonoverlapping"}, Rule{512, 524288, "recursive-doubling"}, Rule{512, any, "nonoverlapping"},
    Rule{any, 2048, "nonoverlapping"}, Rule{any, any, "recursive-doubling"}
};
constexpr std::array reduce_scatter{
    Rule{4, 65536, "ring"}, Rule{4, 131072, "butterfly"}, Rule{4, any, "ring"},
    Rule{8, 8, "nonoverlapping"}, Rule{8, 262144, "recursive-halving"}, Rule{8, any, "ring"},
    Rule{32, 262144, "recursive-halving"}, Rule{32, any, "ring"},
    Rule{64, 64, "nonoverlapping"}, Rule{64, 2048, "recursive-halving"}, Rule{64, 524288, "butterfly"},
    Rule{64, any, "ring"},
    Rule{128, 256, "nonoverlapping"}, Rule{128, 512, "recursive-halving"}, Rule{128, 2048, "butterfly"},
    Rule{128, 4096, "recursive-halving"}, Rule{128, any, "butterfly"},
    Rule{256, 256, "nonoverlapping"}, Rule{256, 512, "recursive-halving"}, Rule{256, any, "butterfly"},
    Rule{512, 256, "nonoverlapping"}, Rule{512, 1024, "recursive-halving"}, Rule{512, any, "butterfly"},
    Rule{1024, 512, "nonoverlapping"}, Rule{1024, 2048, "recursive-halving"}, Rule{1024, 8192, "butterfly"},
    Rule{1024, 16384, "recursive-halving"}, Rule{1024, any, "butterfly"},
    Rule{2048, 512, "nonoverlapping"}, Rule{2048, 4096, "recursive-halving"}, Rule{2048, 16384, "butterfly"},
    Rule{2048, 32768, "recursive-halving"}, Rule{2048, any, "butterfly"},
    Rule{4096, 512, "nonoverlapping"}, Rule{4096, 4096, "recursive-halving"}, Rule{4096, any, "butterfly"},
    Rule{any, 1024, "nonoverlapping"}, Rule{any, 8192, "recursive-halving"}, Rule{any, any, "butterfly"}
};
constexpr std::array ordered_reduce_scatter{
    Rule{any, any, "nonoverlapping"}
};
constexpr std::array reduce_scatter_block{
    Rule{4, 4, "recursive-doubling"}, Rule{4, 8, "butterfly"}, Rule{4, 16, "recursive-halving"},
    Rule{4, 128, "butterfly"}, Rule{4, 256, "recursive-halving"}, Rule{4, 4096, "butterfly"},
    Rule{4, 8192, "recursive-halving"}, Rule{4, 131072, "butterfly"}, Rule{4, any, "linear"},
    Rule{8, 8, "recursive-halving"}, Rule{8, 32, "recursive-doubling"}, Rule{8, 256, "butterfly"},
    Rule{8, 8192, "recursive-halving"}, Rule{8, 16384, "butterfly"}, Rule{8, 1048576, "recursive-halving"},
    Rule{8, any, "linear"},
    Rule{16, 4, "linear"}, Rule{16, 32, "recursive-halving"}, Rule{16, 128, "butterfly"},
    Rule{16, 524288, "recursive-halving"}, Rule{16, 4194304, "linear"}, Rule{16, any, "butterfly"},
    Rule{32, 32, "linear"}, Rule{32, 524288, "recursive-halving"}, Rule{32, 2097152, "linear"},
    Rule{32, 4194304, "recursive-halving"}, Rule{32, any, "butterfly"},
    Rule{any, 4, "recursive-halving"}, Rule{any, 16, "linear"}, Rule{any, 65536, "butterfly"},
    Rule{any, 262144, "linear"}, Rule{any, any, "butterfly"}
};
constexpr std::array ordered_reduce_scatter_block{
    Rule{any, any, "linear"}
};

// Left empty by coll/tuned: coll/basic does them.
constexpr std::array basic{Rule{any, any, "linear"}};

enum class Decisive : std::uint8_t { bytes, mean_block, all_blocks };

struct Selection {
  Op op;
  Decisive decisive;
  bool rests_if_empty;  // MPI or the algorithms return at once if nothing is to be moved
  std::span<const Rule> rules;
  std::span<const Rule> ordered;  // for operations that are not commutative, where that matters
};

constexpr std::array selections{
    Selection{Op::Barrier,              Decisive::bytes,      false, barrier, {}},
    Selection{Op::Bcast,                Decisive::bytes,      true,  bcast, {}},
    Selection{Op::Gather,               Decisive::bytes,      true,  gather, {}},
    Selection{Op::Gatherv,              Decisive::bytes,      false, basic, {}},
    Selection{Op::Scatter,              Decisive::bytes,      true,  scatter, {}},
    Selection{Op::Scatterv,             Decisive::bytes,      false, basic, {}},
    Selection{Op::Allgather,            Decisive::bytes,      true,  allgather, {}},
    Selection{Op::Allgatherv,           Decisive::mean_block, true,  allgatherv, {}},
    Selection{Op::Alltoall,             Decisive::bytes,      true,  alltoall, {}},
    Selection{Op::Alltoallv,            Decisive::bytes,      false, alltoallv, {}},
    Selection{Op::Alltoallw,            Decisive::bytes,      false, basic, {}},
    Selection{Op::Reduce,               Decisive::bytes,      true,  reduce, ordered_reduce},
    Selection{Op::Allreduce,            Decisive::bytes,      true,  allreduce, ordered_allreduce},
    Selection{Op::Reduce_scatter,       Decisive::all_blocks, true,  reduce_scatter, ordered_reduce_scatter},
    Selection{Op::Reduce_scatter_block, Decisive::bytes,      true,  reduce_scatter_block, ordered_reduce_scatter_block},
    Selection{Op::Scan,                 Decisive::bytes,      true,  basic, {}},
    Selection{Op::Exscan,               Decisive::bytes,      true,  basic, {}},
};
// clang-format on

constexpr const Selection* selection_of(Op op) {
  for (const Selection& s : selections)
    if (s.op == op) return &s;
  return nullptr;
}

constexpr const Algorithm* named(Op op, std::string_view name) {
  for (const Algorithm& a : row_of(op))
    if (a.name == name) return &a;
  return nullptr;
}

/// Limits grow, every size of communicator has an end for all bytes, and the table has one for all sizes.
constexpr bool complete(std::span<const Rule> rules) {
  for (std::size_t i = 1; i < rules.size(); i++) {
    const Rule &before = rules[i - 1], &rule = rules[i];
    const bool same = rule.members_below == before.members_below;
    if (same ? rule.bytes_below <= before.bytes_below
             : !before.open() || rule.members_below < before.members_below)
      return false;
  }
  return rules.empty() || (rules.back().members_below == any && rules.back().open());
}

/// The choice must be an algorithm that does the work, not one that chooses again or has no messages.
constexpr bool does_the_work(Op op, std::string_view name) {
  for (const Algorithm& a : row_of(op))
    if (a.name == name) return a.name != by_rules && a.simulates_messages;
  return false;
}

constexpr bool all_exist(Op op, std::span<const Rule> rules) {
  for (const Rule& rule : rules)
    if (!does_the_work(op, rule.algorithm)) return false;
  return true;
}

// Without pointers: under -fsanitize=undefined GCC does not take comparisons with null for constant.
static_assert(
    [] {
      for (const OpInfo& op : mpi_ops) {
        bool found = false;
        for (const Selection& s : selections) {
          if (s.op != op.op) continue;
          found = true;
          if (s.rules.empty() || !complete(s.rules) || !complete(s.ordered)) return false;
          if (!all_exist(op.op, s.rules) || !all_exist(op.op, s.ordered)) return false;
        }
        if (found != (op.verb == Verb::collective)) return false;
      }
      return true;
    }(),
    "every collective has complete rules that name its algorithms");

}  // namespace

std::int64_t decisive_bytes(Op op, const Call& c) {
  const Decisive decisive = selection_of(op)->decisive;
  if (decisive == Decisive::bytes) return c.bytes;
  const std::int64_t all = Blocks(c).of(0, c.size);
  return decisive == Decisive::mean_block ? all / c.size : all;
}

std::string_view openmpi_choice(Op op, int size, std::int64_t bytes, bool commutative) {
  const Selection& s = *selection_of(op);
  const auto& rules = commutative || s.ordered.empty() ? s.rules : s.ordered;
  const auto below = [](auto value, int limit) { return limit == any || value < limit; };
  return std::ranges::find_if(
             rules,
             [&](const Rule& r) { return below(size, r.members_below) && below(bytes, r.bytes_below); })
      ->algorithm;
}

void openmpi(Op op, const Call& c, Rounds& out) {
  if (c.size == 1) return;
  const std::int64_t bytes = decisive_bytes(op, c);
  if (bytes == 0 && selection_of(op)->rests_if_empty) return;
  named(op, openmpi_choice(op, c.size, bytes, c.commutative))->rounds(c, out);
}

}  // namespace simreplay::collectives
