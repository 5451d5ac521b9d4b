#pragma once
// Processes whose threads call MPI at the same time. Their calls stand in the trace in the order in which
// they ended. A call begins, here as there, after all calls that had ended when it began; beyond that the
// threads run free of each other, so that one may answer what another waits for.

#include <algorithm>

#include "common/error.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay::engine {
constexpr std::size_t remembered_calls = std::size_t{1} << 16;  // `overlaps` has 16 bits

template <class Clock>
TimePoint& latest_leave(Threads<Clock>& threads, std::uint64_t call) {
  return threads.latest_leaves[call % remembered_calls];
}

/// From here on the process has more threads than the one that it had so far.
template <class Clock>
void Engine<Clock>::part_into_threads(VirtualProcessor& v) requires(is_single) {
  if (as_recorded_)
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .operation = "as-recorded",
                 .expected = "one thread that calls MPI",
                 .found = "several"});
  v.threads = std::make_unique<Threads>();
  awaited_[v.number] = anything;
  v.threads->latest_leaves.assign(remembered_calls, v.main.now);
  v.threads->settled = v.next_row - v.first_call;
  Thread& first = v.threads->all.emplace_back();
  static_cast<Lane&>(first) = v.main;
  first.has_begun = true;
  first.computation = v.account.computation;
  first.slowdown = v.slowdown;
}

/// What is known of the process as a whole is that of this thread from here on.
template <class Clock>
void Engine<Clock>::take_up(VirtualProcessor& v, const Thread& thread) const requires(is_single) {
  v.entered = thread.entered;
  if (observed_.empty()) return;
  v.slowdown = thread.slowdown;
  v.computation_of_others = v.account.computation - thread.computation;
  v.row_of_thread = thread.row;
}

template <class Clock>
void Engine<Clock>::put_down(const VirtualProcessor& v, Thread& thread) const requires(is_single) {
  if (observed_.empty()) return;
  thread.slowdown = v.slowdown;
  thread.computation = v.account.computation - v.computation_of_others;
}

/// As far as possible: first what waited, then the next calls of threads that are not in one.
template <class Clock>
void Engine<Clock>::run_threads(VirtualProcessor& v) requires(is_single) {
  Threads& t = *v.threads;
  t.leaves.resize(std::max<std::size_t>(t.leaves.size(), v.window.rows));
  // Those that wait come first, again after each call: it may have sent what they wait for.
  for (bool any = true; any;) {
    any = go_on_inside(v);
    settle(v);
    any = (v.row < v.window.rows && begin_call(v)) || any;
  }
  settle(v);
  v.main.blocked = Blocked::no;
  if (!t.inside.empty()) {  // for the report, should it never end
    v.main.blocked = t.all[t.inside.front()].blocked;
    v.main.blocked_on = t.all[t.inside.front()].blocked_on;
  } else if (v.row == v.window.rows) {
    make_ready(v);
  }
}

/// True if a call came to its end.
template <class Clock>
bool Engine<Clock>::go_on_inside(VirtualProcessor& v) requires(is_single) {
  Threads& t = *v.threads;
  return std::erase_if(t.inside, [&](std::uint32_t number) { return go_on(v, t.all[number]); }) > 0;
}

/// False where the next call of the window has to wait for others to end.
template <class Clock>
bool Engine<Clock>::begin_call(VirtualProcessor& v) requires(is_single) {
  Threads& t = *v.threads;
  const std::uint16_t signature = v.window.signature[v.row];
  const std::uint16_t number = !v.facts || v.facts->thread.empty() ? 0 : v.facts->thread[signature];
  const std::uint32_t overlaps = !v.facts || v.facts->overlaps.empty() ? 0 : v.facts->overlaps[signature];
  if (t.all.size() <= number) t.all.resize(number + std::size_t{1});
  Thread& thread = t.all[number];
  if constexpr (Clock::is_ordered)
    if (!thread.has_begun) thread.messages = MessageId::first_of_lane(number);
  const bool all_before_are_over = t.inside.empty() || t.all[t.inside.front()].row + overlaps >= v.row;
  if (thread.is_inside || !all_before_are_over) return false;

  // The call before the overlapping ones; it is settled, for none of those inside stands before it.
  const std::uint64_t call = v.window.first_row + v.row - v.first_call;
  const TimePoint bound = call > overlaps ? latest_leave(t, call - overlaps - 1) : TimePoint{};
  if (!thread.has_begun) {
    thread.now = thread.began = bound;
    thread.slowdown = slowdown_of(v.process);
  }
  thread.has_begun = true;
  take_up(v, thread);
  thread.now = std::max(thread.now + computation_before(v, v.calls[signature], v.row, thread.now), bound);
  put_down(v, thread);
  thread.entered = thread.now;
  thread.step = v.calls[signature].first;
  thread.row = v.row++;
  thread.is_inside = true;
  if (!go_on(v, thread)) t.inside.push_back(number);
  settle(v);
  return true;
}

template <class Clock>
bool Engine<Clock>::go_on(VirtualProcessor& v, Thread& thread) requires(is_single) {
  const std::uint16_t signature = v.window.signature[thread.row];
  const std::uint32_t end = v.calls[signature + 1U].first;
  take_up(v, thread);
  const bool is_over = run_steps(v, thread, {v.slots.data(), v.slots.size()},
                                 {v.steps.data(), v.steps.size()}, thread.step, end, thread.row);
  put_down(v, thread);
  if (!is_over) return false;
  v.account.messages += v.calls[signature].messages();
  if (rewritten_) note_duration(v, thread.row, thread.now - thread.entered);
  v.threads->leaves[thread.row] = thread.now;
  thread.step = between_calls;
  thread.is_inside = false;
  return true;
}

/// Notes the latest end of calls up to the first that is not over.
template <class Clock>
void Engine<Clock>::settle(VirtualProcessor& v) requires(is_single) {
  Threads& t = *v.threads;
  std::uint32_t end = v.row;
  for (const std::uint32_t number : t.inside) end = std::min(end, t.all[number].row);
  const std::uint64_t first = v.window.first_row - v.first_call;
  for (std::uint64_t call = std::max(t.settled, first); call < first + end; call++) {
    const TimePoint before = call > 0 ? latest_leave(t, call - 1) : TimePoint{};
    latest_leave(t, call) = std::max(before, t.leaves[call - first]);
  }
  t.settled = std::max(t.settled, first + end);
}

}  // namespace simreplay::engine
