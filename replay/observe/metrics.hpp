#pragma once
// Regions, counters and timers of one process on the predicted machine (docs/metrics.md): what its marks add
// up to. All of it belongs to threads: those of a process have times of their own, and which of them comes
// first would depend on how the replay is dealt to ranks.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/region_stack.hpp"
#include "common/trace/format.hpp"

namespace simreplay::observe {

__extension__ using Wide = __int128;

/// A call of simcapture.h, or a boundary of an MPI call with a timer of its own.
struct Mark {
  Op op = Op::count;
  std::uint16_t thread = 0;
  std::int32_t metric = 0;
  std::int64_t value = 0;  // of a counter, or how much it grows; the counter of a predicate
};

/// How far a thread is; times in ps. Also the difference of two of them.
struct Moment {
  std::int64_t time = 0, computation = 0, waiting = 0;
  std::int64_t recorded_time = 0, recorded_computation = 0;

  std::int64_t communication() const { return time - computation - waiting; }
  Moment& operator+=(const Moment& m);
  friend Moment operator-(Moment a, const Moment& b);
};

/// What one metric came to in one process; several threads are added up. Sent to rank 0 as it is.
struct Row {
  std::int32_t process = 0, metric = 0;
  std::int32_t counter =
      -1;                  // of a predicate: the row is of the timer `metric` while this counter is positive
  std::int64_t times = 0;  // entries of a region, changes of a counter, starts of a timer
  Moment sum{};            // inside of the region; while the timer ran; since the first change of the counter
  std::int64_t last = 0, least = INT64_MAX, most = INT64_MIN;  // of a counter
  Wide area = 0;                                               // of a counter: value times ps
};

/// A region or timer that does not begin and end in pairs.
struct Complaint {
  Unpaired fault = Unpaired::not_begun;
  std::int32_t metric = 0;
  std::uint64_t call = 0;  // index within the process
};

class Metrics {
 public:
  /// `metrics` of the trace.
  explicit Metrics(std::size_t metrics = 0) : metrics_(metrics) {}

  /// From here on, also in threads that did not say so.
  void add_predicate(std::int32_t timer, std::int32_t counter);
  /// The next mark of its thread, made in call `call` of the process.
  void mark(const Mark& mark, const Moment& at, std::uint64_t call);
  /// The thread has come to its end. What is open is closed; `complete` if that should not have been open.
  void finish(std::uint16_t thread, const Moment& at, bool complete);

  /// The regions that the thread is in, from the outermost to the innermost.
  using Regions = RegionStack<std::uint64_t>;
  const Regions& regions(std::uint16_t thread) { return threads_[thread].regions; }

  /// Of the metrics that were used, ascending; predicates stand behind their timers.
  std::vector<Row> rows(std::int32_t process) const;
  /// The first in the order of calls, and how many there are.
  std::vector<Complaint> complaints() const;
  std::int64_t number_of_complaints() const { return number_of_complaints_; }

 private:
  /// Goes on and off. Where it begins inside of itself it just goes on.
  struct Interval {
    std::int64_t depth = 0;
    Moment since{}, sum{};
    void begin(const Moment& at);
    void end(const Moment& at);
  };
  struct Level {
    std::int64_t value = 0, least = INT64_MAX, most = INT64_MIN;
    Wide area = 0;
    Moment since{}, sum{};
    bool is_known = false;
    void change(std::int64_t to, const Moment& at);
    void go_on(const Moment& at);
  };
  struct State {
    std::int64_t times = 0;
    Interval interval;                  // of a region or timer
    std::vector<std::uint64_t> starts;  // of a timer: the calls that were not followed by a stop
    Level level;                        // of a counter
  };
  struct Predicate {
    std::int32_t timer, counter;
    friend bool operator==(const Predicate&, const Predicate&) = default;
  };
  struct Thread {
    Regions regions;
    std::vector<State> states;   // by metric
    std::vector<Interval> both;  // by predicate: the timer runs and the counter is above 0
    State& state(std::int32_t metric) { return states[static_cast<std::size_t>(metric)]; }
  };

  Thread& thread(std::uint16_t number);
  void follow_predicates(Thread& t, const Moment& at) const;
  void complain(Unpaired fault, std::int32_t metric, std::uint64_t call);
  void end_region(Thread& t, std::int32_t region, const Moment& at, std::uint64_t call);
  void stop_timer(Thread& t, std::int32_t timer, const Moment& at, std::uint64_t call);

  std::size_t metrics_;
  std::vector<Predicate> predicates_;
  std::map<std::uint16_t, Thread> threads_;
  std::map<std::uint64_t, Complaint> complaints_;  // by call
  std::int64_t number_of_complaints_ = 0;
};

}  // namespace simreplay::observe
