#pragma once
// Persistent requests: made once, started again and again. Each start is a message of its own.

#include <vector>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

template <Op op>
requires(info(op).verb == Verb::prepare) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int peer, int tag,
             MPI_Comm comm, MPI_Request* request) {
    constexpr bool receives = op == Op::Recv_init;
    set_communicator(record, comm);
    record.peer = rank_of(peer);
    record.tag = tag_of(tag);
    record.bytes = peer == MPI_PROC_NULL ? 0 : bytes_of(count, type);
    if (receives) record.flags |= wildcards(peer, tag);
    PersistentRequest p;
    p.mode = receives ? starts_receive : info(op).synchronous ? starts_synchronous_send : starts_send;
    p.flags = record.flags;
    p.communicator = record.communicator;
    p.peer = record.peer;
    p.tag = record.tag;
    p.bytes = record.bytes;
    recorder().prepare(*request, p);
    recorder().append(record);
  }
};

/// Words of the messages that a call starts, kept by the calling thread.
inline thread_local std::vector<std::int64_t> starts;

struct Launch {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  void after(Record& record, int, MPI_Request* request) { after(record, MPI_SUCCESS, 1, request); }
  void after(Record& record, int, int count, MPI_Request* requests) {
    starts.clear();
    for (int i = 0; i < count; i++)
      if (PersistentRequest* p = recorder().persistent(requests[i])) add(*p);
    recorder().append(record, std::span<const std::int64_t>(starts));
  }

 private:
  static void add(PersistentRequest& p) {
    p.active = recorder().new_request(p.mode == starts_receive);
    starts.insert(starts.end(), {p.mode, p.communicator, p.peer, p.tag, p.bytes, p.active.id, p.flags});
  }
};
template <>
struct Handler<Op::Start> : Launch {};
template <>
struct Handler<Op::Startall> : Launch {};

}  // namespace simreplay::recorder
