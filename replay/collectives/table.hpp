#pragma once
// The table of algorithms. An operation is one row; other operations may later point to the same algorithms.

#include <array>
#include <span>

#include "replay/collectives/generators.hpp"
#include "replay/collectives/rules.hpp"

namespace simreplay::collectives {

inline constexpr std::string_view by_rules = "openmpi";

namespace table {

template <Op op>
inline constexpr Algorithm chosen{by_rules, "what Open MPI 4.1 chooses by size", openmpi<op>};

inline constexpr std::string_view formula_help = "no messages: who waits for whom, then a textbook formula";
template <Generator* generator>
inline constexpr Algorithm by_formula{"formula", formula_help, generator, false};

// clang-format off
// The default first. Names are Open MPI's, with hyphens; some have two.
inline constexpr std::array barrier{
    Algorithm{"patent", "the latest requester, then the barrier overhead J", barrier_latest, false},
    Algorithm{"dissemination", "log2 p rounds at doubling distances", barrier_dissemination},
    chosen<Op::Barrier>,
    Algorithm{"linear", "all to the first, which answers each", barrier_linear},
    Algorithm{"double-ring", "a token goes round twice", barrier_double_ring},
    Algorithm{"recursive-doubling", "log2 p exchanges", barrier_recursive_doubling},
    Algorithm{"bruck", "the same as dissemination", barrier_dissemination},
    Algorithm{"two-proc", "one exchange of two; of more: bruck", barrier_dissemination},
    Algorithm{"tree", "up and down a binomial tree", barrier_tree},
    by_formula<formula_barrier>};
inline constexpr std::array bcast{
    chosen<Op::Bcast>,
    Algorithm{"linear", "from the root to each", bcast_linear},
    Algorithm{"chain", "from member to member", bcast_chain},
    Algorithm{"pipeline", "the same as chain: no segments", bcast_chain},
    Algorithm{"split-binary", "halves down both sides of a binary tree, then swapped", bcast_split_binary},
    Algorithm{"binary", "binary tree", bcast_binary},
    Algorithm{"binomial", "binomial tree", bcast_binomial},
    Algorithm{"knomial", "4-nomial tree", bcast_knomial},
    Algorithm{"scatter-allgather", "binomial scatter, recursive doubling", bcast_scatter_allgather},
    Algorithm{"scatter-allgather-ring", "binomial scatter, ring", bcast_scatter_allgather_ring},
    by_formula<formula_bcast>};
inline constexpr std::array gather{
    chosen<Op::Gather>,
    Algorithm{"linear", "each to the root", gather_linear},
    Algorithm{"binomial", "binomial tree", gather_binomial},
    Algorithm{"linear-sync", "each to the root when told to", gather_linear_sync},
    by_formula<formula_gather>};
inline constexpr std::array gatherv{
    chosen<Op::Gatherv>,
    Algorithm{"linear", "each to the root", gatherv_linear},
    by_formula<formula_gather>};
inline constexpr std::array scatter{
    chosen<Op::Scatter>,
    Algorithm{"linear", "from the root to each", scatter_linear},
    Algorithm{"binomial", "binomial tree", scatter_binomial},
    Algorithm{"linear-nb", "from the root to each, non-blocking", scatter_linear_nb},
    by_formula<formula_scatter>};
inline constexpr std::array scatterv{
    chosen<Op::Scatterv>,
    Algorithm{"linear", "from the root to each", scatterv_linear},
    by_formula<formula_scatter>};
inline constexpr std::array allgather{
    chosen<Op::Allgather>,
    Algorithm{"linear", "gather and broadcast", allgather_linear},
    Algorithm{"bruck", "log2 p rounds at doubling distances", allgather_bruck},
    Algorithm{"recursive-doubling", "log2 p exchanges; without a power of two: bruck", allgather_recursive_doubling},
    Algorithm{"ring", "p-1 steps to the right", allgather_ring},
    Algorithm{"neighbor", "p/2 exchanges with neighbours; odd p: ring", allgather_neighbor},
    Algorithm{"two-proc", "one exchange of two; of more: ring", allgather_ring},
    by_formula<formula_allgather>};
inline constexpr std::array allgatherv{
    chosen<Op::Allgatherv>,
    Algorithm{"default", "gather and broadcast", allgatherv_default},
    Algorithm{"bruck", "log2 p rounds at doubling distances", allgather_bruck},
    Algorithm{"ring", "p-1 steps to the right", allgather_ring},
    Algorithm{"neighbor", "p/2 exchanges with neighbours; odd p: ring", allgather_neighbor},
    Algorithm{"two-proc", "one exchange of two; of more: ring", allgather_ring},
    by_formula<formula_allgather>};
inline constexpr std::array alltoall{
    chosen<Op::Alltoall>,
    Algorithm{"linear", "all at once", alltoall_linear},
    Algorithm{"pairwise", "p-1 exchanges", alltoall_pairwise},
    Algorithm{"modified-bruck", "log2 p rounds of about p/2 blocks", alltoall_bruck},
    Algorithm{"linear-sync", "the same as linear: no limit on requests", alltoall_linear},
    Algorithm{"two-proc", "one exchange of two; of more: pairwise", alltoall_pairwise},
    by_formula<formula_alltoall>};
inline constexpr std::array alltoallv{
    chosen<Op::Alltoallv>,
    Algorithm{"linear", "all at once, without empty blocks", alltoallv_linear},
    Algorithm{"pairwise", "p-1 exchanges", alltoallv_pairwise},
    by_formula<formula_alltoallv>};
inline constexpr std::array alltoallw{
    chosen<Op::Alltoallw>,
    Algorithm{"linear", "all at once, without empty blocks", alltoallv_linear},
    Algorithm{"pairwise", "p-1 exchanges", alltoallv_pairwise},
    by_formula<formula_alltoallv>};
inline constexpr std::array reduce{
    chosen<Op::Reduce>,
    Algorithm{"linear", "each to the root", reduce_linear},
    Algorithm{"chain", "from member to member", reduce_chain},
    Algorithm{"pipeline", "the same as chain: no segments", reduce_chain},
    Algorithm{"binary", "binary tree", reduce_binary},
    Algorithm{"binomial", "binomial tree", reduce_binomial},
    Algorithm{"in-order-binary", "binary tree that keeps the order", reduce_in_order_binary},
    Algorithm{"rabenseifner", "reduce-scatter by halves, gather; short or not commutative: linear", reduce_rabenseifner},
    by_formula<formula_reduce>};
inline constexpr std::array allreduce{
    chosen<Op::Allreduce>,
    Algorithm{"linear", "reduce and broadcast, both linear", allreduce_linear},
    Algorithm{"nonoverlapping", "reduce and broadcast, both by rules", allreduce_nonoverlapping},
    Algorithm{"recursive-doubling", "log2 p exchanges of the vector", allreduce_recursive_doubling},
    Algorithm{"ring", "2(p-1) steps of a p-th; fewer elements than p: recursive doubling", allreduce_ring},
    Algorithm{"segmented-ring", "the same as ring: no segments", allreduce_ring},
    Algorithm{"rabenseifner", "reduce-scatter by halves, allgather; short or not commutative: linear", allreduce_rabenseifner},
    by_formula<formula_allreduce>};
inline constexpr std::array reduce_scatter{
    chosen<Op::Reduce_scatter>,
    Algorithm{"nonoverlapping", "reduce and scatterv", reduce_scatter_nonoverlapping},
    Algorithm{"recursive-halving", "log2 p exchanges of halves", reduce_scatter_recursive_halving},
    Algorithm{"ring", "p-1 steps to the right", reduce_scatter_ring},
    Algorithm{"butterfly", "log2 p exchanges of halves in order, one of blocks", reduce_scatter_butterfly},
    by_formula<formula_reduce_scatter>};
inline constexpr std::array reduce_scatter_block{
    chosen<Op::Reduce_scatter_block>,
    Algorithm{"linear", "reduce and scatter", reduce_scatter_block_linear},
    Algorithm{"recursive-doubling", "log2 p exchanges of almost all", reduce_scatter_block_recursive_doubling},
    Algorithm{"recursive-halving", "log2 p exchanges of halves", reduce_scatter_block_recursive_halving},
    Algorithm{"butterfly", "log2 p exchanges of halves in order", reduce_scatter_block_butterfly},
    Algorithm{"ring", "p-1 steps to the right", reduce_scatter_ring},
    by_formula<formula_reduce_scatter>};
inline constexpr std::array scan{
    chosen<Op::Scan>,
    Algorithm{"linear", "from rank to rank", scan_linear},
    Algorithm{"recursive-doubling", "log2 p exchanges", scan_recursive_doubling},
    by_formula<formula_scan>};
inline constexpr std::array exscan{
    chosen<Op::Exscan>,
    Algorithm{"linear", "from rank to rank", scan_linear},
    Algorithm{"recursive-doubling", "log2 p exchanges", scan_recursive_doubling},
    by_formula<formula_scan>};

struct Row { Op op; std::span<const Algorithm> algorithms; };
inline constexpr std::array rows{
    Row{Op::Barrier, barrier},     Row{Op::Bcast, bcast},         Row{Op::Gather, gather},
    Row{Op::Gatherv, gatherv},     Row{Op::Scatter, scatter},     Row{Op::Scatterv, scatterv},
    Row{Op::Allgather, allgather}, Row{Op::Allgatherv, allgatherv},
    Row{Op::Alltoall, alltoall},   Row{Op::Alltoallv, alltoallv}, Row{Op::Alltoallw, alltoallw},
    Row{Op::Reduce, reduce},       Row{Op::Allreduce, allreduce}, Row{Op::Reduce_scatter, reduce_scatter},
    Row{Op::Reduce_scatter_block, reduce_scatter_block},          Row{Op::Scan, scan}, Row{Op::Exscan, exscan}};
// clang-format on

}  // namespace table

constexpr std::span<const Algorithm> row_of(Op op) {
  for (const table::Row& row : table::rows)
    if (row.op == op) return row.algorithms;
  return {};
}

}  // namespace simreplay::collectives
