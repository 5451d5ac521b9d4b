#pragma once
// One recorded process while it is replayed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/trace/format.hpp"
#include "common/units.hpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/window.hpp"

namespace simreplay::engine {

inline TimePoint at(std::int64_t ps) { return TimePoint{Duration{ps}}; }
inline std::int64_t ps_of(TimePoint t) { return t.time_since_epoch().count(); }

/// A request of the process. An eager send is complete at once; others complete when their message or answer
/// comes.
struct Slot {
  static constexpr std::int64_t pending = -1;
  static constexpr std::int64_t in_file = -2;  // work on a file, which takes as long as the wait for it took
  std::int64_t arrival_ps = 0;
  std::int64_t time_ps =
      0;  // while pending: when it was posted; then: how long before the arrival the match was
  std::uint32_t cost = 0;
  std::uint32_t channel = 0;
};

/// What it adds up to. The parts are those of T = T_comp + T_comm + T_idle.
struct Account {
  Duration computation{}, waiting{}, recorded{};
  Duration elapsed{};  // of all threads together
  TimePoint end{};
  std::int64_t calls = 0, messages = 0;
  Duration communication() const { return elapsed - computation - waiting; }
};

/// What runs through steps: the process itself, or a collective that it has started.
struct Lane {
  enum class Blocked : std::uint8_t { no, on_channel, on_slot };
  TimePoint now{};
  TimePoint adapter_out{}, adapter_in{};  // free for the next message from then on
  Duration waiting{};
  Blocked blocked = Blocked::no;
  std::uint32_t blocked_on = 0;  // channel or slot
  std::uint32_t slot_tag = 0;    // added to its slots where others name them
  std::uint32_t waited = 0;      // slots of the step at hand that are done
};

/// A non-blocking collective goes on beside its process, as if by hardware. Those of one communicator follow
/// each other, so that their messages meet in order.
struct Strand : Lane {
  std::uint32_t communicator = 0;
  std::uint32_t request = no_slot;  // slot of the process that it completes
  std::uint32_t step = 0;
  bool active = false;
  std::vector<Step> steps;
  std::vector<Slot> slots;
};

/// When the last strand of a communicator ended.
struct StrandEnd {
  std::uint32_t communicator;
  TimePoint time{};
};

/// Slots of strands have this bit, the number of the strand, and their own number.
constexpr std::uint32_t of_strand = 1U << 31;
constexpr unsigned strand_shift = 21;
constexpr std::uint32_t most_strands = of_strand >> strand_shift, strand_slot_mask = (1U << strand_shift) - 1;

/// When the accesses of a process to a window are over.
struct Accesses {
  std::uint32_t window;
  TimePoint done{}, done_here{};
};

constexpr std::uint32_t between_calls = ~std::uint32_t{0};

/// One of several threads that call MPI.
struct Thread : Lane {
  TimePoint began{}, entered{};
  Duration computation{};  // its part of the process's
  Ratio slowdown;
  std::uint32_t step = between_calls;
  std::uint32_t row = 0;   // of its call
  bool is_inside = false;  // of a call that waits for something
  bool has_begun = false;
};

struct Threads {
  std::vector<Thread> all;
  std::vector<std::uint32_t> inside;     // threads in calls, by row
  std::vector<TimePoint> latest_leaves;  // of all calls up to each of the last ones, as a ring
  std::uint64_t settled = 0;             // calls that have entries there: all before are over
  std::vector<TimePoint> leaves;         // by row of the window
};

/// What every call touches comes first, so that it lies on few cache lines.
struct alignas(64) VirtualProcessor {
  Lane main;
  std::uint32_t row = 0;  // in the window
  std::uint32_t step = between_calls;
  bool queued = false;  // stands in the list of those that are ready
  bool finished = false;
  bool is_cut = false;                                    // the records end before MPI_Finalize
  trace::Recording recorded = trace::Recording::message;  // how the call before was
  TimePoint entered{};
  Window window;
  Program program;
  std::vector<Slot> slots;
  std::vector<std::uint32_t> order;  // of the active strands
  std::unique_ptr<Threads> threads;  // where there are several
  Ratio slowdown;                    // time here per recorded time of computation
  std::array<std::int64_t, trace::recording_kinds + 1> overhead_ps{};  // by trace::Recording; `free` too
  Account account;

  std::int32_t process = 0;
  Duration computation_of_others{};  // threads than the one at hand
  std::uint32_t row_of_thread = 0;   // of its call
  std::vector<Strand> strands;
  std::vector<StrandEnd> strand_ends;
  std::vector<Accesses> accesses;
  trace::Segment segment;
  std::uint64_t next_row = 0;  // in /calls: the first that is not in the window
  std::uint64_t next_segment = 0, end_segment = 0;
  std::uint64_t first_call = 0;  // row of the process's first call
};

/// Asks for what the processor will work on, before its turn comes: first the processor itself, then what it
/// points to.
inline void prefetch(const VirtualProcessor& v) {
  constexpr std::size_t hot = offsetof(VirtualProcessor, process);
  for (std::size_t at = 0; at < hot; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(&v) + at);
}
inline void prefetch_work(const VirtualProcessor& v) {
  constexpr std::size_t lines_of_steps = 4, lines_of_slots = 4;
  __builtin_prefetch(v.window.signature + v.row);
  __builtin_prefetch(v.window.computation + v.row);
  __builtin_prefetch(v.window.computation + v.row + 8);
  __builtin_prefetch(v.program.calls.data());
  const char* const steps = reinterpret_cast<const char*>(v.program.steps.data());
  const char* const slots = reinterpret_cast<const char*>(v.slots.data());
  for (std::size_t i = 0; i < lines_of_steps; i++) __builtin_prefetch(steps + 64 * i);
  for (std::size_t i = 0; i < lines_of_slots; i++) __builtin_prefetch(slots + 64 * i, 1);
}

}  // namespace simreplay::engine
