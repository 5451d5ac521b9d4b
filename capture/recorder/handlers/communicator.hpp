#pragma once
// Communicators that come and go.

#include <tuple>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

/// Every function that makes a communicator takes the old one first and returns the new one last.
template <Op op>
requires(info(op).verb == Verb::create) struct Handler<op> {
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

template <>
struct Handler<Op::Comm_free> {
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
