#pragma once
// One recorded process while it is replayed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/huge_pages.hpp"
#include "common/trace/format.hpp"
#include "common/units.hpp"
#include "replay/engine/clock.hpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/window.hpp"

namespace simreplay::engine {

/// A request of the process. An eager send is over at once; others complete when their message or answer
/// comes.
template <class Clock>
struct Slot {
  // Beside the class of cost of its message: how far it is. Nothing of this: the message is there.
  static constexpr std::uint32_t pending = cost_classes_at_most;
  static constexpr std::uint32_t matched =
      2 * cost_classes_at_most;                                    // there, after it had asked for a receive
  static constexpr std::uint32_t over = 4 * cost_classes_at_most;  // no message, nothing to pay
  static constexpr std::uint32_t in_file = over + pending;         // takes as long as the wait for it took
  static constexpr std::uint32_t rare = pending;                   // all of these are not below it

  typename Clock::Time time{};  // while pending: when it was posted; then: when the message was there for it
  std::uint32_t state_and_cost = over;
  std::uint32_t channel = 0;
  [[no_unique_address]] typename Clock::Way way{};  // of its message
  bool is_pending() const { return (state_and_cost & ~(cost_classes_at_most - 1)) == pending; }
  std::uint32_t cost() const { return state_and_cost & (cost_classes_at_most - 1); }
};

/// What it adds up to. The parts are those of T = T_comp + T_comm + T_idle.
template <class Clock>
struct AccountOf {
  typename Clock::Span computation{}, waiting{};
  typename Clock::Span elapsed{};  // of all threads together
  typename Clock::Time end{};
  Duration recorded{};
  std::int64_t calls = 0, messages = 0;
  std::int32_t threads = 1;  // that call MPI
  typename Clock::Span communication() const { return elapsed - computation - waiting; }
};
using Account = AccountOf<OneMachine>;

enum class Blocked : std::uint8_t { no, on_channel, on_slot, on_accesses };
/// What runs through steps: the process itself, or a collective that it has started.
template <class Clock>
struct Lane : Clock::Count {
  typename Clock::Time now{};
  std::array<typename Clock::Time, 2>
      adapters{};  // inwards, outwards: free for the next message from then on
  typename Clock::Span waiting{};
  Blocked blocked = Blocked::no;
  std::uint32_t blocked_on = 0;  // channel or slot
  std::uint32_t slot_tag = 0;    // added to its slots where others name them
  std::uint32_t waited = 0;      // slots of the step at hand that are done
};

/// A non-blocking collective goes on beside its process, as if by hardware. Those of one communicator follow
/// each other, so that their messages meet in order.
template <class Clock>
struct Strand : Lane<Clock> {
  std::uint32_t communicator = 0;
  std::uint32_t request = no_slot;  // slot of the process that it completes
  std::uint32_t step = 0;
  bool active = false;
  std::vector<Step> steps;
  std::vector<Slot<Clock>> slots;
};

/// When the last strand of a communicator ended.
template <class Clock>
struct StrandEnd {
  std::uint32_t communicator;
  typename Clock::Time time{};
};

/// Slots of strands have this bit, the number of the strand, and their own number.
constexpr std::uint32_t of_strand = 1U << 31;
constexpr unsigned strand_shift = 21;
constexpr std::uint32_t most_strands = of_strand >> strand_shift, strand_slot_mask = (1U << strand_shift) - 1;

/// When the accesses of a process to a window are over.
template <class Clock>
struct Accesses {
  std::uint32_t window;
  std::uint32_t under_way = 0, under_way_here = 0;  // across a network; of these, those that bring data here
  typename Clock::Time done{}, done_here{};
};

constexpr std::uint32_t between_calls = ~std::uint32_t{0};

/// One of several threads that call MPI. What they do depends on the machine, so they have one.
template <class Clock>
struct Thread : Lane<Clock> {
  TimePoint began{}, entered{};
  Duration computation{};  // its part of the process's
  const Ratio* slowdown = nullptr;
  std::uint32_t step = between_calls;
  std::uint32_t row = 0;   // of its call
  bool is_inside = false;  // of a call that waits for something
  bool has_begun = false;
};

template <class Clock>
struct Threads {
  std::vector<Thread<Clock>> all;
  std::vector<std::uint32_t> inside;     // threads in calls, by row
  std::vector<TimePoint> latest_leaves;  // of all calls up to each of the last ones, as a ring
  std::uint64_t settled = 0;             // calls that have entries there: all before are over
  std::vector<TimePoint> leaves;         // by row of the window
};

/// Collectives beside a process and its accesses to windows; most have none.
template <class Clock>
struct Beside {
  std::vector<Strand<Clock>> strands;
  std::vector<std::uint32_t> order;  // of the active strands
  std::vector<StrandEnd<Clock>> strand_ends;
  std::vector<Accesses<Clock>> accesses;
  // Of the last probe: the channel of the message that it found when it was recorded, and that it finds now.
  std::uint32_t found_then = no_channel, found_now = no_channel;
};

/// What every call touches comes first, so that it lies on few cache lines.
template <class Clock>
struct alignas(64) VirtualProcessor {
  Lane<Clock> main;
  std::uint32_t row = 0;  // in the window
  std::uint32_t step = between_calls;
  std::uint32_t number = 0;  // among those of the rank
  bool queued = false;       // stands in the list of those that are ready
  bool finished = false;
  bool is_cut = false;                  // the records end before MPI_Finalize
  std::int64_t overhead_before_ps = 0;  // cost of recording in the gap before the next call
  typename Clock::Time entered{};
  Window window;
  Growing<Call> calls;
  Growing<Step> steps;
  Growing<Slot<Clock>> slots;
  const typename Clock::Slowdown* slowdown = nullptr;  // time here per recorded time of computation
  const Overheads* overhead_ps = nullptr;
  std::unique_ptr<Beside<Clock>> beside;
  std::unique_ptr<Threads<Clock>> threads;  // where there are several
  AccountOf<Clock> account;

