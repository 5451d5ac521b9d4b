#pragma once
// Collective operations: how many bytes each member contributes. Arguments that MPI calls insignificant for
// the calling process are not looked at.

#include <vector>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

using Counts = const int*;
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
  void own_block(const void* buffer, int count, MPI_Datatype type, std::int64_t received) {
    if (buffer == MPI_IN_PLACE) in_place();
    bytes(buffer == MPI_IN_PLACE ? received : bytes_of(count, type));
  }

  std::int64_t own_of(Counts counts, MPI_Datatype type) const {
    return bytes_of(counts[communicator_.rank], type);
  }
  /// Adds a block for each peer; returns their sum.
  std::int64_t add_blocks(Counts counts, MPI_Datatype type) {
    return add_blocks([&](int i) { return bytes_of(counts[i], type); });
  }
  std::int64_t add_blocks(Counts counts, const MPI_Datatype* types) {
    return add_blocks([&](int i) { return bytes_of(counts[i], types[i]); });
  }

 private:
  std::int64_t add_blocks(auto bytes_of_peer) {
    std::int64_t sum = 0;
    for (int i = 0; i < communicator_.peers; i++) {
      blocks.push_back(bytes_of_peer(i));
      sum += blocks.back();
    }
    return sum;
  }

  Record& record_;
  Communicator communicator_;
};

inline void describe(As<Op::Barrier>, Record& record, MPI_Comm comm) { Collective(record, comm); }

inline void describe(As<Op::Bcast>, Record& record, void*, int count, MPI_Datatype type, int root,
                     MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Gather>, Record& record, const void* send, int send_count, MPI_Datatype send_type,
                     void*, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(send_count, send_type));
  if (send == MPI_IN_PLACE) c.in_place();
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Gatherv>, Record& record, const void* send, int send_count,
                     MPI_Datatype send_type, void*, Counts counts, Counts, MPI_Datatype type, int root,
                     MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(send_count, send_type));
  if (root != MPI_ROOT) c.own_block(send, send_count, send_type, c.own_of(counts, type));
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Scatter>, Record& record, const void*, int count, MPI_Datatype type,
                     void* receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(receive_count, receive_type));
  if (receive == MPI_IN_PLACE) c.in_place();
  c.bytes(bytes_of(count, type));
}

inline void describe(As<Op::Scatterv>, Record& record, const void*, Counts counts, Counts, MPI_Datatype type,
                     void* receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (!c.is_root(root)) return c.bytes(bytes_of(receive_count, receive_type));
  if (root != MPI_ROOT) c.own_block(receive, receive_count, receive_type, c.own_of(counts, type));
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Allgather>, Record& record, const void* send, int send_count,
                     MPI_Datatype send_type, void*, int count, MPI_Datatype type, MPI_Comm comm) {
  Collective c(record, comm);
  c.own_block(send, send_count, send_type, bytes_of(count, type));
}

inline void describe(As<Op::Allgatherv>, Record& record, const void* send, int send_count,
                     MPI_Datatype send_type, void*, Counts counts, Counts, MPI_Datatype type, MPI_Comm comm) {
  Collective c(record, comm);
  c.own_block(send, send_count, send_type, send == MPI_IN_PLACE ? c.own_of(counts, type) : 0);
  c.add_blocks(counts, type);
}

inline void describe(As<Op::Alltoall>, Record& record, const void* send, int send_count,
                     MPI_Datatype send_type, void*, int count, MPI_Datatype type, MPI_Comm comm) {
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

inline void describe(As<Op::Alltoallv>, Record& record, const void* send, Counts send_counts, Counts,
                     MPI_Datatype send_type, void*, Counts counts, Counts, MPI_Datatype type, MPI_Comm comm) {
  describe_exchange(record, send, send_counts, send_type, counts, type, comm);
}

inline void describe(As<Op::Alltoallw>, Record& record, const void* send, Counts send_counts, Counts,
                     const MPI_Datatype* send_types, void*, Counts counts, Counts, const MPI_Datatype* types,
                     MPI_Comm comm) {
  describe_exchange(record, send, send_counts, send_types, counts, types, comm);
}

inline void describe(As<Op::Reduce>, Record& record, const void* send, void*, int count, MPI_Datatype type,
                     MPI_Op op, int root, MPI_Comm comm) {
  Collective c(record, comm);
  c.rooted_at(root);
  if (send == MPI_IN_PLACE) c.in_place();
  c.with(op);
  c.bytes(bytes_of(count, type));
}

template <Op op>
requires(is_one_of<op>(Op::Allreduce, Op::Reduce_scatter_block, Op::Scan,
                       Op::Exscan)) void describe(As<op>, Record& record, const void* send, void*, int count,
                                                  MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
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
  c.add_blocks(counts, type);
}

template <Op op>
requires(info(op).verb == Verb::collective) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, auto... arguments) {
    describe(As<op>{}, record, arguments...);
    if constexpr (info(op).items == Items::none)
      recorder().append(record);
    else
      recorder().append(record, std::span<const std::int64_t>(blocks));
  }
};

}  // namespace simreplay::recorder
