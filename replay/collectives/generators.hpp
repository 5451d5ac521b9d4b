#pragma once
// The algorithms, by the files that define them. One generator may serve several operations: where the
// trace lists no sizes, all blocks have the size of the caller's.

#include "replay/collectives/algorithms.hpp"

namespace simreplay::collectives {

// barriers.cpp
Generator barrier_latest, barrier_linear, barrier_double_ring, barrier_recursive_doubling,
    barrier_dissemination, barrier_tree;
// linear.cpp: the root and each other member
Generator bcast_linear, reduce_linear, gather_linear, gather_linear_sync, scatter_linear, scatter_linear_nb,
    gatherv_linear, scatterv_linear;
// trees.cpp
Generator bcast_chain, bcast_binary, bcast_binomial, bcast_knomial, bcast_split_binary;
Generator reduce_chain, reduce_binary, reduce_binomial, reduce_in_order_binary;
Generator gather_binomial, scatter_binomial;
// scatter_allgather.cpp
Generator bcast_scatter_allgather, bcast_scatter_allgather_ring;
// allgather.cpp
Generator allgather_bruck, allgather_recursive_doubling, allgather_ring, allgather_neighbor, allgather_linear,
    allgatherv_default;
// alltoall.cpp
Generator alltoall_linear, alltoall_pairwise, alltoall_bruck, alltoallv_linear, alltoallv_pairwise;
// reductions.cpp
Generator reduce_rabenseifner;
Generator allreduce_linear, allreduce_nonoverlapping, allreduce_recursive_doubling, allreduce_ring,
    allreduce_rabenseifner;
Generator scan_linear, scan_recursive_doubling;
// reduce_scatter.cpp
Generator reduce_scatter_nonoverlapping, reduce_scatter_ring, reduce_scatter_recursive_halving,
    reduce_scatter_butterfly;
Generator reduce_scatter_block_linear, reduce_scatter_block_recursive_doubling,
    reduce_scatter_block_recursive_halving, reduce_scatter_block_butterfly;
// formulas.cpp: no messages
Generator formula_barrier, formula_bcast, formula_gather, formula_scatter, formula_allgather,
    formula_alltoall, formula_alltoallv, formula_reduce, formula_allreduce, formula_reduce_scatter,
    formula_scan;

}  // namespace simreplay::collectives