  std::int32_t process = 0;
  std::uint32_t row_of_thread = 0;      // of its call
  Duration computation_of_others{};     // threads than the one at hand
  std::unique_ptr<ProgramFacts> facts;  // where they are needed again and again
  std::uint64_t next_row = 0;           // in /calls: the first that is not in the window
  std::uint64_t segment_end = 0;        // row after the last of the segment at hand
  std::uint64_t next_segment = 0, end_segment = 0;
  std::uint64_t first_call = 0;  // row of the process's first call
  std::uint32_t signatures = 0;  // of the segment at hand

  bool has_strands() const { return beside && !beside->order.empty(); }
  Beside<Clock>& others() {
    if (!beside) beside = std::make_unique<Beside<Clock>>();
    return *beside;
  }
};

/// Asks for what the processor will work on, before its turn comes: first the processor itself, then what it
/// points to.
template <class Clock>
void prefetch(const VirtualProcessor<Clock>& v) {
  const auto* const from = reinterpret_cast<const char*>(&v);
  const auto* const to = reinterpret_cast<const char*>(&v.process);
  for (const char* line = from; line < to; line += 64) __builtin_prefetch(line);
}
template <class Clock>
void prefetch_work(const VirtualProcessor<Clock>& v) {
  constexpr std::size_t lines_of_calls = 2, lines_of_steps = 4, lines_of_slots = 4;
  __builtin_prefetch(v.window.signature + v.row);
  __builtin_prefetch(v.window.computation + v.row);
  __builtin_prefetch(v.window.computation + v.row + 8);
  const char* const calls = reinterpret_cast<const char*>(v.calls.data());
  const char* const steps = reinterpret_cast<const char*>(v.steps.data());
  const char* const slots = reinterpret_cast<const char*>(v.slots.data());
  for (std::size_t i = 0; i < lines_of_calls; i++) __builtin_prefetch(calls + 64 * i);
  for (std::size_t i = 0; i < lines_of_steps; i++) __builtin_prefetch(steps + 64 * i);
  for (std::size_t i = 0; i < lines_of_slots; i++) __builtin_prefetch(slots + 64 * i, 1);
}

}  // namespace simreplay::engine
