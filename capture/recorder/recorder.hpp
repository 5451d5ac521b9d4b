#pragma once
// The recorder of this process: what it knows about the program's handles, and its spool.

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "capture/recorder/handle_map.hpp"
#include "capture/recorder/next.hpp"
#include "capture/recorder/spool_writer.hpp"
#include "common/mpi_ops.hpp"
#include "common/trace/format.hpp"

namespace simreplay::recorder {

using spool::Completion;
using spool::Record;

/// A communicator of the program as this process sees it.
struct Communicator {
  std::int32_t id = 0;
  int rank = 0;
  int peers = 0;  // number of ranks that calls address: of the remote group of an intercommunicator
};

struct OpenRequest {
  std::uint32_t id = 0;
  bool receives = false;
  bool cancel_called = false;
};

class Recorder {
 public:
  constexpr Recorder() = default;

  bool is_on() const { return state_.load(std::memory_order_relaxed) == State::on; }
  bool is_waiting() const { return state_.load(std::memory_order_relaxed) == State::waiting; }

  /// The recorder was loaded: the origin of times.
  void load();
  /// MPI runs now: makes the spool. Our own cost is measured with a call that does nothing. `init` is the
  /// call that started MPI, if it was seen.
  void start(void (*call_that_does_nothing)(), Record* init);
  /// MPI has ended; from here on no MPI function is called.
  void finalize();
  /// The process leaves in an orderly way.
  void leave();
  /// A child made by fork() shares the spool's memory and must not touch it.
  void forget_in_child();

  // The program's handles.

  const Communicator& communicator(MPI_Comm handle) {
    if (handle != last_handle_) [[unlikely]] {
      last_ = find_communicator(handle);
      last_handle_ = handle;
    }
    return last_;
  }
  /// Introduces a communicator that `creator` made; returns its id.
  std::int32_t learn(MPI_Comm handle, Op creator);
  void forget(MPI_Comm handle);

  std::uint32_t open(MPI_Request handle, bool receives) {
    requests_.push(handle, {++last_request_, receives, false});
    return last_request_;
  }
  std::optional<OpenRequest> close(MPI_Request handle) { return requests_.pop(handle); }
  OpenRequest* find(MPI_Request handle) { return requests_.find(handle); }

  void hold(MPI_Message handle, std::int32_t communicator_id) { messages_.push(handle, communicator_id); }
  std::optional<std::int32_t> release(MPI_Message handle) { return messages_.pop(handle); }

  // Records.

  template <class Item>
  void append(Record& record, std::span<const Item> items) {
    static_assert(sizeof(Item) % sizeof(std::int64_t) == 0);
    record.items = static_cast<std::uint32_t>(items.size_bytes() / sizeof(std::int64_t));
    std::byte* place = spool_.reserve(sizeof record + items.size_bytes());
    last_poll_ = nullptr;
    if (place == nullptr) [[unlikely]]
      return stop();
    std::memcpy(place, &record, sizeof record);
    if (!items.empty()) std::memcpy(place + sizeof record, items.data(), items.size_bytes());
    spool_.publish(sizeof record + items.size_bytes());
  }
  void append(Record& record) { append(record, std::span<const std::int64_t>()); }

  /// A test or probe that found nothing. Those that follow each other closely become one record.
  void append_poll(Record& record);

  /// Held while handles or spool are touched, if the program's threads call MPI at the same time.
  class Lock {
   public:
    explicit Lock(Recorder& recorder) : recorder_(recorder.threads_ ? &recorder : nullptr) {
      if (recorder_ == nullptr) [[likely]]
        return;
      while (recorder_->busy_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() {
      if (recorder_ != nullptr) recorder_->busy_.clear(std::memory_order_release);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Recorder* recorder_;
  };

 private:
  enum class State : std::uint8_t { waiting, on, off };

  bool make_spool();
  void measure_overhead(void (*call_that_does_nothing)());
  Communicator find_communicator(MPI_Comm handle);
  void append_own_time(std::int64_t since);
  void stop() { state_.store(State::off, std::memory_order_relaxed); }

  std::atomic<State> state_ = State::waiting;
  bool threads_ = false;
  std::atomic_flag busy_;
  pid_t process_ = 0;
  std::int64_t started_ = 0, loaded_ = 0;

  MPI_Comm last_handle_{};
  Communicator last_;
  std::int32_t next_communicator_ = 2;
  std::uint32_t last_request_ = 0;
  HandleMap<MPI_Comm, Communicator> communicators_;
  HandleMap<MPI_Request, OpenRequest> requests_;
  HandleMap<MPI_Message, std::int32_t> messages_;

  SpoolWriter spool_;
  Record* last_poll_ = nullptr;  // the last record of the window if it is a poll
};

/// The one recorder. Its destructor never runs: programs call MPI from destructors of their own.
union OnlyRecorder {
  Recorder value;
  constexpr OnlyRecorder() : value() {}
  ~OnlyRecorder() {}
};
extern constinit OnlyRecorder only_recorder;
inline Recorder& recorder() { return only_recorder.value; }

}  // namespace simreplay::recorder
