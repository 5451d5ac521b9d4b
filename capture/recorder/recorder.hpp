#pragma once
// The recorder of this process: what it knows about the program's handles, and its spool.

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capture/recorder/handle_map.hpp"
#include "capture/recorder/marks.hpp"
#include "capture/recorder/next.hpp"
#include "capture/recorder/selection.hpp"
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
  int size = 0;   // of the own group
  int peers = 0;  // number of ranks that calls address: of the remote group of an intercommunicator
};

struct OpenRequest {
  std::uint32_t id = 0;
  bool receives = false;
  bool cancel_called = false;
  bool left_out = false;      // the call that opened it is not recorded
  MPI_Comm* makes = nullptr;  // MPI_Comm_idup: where the communicator will stand
  std::int32_t made_id = 0;
};

/// What each start of a persistent request sends or receives.
struct PersistentRequest {
  StartMode mode = starts_send;
  std::uint16_t flags = 0;
  std::int32_t communicator = 0, peer = 0, tag = 0;
  std::int64_t bytes = 0;
  OpenRequest active{};  // id 0: not started
};

struct Window {
  Communicator communicator;
  std::vector<std::int64_t> exposed_to,
      accessed;  // world ranks of the epochs that MPI_Win_post and _start opened
};

class Recorder {
 public:
  constexpr Recorder() = default;

  bool is_on() const { return state_.load(std::memory_order_relaxed) == State::on; }
  /// Whether calls of this thread are recorded. Where MPI allows only the main thread to communicate, others
  /// at most ask for the time.
  bool hears(const void* thread) const {
    return is_on() && (only_thread_ == nullptr || only_thread_ == thread);
  }
  /// Marks count to the end of the process.
  bool hears_mark(const void* thread) const {
    return (is_on() || has_ended()) && (only_thread_ == nullptr || only_thread_ == thread);
  }
  bool is_waiting() const { return state_.load(std::memory_order_relaxed) == State::waiting; }
  bool has_ended() const { return state_.load(std::memory_order_relaxed) == State::ended; }
  bool is_off() const { return state_.load(std::memory_order_relaxed) == State::off; }

  /// The recorder was loaded: the origin of times.
  void load();
  /// MPI runs now: makes the spool. `init` is the call that started MPI, if it was seen; `thread` makes it.
  void start(Record* init, const void* thread);
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
  /// Introduces a communicator that is being made: a duplicate. bind() names its handle later.
  std::int32_t learn_duplicate(MPI_Comm original, Op creator);
  void bind(MPI_Comm handle, std::int32_t id);
  void forget(MPI_Comm handle);

  std::uint32_t next_request() { return ++last_request_ != 0 ? last_request_ : ++last_request_; }
  std::uint32_t open(MPI_Request handle, bool receives) {
    open(handle, new_request(receives));
    return last_request_;
  }
  void open(MPI_Request handle, const OpenRequest& request) { requests_.push(handle, request); }
  OpenRequest new_request(bool receives) {
    return {.id = next_request(),
            .receives = receives,
            .left_out = selection_ != nullptr && !selection_->records()};
  }
  /// False if the start of the request was left out, so that nobody knows it.
  bool is_known(const OpenRequest& request, const Completion& completion) {
    if (!request.left_out) [[likely]]
      return true;
    selection_->complete(completion);
    return false;
  }
  std::optional<OpenRequest> close(MPI_Request handle) {
    if (auto request = requests_.pop(handle)) return request;
    PersistentRequest* persistent = persistent_.find(handle);
    if (persistent == nullptr || persistent->active.id == 0) return std::nullopt;
    return std::exchange(persistent->active, {});
  }
  OpenRequest* find(MPI_Request handle) {
    if (OpenRequest* request = requests_.find(handle)) return request;
    PersistentRequest* persistent = persistent_.find(handle);
    return persistent == nullptr || persistent->active.id == 0 ? nullptr : &persistent->active;
  }
  void prepare(MPI_Request handle, const PersistentRequest& request) { persistent_.push(handle, request); }
  PersistentRequest* persistent(MPI_Request handle) { return persistent_.find(handle); }
  void forget_persistent(MPI_Request handle) { persistent_.pop(handle); }

  /// Introduces a window over the group of `comm`; returns its id.
  std::int32_t learn_window(MPI_Win handle, MPI_Comm comm, Op creator);
  Window* window(MPI_Win handle) { return windows_.find(handle); }
  void forget_window(MPI_Win handle) { windows_.pop(handle); }

  /// Neighbours in the topology of a communicator as ranks in it: where messages go, and whence they come.
  struct Neighbors {
    std::vector<int> destinations, sources;
  };
  static Neighbors neighbors(MPI_Comm comm);
  /// Ranks in MPI_COMM_WORLD.
  static std::vector<std::int64_t> world_ranks(MPI_Group group);

  void hold(MPI_Message handle, std::int32_t communicator_id) { messages_.push(handle, communicator_id); }
  std::optional<std::int32_t> release(MPI_Message handle) { return messages_.pop(handle); }

  // Records.

