#pragma once
// Messages between two processes, and probes for them.

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

inline void describe_sent(Record& record, Count count, MPI_Datatype type, int destination, int tag) {
  record.peer = rank_of(destination);
  record.tag = tag;
  record.bytes = destination == MPI_PROC_NULL ? 0 : bytes_of(count, type);
}

template <Op op>
requires(info(op).verb == Verb::send || info(op).verb == Verb::post_send) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm) {
    describe(record, count, type, destination, tag, comm);
    recorder().append(record);
  }
  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm, MPI_Request* request) {
    describe(record, count, type, destination, tag, comm);
    record.request = recorder().open(*request, false);
    recorder().append(record);
  }

 private:
  static void describe(Record& record, Count count, MPI_Datatype type, int destination, int tag,
                       MPI_Comm comm) {
    set_communicator(record, comm);
    describe_sent(record, count, type, destination, tag);
  }
};

/// What came in by a call that names `source` and `tag`, wildcards or not.
inline void describe_received(Record& record, int source, int tag, const MPI_Status& status) {
  record.flags |= wildcards(source, tag);
  record.peer = rank_of(source == MPI_ANY_SOURCE ? status.MPI_SOURCE : source);
  record.tag = tag_of(tag == MPI_ANY_TAG ? status.MPI_TAG : tag);
  record.bytes = bytes_in(status);
}

/// A message that is longer than its buffer has been received all the same.
inline bool was_received(int result) {
  if (result == MPI_SUCCESS) [[likely]]
    return true;
  int error_class = MPI_ERR_OTHER;
  mpi::error_class(result, &error_class);
  return error_class == MPI_ERR_TRUNCATE;
}

template <>
struct Handler<Op::Recv> {
  static constexpr bool sees_failures = true;
  void before(void*&, auto&, MPI_Datatype&, int&, int&, MPI_Comm&, MPI_Status*& status) {
    own.replace_ignored(status);
  }
  void after(Record& record, int result, void*, Count, MPI_Datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
    if (!was_received(result)) return;
    set_communicator(record, comm);
    describe_received(record, source, tag, *status);
    recorder().append(record);
  }
  OwnStatus own;
};

template <>
struct Handler<Op::Irecv> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, void*, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Request* request) {
    set_communicator(record, comm);
    record.flags |= wildcards(source, tag);
    record.peer = rank_of(source);
    record.tag = tag_of(tag);
    record.bytes = bytes_of(count, type);  // until the completion tells
    record.request = recorder().open(*request, true);
    recorder().append(record);
  }
};

/// Both forms of a send and a receive in one call, which ends with the same seven arguments.
template <Op op>
requires(info(op).verb == Verb::exchange) struct Handler<op> {
  static constexpr bool sees_failures = true;
  void before(const void*&, auto&, MPI_Datatype&, int&, int&, void*&, auto&, MPI_Datatype&, int&, int&,
              MPI_Comm&, MPI_Status*& status) {
    own.replace_ignored(status);
  }
  void before(void*&, auto&, MPI_Datatype&, int&, int&, int&, int&, MPI_Comm&, MPI_Status*& status) {
    own.replace_ignored(status);
  }

  void after(Record& record, int result, const void*, Count count, MPI_Datatype type, int destination,
             int send_tag, void*, Count, MPI_Datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
    after(record, result, nullptr, count, type, destination, send_tag, source, tag, comm, status);
  }
  void after(Record& record, int result, void*, Count count, MPI_Datatype type, int destination, int send_tag,
             int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!was_received(result)) return;
    Record received;
    describe_received(received, source, tag, *status);
    set_communicator(record, comm);
    record.flags |= received.flags;
    describe_sent(record, count, type, destination, send_tag);
    const std::int64_t half[] = {received.peer, received.tag, received.bytes};
    recorder().append(record, std::span<const std::int64_t>(half));
  }
  OwnStatus own;
};

struct BlockingProbe {
  static constexpr bool sees_failures = false;
  void before(int&, int&, MPI_Comm&, MPI_Status*& status) { own.replace_ignored(status); }
  void before(int&, int&, MPI_Comm&, MPI_Message*&, MPI_Status*& status) { own.replace_ignored(status); }

  void after(Record& record, int, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    set_communicator(record, comm);
    describe_received(record, source, tag, *status);
    recorder().append(record);
  }
  void after(Record& record, int result, int source, int tag, MPI_Comm comm, MPI_Message* message,
             MPI_Status* status) {
    recorder().hold(*message, recorder().communicator(comm).id);
    after(record, result, source, tag, comm, status);
  }
  OwnStatus own;
};
template <>
struct Handler<Op::Probe> : BlockingProbe {};
template <>
struct Handler<Op::Mprobe> : BlockingProbe {};

struct Poll : BlockingProbe {
  void before(int&, int&, MPI_Comm&, int*&, MPI_Status*& status) { own.replace_ignored(status); }
  void before(int&, int&, MPI_Comm&, int*&, MPI_Message*&, MPI_Status*& status) {
    own.replace_ignored(status);
  }

  void after(Record& record, int result, int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
    if (*found != 0) return BlockingProbe::after(record, result, source, tag, comm, status);
    set_communicator(record, comm);
    recorder().append_poll(record);
  }
  void after(Record& record, int result, int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
             MPI_Status* status) {
    if (*found != 0) return BlockingProbe::after(record, result, source, tag, comm, message, status);
    set_communicator(record, comm);
    recorder().append_poll(record);
  }
};
template <>
struct Handler<Op::Iprobe> : Poll {};
template <>
struct Handler<Op::Improbe> : Poll {};

/// The receive of a message that a probe has set aside.
class HeldMessage {
 public:
  void keep(MPI_Message* message) { handle_ = *message; }
  void describe(Record& record) const {
    record.communicator = recorder().release(handle_).value_or(trace::world_id);
  }

 private:
  MPI_Message handle_;
};

template <>
struct Handler<Op::Mrecv> {
  static constexpr bool sees_failures = true;
  void before(void*&, auto&, MPI_Datatype&, MPI_Message*& message, MPI_Status*& status) {
    held.keep(message);
    own.replace_ignored(status);
  }
  void after(Record& record, int result, void*, Count, MPI_Datatype, MPI_Message*, MPI_Status* status) {
    if (!was_received(result)) return;
    held.describe(record);
    describe_received(record, status->MPI_SOURCE, status->MPI_TAG, *status);
    recorder().append(record);
  }
  HeldMessage held;
  OwnStatus own;
};

template <>
struct Handler<Op::Imrecv> {
  static constexpr bool sees_failures = false;
  void before(void*&, auto&, MPI_Datatype&, MPI_Message*& message, MPI_Request*&) { held.keep(message); }
  void after(Record& record, int, void*, Count count, MPI_Datatype type, MPI_Message*, MPI_Request* request) {
    held.describe(record);
    record.bytes = bytes_of(count, type);
    record.peer = spool::any_rank;  // source and tag come with the completion
    record.tag = spool::any_tag;
    record.request = recorder().open(*request, true);
    recorder().append(record);
  }
  HeldMessage held;
};

}  // namespace simreplay::recorder
