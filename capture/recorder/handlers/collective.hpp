#pragma once
// Collective operations: how many bytes each member contributes. Arguments that MPI calls insignificant for
// the calling process are not looked at.

#include <tuple>
#include <vector>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

using Displacements = const void*;  // of any type; they move no bytes
template <Op op>
using As = std::integral_constant<Op, op>;

/// Bytes per member, kept by the calling thread.
inline thread_local std::vector<std::int64_t> blocks;

/// What a collective call of `comm` is about. Items, if any, are left in `blocks`.
class Collective {
 public:
  Collective(Record& record, MPI_Comm comm) : record_(record), communicator_(recorder().communicator(comm)) {
    record_.communicator = communicator_.id;
    blocks.clear();
  }

  void bytes(std::int64_t n) { record_.bytes = n; }
  void rooted_at(int root) { record_.peer = rank_of(root); }
  bool is_root(int root) const { return root == MPI_ROOT || root == communicator_.rank; }
  void in_place() { record_.flags |= trace::in_place; }
  void with(MPI_Op op) {
    int commutes = 1;
    mpi::op_commutative(op, &commutes);
    if (commutes == 0) record_.flags |= trace::not_commutative;
  }

  /// Own block as the sender sees it, or as the receiver does where the program sends in place.
  void own_block(const void* buffer, Count count, MPI_Datatype type, std::int64_t received) {
    if (buffer == MPI_IN_PLACE) in_place();
    bytes(buffer == MPI_IN_PLACE ? received : bytes_of(count, type));
  }

  std::int64_t own_of(Counts counts, MPI_Datatype type) const {
    return bytes_of(counts[communicator_.rank], type);
  }
  /// Adds a block for each peer; returns their sum.
  std::int64_t add_blocks(Counts counts, MPI_Datatype type) {
    return add_blocks(communicator_.peers, [&](int i) { return bytes_of(counts[i], type); });
  }
  /// Adds a block for each member of the own group.
  void add_own_blocks(Counts counts, MPI_Datatype type) {
    add_blocks(communicator_.size, [&](int i) { return bytes_of(counts[i], type); });
  }
  std::int64_t add_blocks(Counts counts, const MPI_Datatype* types) {
    return add_blocks(communicator_.peers, [&](int i) { return bytes_of(counts[i], types[i]); });
  }

 private:
  std::int64_t add_blocks(int members, auto bytes_of_peer) {
    std::int64_t sum = 0;
    for (int i = 0; i < members; i++) {
      blocks.push_back(bytes_of_peer(i));
      sum += blocks.back();
    }
    return sum;
  }

  Record& record_;
  Communicator communicator_;
};

inline void describe(As<Op::Barrier>, Record& record, MPI_Comm comm) { Collective(record, comm); }

inline void describe(As<Op::Bcast>, Record& record, void*, Count count, MPI_Datatype type, int root,
                     MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Gather>, Record& record, const void* send, Count send_count,
                     MPI_Datatype send_type, void*, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(send_count, send_type));
  if (send == MPI_IN_PLACE) c.in_place();
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Gatherv>, Record& record, const void* send, Count send_count,
                     MPI_Datatype send_type, void*, Counts counts, Displacements, MPI_Datatype type, int root,
                     MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(send_count, send_type));
  if (root != MPI_ROOT) c.own_block(send, send_count, send_type, c.own_of(counts, type));
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Scatter>, Record& record, const void*, Count count, MPI_Datatype type,
                     void* receive, Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(receive_count, receive_type));
  if (receive == MPI_IN_PLACE) c.in_place();
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Scatterv>, Record& record, const void*, Counts counts, Displacements,
                     MPI_Datatype type, void* receive, Count receive_count, MPI_Datatype receive_type,
                     int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(receive_count, receive_type));
  if (root != MPI_ROOT) c.own_block(receive, receive_count, receive_type, c.own_of(counts, type));
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Allgather>, Record& record, const void* send, Count send_count,
                     MPI_Datatype send_type, void*, Count count, MPI_Datatype type, MPI_Comm comm) {
  Collective c(record, comm);
  c.own_block(send, send_count, send_type, bytes_of(count, type));
}

inline void describe(As<Op::Allgatherv>, Record& record, const void* send, Count send_count,
                     MPI_Datatype send_type, void*, Counts counts, Displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  Collective c(record, comm);
  c.own_block(send, send_count, send_type, send == MPI_IN_PLACE ? c.own_of(counts, type) : 0);
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Alltoall>, Record& record, const void* send, Count send_count,
                     MPI_Datatype send_type, void*, Count count, MPI_Datatype type, MPI_Comm comm) {
  Collective c(record, comm);
  c.own_block(send, send_count, send_type, bytes_of(count, type));
}

/// In place, every member sends as much as it receives. `Types` is one type, or one for each peer.
template <class Types>
void describe_exchange(Record& record, const void* send, Counts send_counts, Types send_types, Counts counts,
                       Types types, MPI_Comm comm) {
  Collective c(record, comm);
  if (send == MPI_IN_PLACE) c.in_place();
  c.bytes(send == MPI_IN_PLACE ? c.add_blocks(counts, types) : c.add_blocks(send_counts, send_types));
  c.add_blocks(counts, types);
}