  template <class Item>
  void append(Record& record, std::span<const Item> items) {
    static_assert(sizeof(Item) % sizeof(std::int64_t) == 0);
    if (selection_ != nullptr && !selection_->records() &&
        record.kind < static_cast<std::uint16_t>(Op::count)) [[unlikely]] {
      last_fold_ = nullptr;
      if (selection_->leave_out(record, std::as_bytes(items))) return;
    }
    if (calling_thread_ != last_thread_) [[unlikely]]
      append_thread();
    const bool timed = clock_ != spool::wall_clock && record.kind < static_cast<std::uint16_t>(Op::count);
    const std::size_t bytes = sizeof record + items.size_bytes() + (timed ? sizeof(std::int64_t) : 0);
    record.items = static_cast<std::uint32_t>((bytes - sizeof record) / sizeof(std::int64_t));
    if (timed) record.flags |= spool::has_processor_time;
    std::byte* place = spool_.reserve(bytes);
    last_fold_ = nullptr;
    if (place == nullptr) [[unlikely]]
      return stop();
    std::memcpy(place, &record, sizeof record);
    if (!items.empty()) std::memcpy(place + sizeof record, items.data(), items.size_bytes());
    if (timed) [[unlikely]] {
      std::memcpy(place + bytes - sizeof(std::int64_t), &ProcessorTime::since_last_record,
                  sizeof(std::int64_t));
      ProcessorTime::since_last_record = 0;
    }
    spool_.publish(bytes);
  }
  void append(Record& record) { append(record, std::span<const std::int64_t>()); }

  /// A test or probe that found nothing. Those that follow each other closely become one record.
  void append_poll(Record& record);

  /// A call that involves no other process. Those that follow each other become one record, which says how
  /// long they took together.
  void append_local(Record& record) {
    if (last_fold_ != nullptr && last_fold_->kind == record.kind) [[likely]] {
      last_fold_->leave += record.leave - record.enter;
      last_fold_->bytes++;
      return;
    }
    record.bytes = 1;
    append_foldable(record);
  }

  /// A region, counter or timer of the program.
  Marks& marks() { return marks_; }
  void append_mark(Record& record);
  /// One that was left out and counts now, of the thread with this number.
  void append_mark_of(int thread, Record& record);

  /// A call was entered at this time: recording may begin or end with it.
  void pass(std::int64_t time) {
    if (selection_ != nullptr) [[unlikely]]
      selection_->pass(*this, time);
  }
  /// MPI_Pcontrol.
  void control(int level);
  /// The chosen span of time is over.
  void end_selection();

  /// Calls that do nothing, as if they were the program's, and what recording them costs. Their records are
  /// taken back.
  struct Trial {
    std::vector<std::int64_t> gaps;        // after each record but the last
    std::int64_t elapsed = 0, inside = 0;  // of all calls: from first to last, and as recorded
  };
  Trial trial(void (*calls)(), int times);

  /// Reads the processor's clock, where that is asked for, as the last before and as the first after a call.
  class ProcessorTime {
   public:
    explicit ProcessorTime(const Recorder& recorder) : clock_(recorder.clock_) {
      if (clock_ != spool::wall_clock) [[unlikely]]
        since_last_record += read(clock_) - left_;
    }
    ~ProcessorTime() {
      if (clock_ != spool::wall_clock) [[unlikely]]
        left_ = read(clock_);
    }
    ProcessorTime(const ProcessorTime&) = delete;
    ProcessorTime& operator=(const ProcessorTime&) = delete;
    static inline constinit thread_local std::int64_t since_last_record = 0;

   private:
    static std::int64_t read(spool::Clock clock);
    static inline constinit thread_local std::int64_t left_ = 0;
    spool::Clock clock_;
  };

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
  enum class State : std::uint8_t { waiting, on, ended, off };  // ended: MPI has, the process not yet

  bool make_spool();
  int thread_number();
  void append_thread();
  Communicator find_communicator(MPI_Comm handle);
  std::int32_t introduce(MPI_Comm members, Communicator& communicator, Op creator);
  void append_foldable(Record& record) {
    append(record);
    if (!is_on() || (selection_ != nullptr && !selection_->records())) return;
    last_fold_ =
        reinterpret_cast<Record*>(spool_.reserve(0) - sizeof record - record.items * sizeof(std::int64_t));
  }
  void append_own_time(std::int64_t since);
  void stop() { state_.store(State::off, std::memory_order_relaxed); }

  std::atomic<State> state_ = State::waiting;
  spool::Clock clock_ = spool::wall_clock;
  bool threads_ = false;               // more than one may communicate
  const void* only_thread_ = nullptr;  // else: the one that may
  int threads_seen_ = 0, last_thread_ = 0;
  static inline constinit thread_local int calling_thread_ = 0;
  std::atomic_flag busy_;
  pid_t process_ = 0;
  std::int64_t started_ = 0, loaded_ = 0;

  MPI_Comm last_handle_{};
  Communicator last_;
  std::int32_t next_communicator_ = 2;
  std::uint32_t last_request_ = 0;
  HandleMap<MPI_Comm, Communicator> communicators_;
  std::vector<Communicator> unbound_;  // introduced, but without a handle so far
  HandleMap<MPI_Request, OpenRequest> requests_;
  HandleMap<MPI_Message, std::int32_t> messages_;
  HandleMap<MPI_Request, PersistentRequest> persistent_;
  HandleMap<MPI_Win, Window> windows_;

  Marks marks_;
  Selection* selection_ = nullptr;  // where not all is recorded
  SpoolWriter spool_;
  Record* last_fold_ = nullptr;  // the last record of the window if others like it may be folded into it
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
