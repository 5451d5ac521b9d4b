#pragma once
// From arguments of MPI calls to fields of records.

#include <concepts>

#include "capture/recorder/recorder.hpp"

namespace simreplay::recorder {

inline std::int32_t rank_of(int rank) {
  if (rank == MPI_ANY_SOURCE) return spool::any_rank;
  if (rank == MPI_ROOT) return spool::own_rank;
  return rank >= 0 ? rank : spool::no_rank;
}

inline std::int32_t tag_of(int tag) { return tag == MPI_ANY_TAG ? spool::any_tag : tag; }

/// How many elements: an int, or MPI_Count where the function is a large-count form (MPI_Send_c).
using Count = std::int64_t;
static_assert(sizeof(MPI_Count) <= sizeof(Count));

/// A list of counts of either kind.
class Counts {
 public:
  Counts(const int* counts) : narrow_(counts) {}
  Counts(const MPI_Count* counts) : wide_(counts) {}
  template <std::integral I>
  Count operator[](I i) const {
    return wide_ != nullptr ? wide_[i] : narrow_[i];
  }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

/// Types of empty buffers are not looked at, for programs pass anything there; and where an argument is
/// insignificant, often no type.
inline std::int64_t bytes_of(Count count, MPI_Datatype type) {
  if (count <= 0 || type == predefined.null_type) return 0;
  MPI_Count size = 0;
  mpi::type_size_x(type, &size);
  return count * size;
}

inline std::int64_t bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  mpi::get_elements_x(&status, predefined.byte, &bytes);
  return bytes > 0 ? bytes : 0;
}

inline std::uint16_t wildcards(int source, int tag) {
  return static_cast<std::uint16_t>((source == MPI_ANY_SOURCE ? trace::any_source : 0) |
                                    (tag == MPI_ANY_TAG ? trace::any_tag : 0));
}

inline void set_communicator(Record& record, MPI_Comm comm) {
  record.communicator = recorder().communicator(comm).id;
}

/// A status where the program wants none.
class OwnStatus {
 public:
  void replace_ignored(MPI_Status*& status) {
    if (status == MPI_STATUS_IGNORE) status = &own_;
  }

 private:
  MPI_Status own_;
};

template <Op op>
constexpr bool is_one_of(auto... ops) {
  return ((op == ops) || ...);
}

}  // namespace simreplay::recorder
