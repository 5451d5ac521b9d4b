#pragma once
// Calls that close requests: waits, tests, MPI_Request_free; and MPI_Cancel.
//
// Handles are copied before the call, which overwrites them. A request that MPI has closed leaves
// MPI_REQUEST_NULL behind, also where the call reports an error. Null, inactive and unknown requests
// (those of calls that are not recorded) are passed over.

#include <algorithm>
#include <vector>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

/// Takes the request out of the books. False if it is not in them.
inline bool close(MPI_Request handle, const MPI_Status* status, Completion& completion) {
  const std::optional<OpenRequest> request = recorder().close(handle);
  if (!request) return false;
  completion.request = request->id;
  if (request->makes != nullptr) [[unlikely]]
    recorder().bind(*request->makes, request->made_id);
  if (status == nullptr) return recorder().is_known(*request, completion);
  int was_cancelled = 0;
  if (request->cancel_called) [[unlikely]]
    mpi::test_cancelled(status, &was_cancelled);
  if (was_cancelled != 0) {
    completion.flags = Completion::cancelled;
  } else if (request->receives) {
    completion.flags = Completion::received;
    completion.source = rank_of(status->MPI_SOURCE);
    completion.tag = tag_of(status->MPI_TAG);
    completion.bytes = bytes_in(*status);
  }
  return recorder().is_known(*request, completion);
}

struct OneRequest {
  static constexpr bool sees_failures = true;

  void before(MPI_Request*& request, MPI_Status*& status) {
    handle = *request;
    own.replace_ignored(status);
  }
  void before(MPI_Request*& request, int*&, MPI_Status*& status) { before(request, status); }

  void after(Record& record, int result, MPI_Request* request, MPI_Status* status) {
    Completion completion;
    const bool done = *request == predefined.null_request || result == MPI_SUCCESS;
    const bool closed = done && close(handle, status, completion);
    recorder().append(record, std::span<const Completion>(&completion, closed ? 1 : 0));
  }
  void after(Record& record, int result, MPI_Request* request, int* flag, MPI_Status* status) {
    if (result == MPI_SUCCESS && *flag == 0) return recorder().append_poll(record);
    after(record, result, request, status);
  }
  MPI_Request handle;
  OwnStatus own;
};
template <>
struct Handler<Op::Wait> : OneRequest {};
template <>
struct Handler<Op::Test> : OneRequest {};

/// Buffers of the calling thread for calls with many requests. They grow and are kept.
struct Scratch {
  std::vector<MPI_Request> handles;
  std::vector<MPI_Status> statuses;
  std::vector<Completion> completions;
};
inline thread_local Scratch scratch;

class ManyRequests {
 public:
  static constexpr bool sees_failures = true;

 protected:
  void keep(int count, const MPI_Request* requests) {
    buffers_.handles.assign(requests, requests + std::max(count, 0));
    buffers_.completions.clear();
  }
  void replace_ignored(int count, MPI_Status*& statuses) {
    if (statuses != MPI_STATUSES_IGNORE) return;
    const auto wanted = static_cast<std::size_t>(std::max(count, 0));
    if (buffers_.statuses.size() < wanted) buffers_.statuses.resize(wanted);
    statuses = buffers_.statuses.data();
  }

  /// Request `i`, which the call has closed.
  void add(int i, const MPI_Status* status) {
    const MPI_Request handle = buffers_.handles[static_cast<std::size_t>(i)];
    if (handle == predefined.null_request) return;
    if (Completion completion; close(handle, status, completion)) buffers_.completions.push_back(completion);
  }
  void append(Record& record) {
    recorder().append(record, std::span<const Completion>(buffers_.completions));
  }

  void append_all(Record& record, int count, const MPI_Status* statuses) {
    for (int i = 0; i < count; i++) add(i, statuses + i);
    append(record);
  }
  /// After an error, which statuses are set differs from call to call.
  void append_failed(Record& record, int count, const MPI_Request* requests) {
    for (int i = 0; i < count; i++)
      if (requests[i] == predefined.null_request) add(i, nullptr);
    append(record);
  }

