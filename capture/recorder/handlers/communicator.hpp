#pragma once
// Communicators that come and go.

#include <tuple>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

/// Every function that makes a communicator takes the old one first and returns the new one last.
template <Op op>
requires(info(op).verb == Verb::create && op >= Op::Comm_dup &&
         op <= Op::Intercomm_merge) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  template <class... A>
  void after(Record& record, int, MPI_Comm old, A... others) {
    MPI_Comm* made = std::get<sizeof...(A) - 1>(std::tuple(others...));
    set_communicator(record, old);
    if (*made == predefined.null_communicator) return recorder().append(record);
    const std::int64_t id[] = {recorder().learn(*made, op)};
    recorder().append(record, std::span<const std::int64_t>(id));
  }
};

/// What it makes has a handle only when the request is complete.
template <>
struct Handler<Op::Comm_idup> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, MPI_Comm old, MPI_Info, MPI_Comm* made, MPI_Request* request) {
    after(record, MPI_SUCCESS, old, made, request);
  }
  void after(Record& record, int, MPI_Comm old, MPI_Comm* made, MPI_Request* request) {
    set_communicator(record, old);
    const std::int64_t id[] = {recorder().learn_duplicate(old, Op::Comm_idup)};
    OpenRequest open = recorder().new_request(false);
    record.request = open.id;
    open.makes = made;
    open.made_id = static_cast<std::int32_t>(id[0]);
    recorder().open(*request, open);
    recorder().append(record, std::span<const std::int64_t>(id));
  }
};

template <Op op>
requires(is_one_of<op>(Op::Comm_free, Op::Comm_disconnect)) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(MPI_Comm*& comm) { handle = *comm; }
  void after(Record& record, int, MPI_Comm*) {
    set_communicator(record, handle);
    recorder().forget(handle);
    recorder().append(record);
  }
  MPI_Comm handle;
};

}  // namespace simreplay::recorder
