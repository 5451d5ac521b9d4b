#pragma once
// MPI-IO: what was asked for in bytes, and how long it took.

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

template <Op op>
requires(info(op).verb == Verb::io) struct Handler<op> {
  static constexpr bool sees_failures = true;
  void before(auto&...) {}

  // Reads and writes (B: void, const void), at the file's position or at an offset, and those that open a
  // request.
  template <class B, std::integral C>
  void after(Record& record, int, MPI_File, B*, C count, MPI_Datatype type) {
    moved(record, count, type);
  }
  template <class B, std::integral C>
  void after(Record& record, int, MPI_File, B*, C count, MPI_Datatype type, MPI_Status*) {
    moved(record, count, type);
  }
  template <class B, std::integral C>
  void after(Record& record, int, MPI_File, MPI_Offset, B*, C count, MPI_Datatype type) {
    moved(record, count, type);
  }
  template <class B, std::integral C>
  void after(Record& record, int, MPI_File, MPI_Offset, B*, C count, MPI_Datatype type, MPI_Status*) {
    moved(record, count, type);
  }
  template <class B, std::integral C>
  void after(Record& record, int result, MPI_File, B*, C count, MPI_Datatype type, MPI_Request* request) {
    started(record, result, count, type, request);
  }
  template <class B, std::integral C>
  void after(Record& record, int result, MPI_File, MPI_Offset, B*, C count, MPI_Datatype type,
             MPI_Request* request) {
    started(record, result, count, type, request);
  }
  // All others.
  template <class... A>
  void after(Record& record, int, A...) {
    recorder().append(record);
  }

 private:
  static void moved(Record& record, Count count, MPI_Datatype type) {
    record.bytes = bytes_of(count, type);
    recorder().append(record);
  }
  static void started(Record& record, int result, Count count, MPI_Datatype type, MPI_Request* request) {
    if (result == MPI_SUCCESS) record.request = recorder().open(*request, false);
    moved(record, count, type);
  }
};

}  // namespace simreplay::recorder
