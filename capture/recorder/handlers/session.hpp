#pragma once
// Beginning and end of MPI.

#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

void start_with(Record& init);

template <Op op>
requires(info(op).verb == Verb::start) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, auto...) { start_with(record); }
};

template <>
struct Handler<Op::Finalize> {
  static constexpr bool sees_failures = false;
  void before() {}
  void after(Record& record, int) {
    recorder().control(1);  // the end is recorded in any case
    recorder().append(record);
    recorder().finalize();
  }
};

/// Does not return, so it is recorded before it happens.
template <>
struct Handler<Op::Abort> {
  static constexpr bool sees_failures = false;
  void before(MPI_Comm& comm, int&) {
    const Recorder::Lock lock(recorder());
    Record record;
    record.kind = static_cast<std::uint16_t>(Op::Abort);
    record.enter = record.leave = now();
    set_communicator_if_known(record, comm);
    recorder().append(record);
  }
  void after(Record&, int, MPI_Comm, int) {}

 private:
  static void set_communicator_if_known(Record& record, MPI_Comm comm);
};

}  // namespace simreplay::recorder
