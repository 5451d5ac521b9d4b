#pragma once
// One-sided communication. A window is recorded as a communicator of its own: that of its group.

#include <tuple>

#include "capture/recorder/handlers/arguments.hpp"
#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {

/// False for a window that we did not see made.
inline bool set_window(Record& record, MPI_Win handle) {
  const Window* window = recorder().window(handle);
  if (window != nullptr) record.communicator = window->communicator.id;
  return window != nullptr;
}

/// Functions that make a window take the communicator as the last argument that is one, and return the window
/// last.
template <Op op>
requires(is_one_of<op>(Op::Win_create, Op::Win_allocate, Op::Win_allocate_shared,
                       Op::Win_create_dynamic)) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}
  void after(Record& record, int, void*, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm comm, MPI_Win* made) {
    made_over(record, comm, *made);
  }
  void after(Record& record, int, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm comm, void*, MPI_Win* made) {
    made_over(record, comm, *made);
  }
  void after(Record& record, int, MPI_Info, MPI_Comm comm, MPI_Win* made) { made_over(record, comm, *made); }

 private:
  static void made_over(Record& record, MPI_Comm comm, MPI_Win made) {
    set_communicator(record, comm);
    const std::int64_t id[] = {recorder().learn_window(made, comm, op)};
    recorder().append(record, std::span<const std::int64_t>(id));
  }
};

/// Put, Get and their like: who is the target and how many bytes move one way.
template <Op op>
requires(info(op).verb == Verb::put || info(op).verb == Verb::get ||
         info(op).verb == Verb::update) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  // Put, Get
  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
             MPI_Datatype, MPI_Win window) {
    moved(record, bytes_of(count, type), target, window);
  }
  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
             MPI_Datatype, MPI_Win window, MPI_Request* request) {
    moved(record, bytes_of(count, type), target, window, request);
  }
  // Accumulate
  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
             MPI_Datatype, MPI_Op, MPI_Win window) {
    moved(record, bytes_of(count, type), target, window);
  }
  void after(Record& record, int, const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
             MPI_Datatype, MPI_Op, MPI_Win window, MPI_Request* request) {
    moved(record, bytes_of(count, type), target, window, request);
  }
  // Get_accumulate: with MPI_NO_OP nothing goes there
  void after(Record& record, int, const void*, Count, MPI_Datatype, void*, Count count, MPI_Datatype type,
             int target, MPI_Aint, Count, MPI_Datatype, MPI_Op, MPI_Win window) {
    moved(record, bytes_of(count, type), target, window);
  }
  void after(Record& record, int, const void*, Count, MPI_Datatype, void*, Count count, MPI_Datatype type,
             int target, MPI_Aint, Count, MPI_Datatype, MPI_Op, MPI_Win window, MPI_Request* request) {
    moved(record, bytes_of(count, type), target, window, request);
  }
  // Fetch_and_op
  void after(Record& record, int, const void*, void*, MPI_Datatype type, int target, MPI_Aint, MPI_Op,
             MPI_Win window) {
    moved(record, bytes_of(1, type), target, window);
  }
  // Compare_and_swap
  void after(Record& record, int, const void*, const void*, void*, MPI_Datatype type, int target, MPI_Aint,
             MPI_Win window) {
    moved(record, bytes_of(1, type), target, window);
  }

 private:
  static void moved(Record& record, std::int64_t bytes, int target, MPI_Win window,
                    MPI_Request* request = nullptr) {
    record.peer = rank_of(target);
    record.bytes = target == MPI_PROC_NULL ? 0 : bytes;
    if (request != nullptr) record.request = recorder().open(*request, false);
    if (set_window(record, window)) recorder().append(record);
  }
};

template <Op op>
requires(info(op).verb == Verb::fence) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(int&, MPI_Win&) {}
  void before(MPI_Win*& window) { handle = *window; }

  void after(Record& record, int, int, MPI_Win window) {
    if (set_window(record, window)) recorder().append(record);
  }
  void after(Record& record, int, MPI_Win*) {
    if (set_window(record, handle)) recorder().append(record);
    recorder().forget_window(handle);
  }
  MPI_Win handle;
};

/// Beginnings and ends of epochs that name a group. Their ends know it from the beginning.
template <Op op>
requires(info(op).items == Items::ranks) struct Handler<op> {
  static constexpr bool sees_failures = false;
  static constexpr bool exposes = info(op).verb == Verb::expose || info(op).verb == Verb::retract;
  void before(auto&...) {}

  void after(Record& record, int, MPI_Group group, int, MPI_Win handle) {
    if (Window* window = recorder().window(handle)) ranks(*window) = Recorder::world_ranks(group);
    after(record, MPI_SUCCESS, handle);
  }
  void after(Record& record, int, MPI_Win handle) {
    Window* window = recorder().window(handle);
    if (window == nullptr) return;
    record.communicator = window->communicator.id;
    recorder().append(record, std::span<const std::int64_t>(ranks(*window)));
  }
  void after(Record& record, int, MPI_Win handle, int* flag) {
    if (*flag != 0) return after(record, MPI_SUCCESS, handle);
    if (set_window(record, handle)) recorder().append_poll(record);
  }

 private:
  static std::vector<std::int64_t>& ranks(Window& window) {
    return exposes ? window.exposed_to : window.accessed;
  }
};

template <Op op>
requires(info(op).verb == Verb::lock || info(op).verb == Verb::flush ||
         info(op).verb == Verb::flush_local) struct Handler<op> {
  static constexpr bool sees_failures = false;
  void before(auto&...) {}

  void after(Record& record, int, int, int target, int, MPI_Win window) {
    after(record, MPI_SUCCESS, target, window);
  }
  void after(Record& record, int, int target, MPI_Win window) {
    record.peer =
        op == Op::Win_lock_all ? spool::no_rank : rank_of(target);  // its first argument is an assertion
    after(record, MPI_SUCCESS, window);
  }
  void after(Record& record, int, MPI_Win window) {
    if (set_window(record, window)) recorder().append(record);
  }
};

}  // namespace simreplay::recorder