inline void describe(As<Op::Alltoallv>, Record& record, const void* send, Counts send_counts, Displacements,
                     MPI_Datatype send_type, void*, Counts counts, Displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  describe_exchange(record, send, send_counts, send_type, counts, type, comm);
}

inline void describe(As<Op::Alltoallw>, Record& record, const void* send, Counts send_counts, Displacements,
                     const MPI_Datatype* send_types, void*, Counts counts, Displacements,
                     const MPI_Datatype* types, MPI_Comm comm) {
  describe_exchange(record, send, send_counts, send_types, counts, types, comm);
}

inline void describe(As<Op::Reduce>, Record& record, const void* send, void*, Count count, MPI_Datatype type,
                     MPI_Op op, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (send == MPI_IN_PLACE) c.in_place();
  c.with(op);
  c.bytes(bytes_of(count, type));
}

template <Op op>
requires(is_one_of<op>(Op::Allreduce, Op::Reduce_scatter_block, Op::Scan,
                       Op::Exscan)) void describe(As<op>, Record& record, const void* send, void*,
                                                  Count count, MPI_Datatype type, MPI_Op operation,
                                                  MPI_Comm comm) {
  Collective c(record, comm);
  if (send == MPI_IN_PLACE) c.in_place();
  c.with(operation);
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Reduce_scatter>, Record& record, const void* send, void*, Counts counts,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Collective c(record, comm);
  if (send == MPI_IN_PLACE) c.in_place();
  c.with(op);
  c.bytes(c.own_of(counts, type));
  c.add_own_blocks(counts, type);
}

/// Destinations and sources with the bytes that go to and come from each, given by their place in the list.
inline void describe_neighbors(Record& record, MPI_Comm comm, auto bytes_to, auto bytes_from) {
  Collective(record, comm);
  const Recorder::Neighbors n = Recorder::neighbors(comm);
  const auto add = [](const std::vector<int>& ranks, auto bytes_of_peer) {
    std::int64_t peers = 0;
    for (std::size_t i = 0; i < ranks.size(); i++) {
      if (ranks[i] < 0) continue;  // beyond the edge of a grid
      blocks.insert(blocks.end(), {ranks[i], bytes_of_peer(i)});
      peers++;
    }
    return peers;
  };
  blocks.push_back(0);
  blocks[0] = add(n.destinations, bytes_to);
  for (std::size_t i = 2; i < blocks.size(); i += 2) record.bytes += blocks[i];
  add(n.sources, bytes_from);
}

template <Op op>
requires(is_one_of<op>(Op::Neighbor_allgather,
                       Op::Neighbor_alltoall)) void describe(As<op>, Record& record, const void*,
                                                             Count send_count, MPI_Datatype send_type, void*,
                                                             Count count, MPI_Datatype type, MPI_Comm comm) {
  describe_neighbors(
      record, comm, [&](std::size_t) { return bytes_of(send_count, send_type); },
      [&](std::size_t) { return bytes_of(count, type); });
}

inline void describe(As<Op::Neighbor_allgatherv>, Record& record, const void*, Count send_count,
                     MPI_Datatype send_type, void*, Counts counts, Displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  describe_neighbors(
      record, comm, [&](std::size_t) { return bytes_of(send_count, send_type); },
      [&](std::size_t i) { return bytes_of(counts[i], type); });
}

inline void describe(As<Op::Neighbor_alltoallv>, Record& record, const void*, Counts send_counts,
                     Displacements, MPI_Datatype send_type, void*, Counts counts, Displacements,
                     MPI_Datatype type, MPI_Comm comm) {
  describe_neighbors(
      record, comm, [&](std::size_t i) { return bytes_of(send_counts[i], send_type); },
      [&](std::size_t i) { return bytes_of(counts[i], type); });
}

inline void describe(As<Op::Neighbor_alltoallw>, Record& record, const void*, Counts send_counts,
                     Displacements, const MPI_Datatype* send_types, void*, Counts counts, Displacements,
                     const MPI_Datatype* types, MPI_Comm comm) {
  describe_neighbors(
      record, comm, [&](std::size_t i) { return bytes_of(send_counts[i], send_types[i]); },
      [&](std::size_t i) { return bytes_of(counts[i], types[i]); });
}

/// The call that has these arguments; a non-blocking one has its request as the last.
template <Op op, class... A>
void describe_call(Record& record, A... arguments) {
  if constexpr (blocking(op) == op) {
    describe(As<op>{}, record, arguments...);
  } else {
    const std::tuple all(arguments...);
    constexpr std::size_t last = sizeof...(A) - 1;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      describe(As<blocking(op)>{}, record, std::get<i>(all)...);
    }
    (std::make_index_sequence<last>{});
    record.request = recorder().open(*std::get<last>(all), false);
  }
}

template <Op op>
requires(info(op).verb == Verb::collective || info(op).verb == Verb::post_collective ||
         info(op).verb == Verb::neighbors || info(op).verb == Verb::post_neighbors) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, auto... arguments) {
    describe_call<op>(record, arguments...);
    if constexpr (info(op).items == Items::none)
      recorder().append(record);
    else
      recorder().append(record, std::span<const std::int64_t>(blocks));
  }
};

}  // namespace simreplay::recorder