 private:
  Scratch& buffers_ = scratch;
};

template <>
struct Handler<Op::Waitall> : ManyRequests {
  void before(int& count, MPI_Request*& requests, MPI_Status*& statuses) {
    keep(count, requests);
    replace_ignored(count, statuses);
  }
  void after(Record& record, int result, int count, MPI_Request* requests, MPI_Status* statuses) {
    if (result != MPI_SUCCESS) return append_failed(record, count, requests);
    append_all(record, count, statuses);
  }
};

template <>
struct Handler<Op::Testall> : ManyRequests {
  void before(int& count, MPI_Request*& requests, int*&, MPI_Status*& statuses) {
    keep(count, requests);
    replace_ignored(count, statuses);
  }
  void after(Record& record, int result, int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (result != MPI_SUCCESS) return append_failed(record, count, requests);
    if (*flag == 0) return recorder().append_poll(record);
    append_all(record, count, statuses);
  }
};

struct AnyRequest : ManyRequests {
  void before(int& count, MPI_Request*& requests, int*&, MPI_Status*& status) {
    keep(count, requests);
    own.replace_ignored(status);
  }
  void before(int& count, MPI_Request*& requests, int*& index, int*&, MPI_Status*& status) {
    before(count, requests, index, status);
  }

  void after(Record& record, int result, int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (result != MPI_SUCCESS) return append_failed(record, count, requests);
    if (*index >= 0 && *index < count) add(*index, status);
    append(record);
  }
  void after(Record& record, int result, int count, MPI_Request* requests, int* index, int* flag,
             MPI_Status* status) {
    if (result == MPI_SUCCESS && *flag == 0) return recorder().append_poll(record);
    after(record, result, count, requests, index, status);
  }
  OwnStatus own;
};
template <>
struct Handler<Op::Waitany> : AnyRequest {};
template <>
struct Handler<Op::Testany> : AnyRequest {};

/// Statuses stand in the order of the list of indices. MPI may use that list beyond its end as scratch, so
/// only what counts is read, and nothing is written.
template <Op op>
requires(is_one_of<op>(Op::Waitsome, Op::Testsome)) struct Handler<op> : ManyRequests {
  void before(int& count, MPI_Request*& requests, int*&, int*&, MPI_Status*& statuses) {
    keep(count, requests);
    replace_ignored(count, statuses);
  }
  void after(Record& record, int result, int count, MPI_Request* requests, int* finished, int* indices,
             MPI_Status* statuses) {
    if (result != MPI_SUCCESS) return append_failed(record, count, requests);
    if (*finished == 0) return recorder().append_poll(record);
    for (int k = 0; k < *finished; k++) add(indices[k], statuses + k);  // MPI_UNDEFINED is negative
    append(record);
  }
};

/// Closes nothing: a look at a request that is not complete is a poll like others.
template <>
struct Handler<Op::Request_get_status> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, MPI_Request, int* flag, MPI_Status*) {
    if (*flag == 0) return recorder().append_poll(record);
    recorder().append_local(record);
  }
};

template <>
struct Handler<Op::Request_free> {
  static constexpr bool sees_failures = false;
  void before(MPI_Request*& request) { handle = *request; }
  void after(Record& record, int, MPI_Request*) {
    Completion completion;
    const bool was_open = close(handle, nullptr, completion);
    recorder().forget_persistent(handle);
    recorder().append(record, std::span<const Completion>(&completion, was_open ? 1 : 0));
  }
  MPI_Request handle;
};

template <>
struct Handler<Op::Cancel> {
  static constexpr bool sees_failures = false;
  void before(MPI_Request*&) {}
  void after(Record& record, int, MPI_Request* request) {
    OpenRequest* open = recorder().find(*request);
    if (open == nullptr) return;
    open->cancel_called = true;
    const Completion which{open->id};
    recorder().append(record, std::span<const Completion>(&which, 1));
  }
};

}  // namespace simreplay::recorder
