#pragma once
// Schedule, set-up and reading of the engine.

#include "replay/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <thread>

#include "common/error.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::engine {

constexpr std::size_t window_budget = 128U << 20;  // bytes of calls read ahead on a rank
constexpr std::size_t window_rows_at_least = 16;
// Looking for messages costs a system call where ranks outnumber processors. The more often there is none,
// the longer until the next look.
constexpr int fewest_turns = 16, most_turns = 256, turns_if_crowded = 4096;
// In the list of those that are ready; how much of what they will do; from where on it does not fit the
// cache.
constexpr std::size_t next_ahead = 1, near_ahead = 3, middle_ahead = 5, far_ahead = 8;
constexpr std::uint32_t calls_looked_at = 16;
constexpr std::size_t processors_in_cache = 2048;

/// Whether there are more ranks on this computer than processors.
inline bool outnumber_processors(MPI_Comm comm) {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  const auto ranks = static_cast<unsigned>(size_of(here));
  MPI_Comm_free(&here);
  return ranks > std::max(std::thread::hardware_concurrency(), 1U);
}

template <class Clock>
Engine<Clock>::Engine(const trace::Reader& trace, std::span<const Machine> machines, MPI_Comm comm,
                      trace::Rewriter* rewritten, Progress progress, network::Network* network)
    : trace_(trace),
      rewritten_(rewritten),
      progress_(std::move(progress)),
      comm_(comm),
      rank_(rank_in(comm)),
      ranks_(size_of(comm)),
      // Collective, so nothing that throws may come before.
      partition_(partition_of(trace, machines[0], comm, network)),
      exchange_(comm),
      ring_(comm),
      placements_(placements_on(machines, trace)),
      compiler_(trace, machines[0], placements_[0], *this, Clock::is_ordered),
      costs_(machines),
      noise_(machines[0]),
      as_recorded_(machines[0].as_recorded),
      is_special_(as_recorded_ || noise_.is_on()),
      tick_ps_(trace.facts().tick_ps),
      turns_between_looks_(fewest_turns),
      order_(comm, machines[0], network) {
  std::vector<Ratio> io;
  for (const Machine& machine : machines) io.push_back(machine.io_speedup.inverse());
  io_slowdown_ = Clock::slowdown(io);
  set_up();
}

template <class Clock>
std::vector<Placement> Engine<Clock>::placements_on(std::span<const Machine> machines,
                                                    const trace::Reader& trace) {
  std::vector<Placement> all;
  for (const Machine& machine : machines) all.emplace_back(machine, trace.facts().processes, trace.metrics());
  return all;
}

template <class Clock>
auto Engine<Clock>::slowdown_of(std::int32_t process) -> const typename Clock::Slowdown* {
  std::array<Ratio, Clock::machines> speedups;
  for (std::size_t m = 0; m < speedups.size(); m++) speedups[m] = placements_[m].speedup(process);
  return slowdown_at(speedups);
}

/// Processors of one speed share it.
template <class Clock>
auto Engine<Clock>::slowdown_at(std::array<Ratio, Clock::machines> speedups) -> const
    typename Clock::Slowdown* {
  std::array<std::uint64_t, 2 * Clock::machines> key{};
  for (std::size_t m = 0; m < speedups.size(); m++) {
    key[2 * m] = speedups[m].numerator();
    key[2 * m + 1] = speedups[m].denominator();
    speedups[m] = speedups[m].inverse();
  }
  return &slowdowns_.try_emplace(key, Clock::slowdown(speedups)).first->second;
}

/// Of a process; `first_calls` has one row more than there are.
inline std::size_t most_calls(std::span<const std::uint64_t> first_calls) {
  std::uint64_t most = 1;
  for (std::size_t i = 0; i + 1 < first_calls.size(); i++)
    most = std::max(most, first_calls[i + 1] - first_calls[i]);
  return most;
}

template <class Clock>
void Engine<Clock>::set_up() {
  // Read are those from `begin` on: its own, or all where these are scattered.
  const bool in_order = partition_.is_in_order();
  const std::int32_t first = partition_.first(rank_), count = partition_.count(rank_);
  const std::int32_t begin = in_order ? first : 0, read = in_order ? count : trace_.facts().processes;
  const auto rows = trace_.processes(begin, read);
  const auto first_calls = trace_.first_calls(begin, read),
             first_segments = trace_.first_segments(begin, read);
  recorded_ = trace_.recorded_ticks(begin, read);
  reads_durations_ = recorded_.empty() || rewritten_ || as_recorded_ || !trace_.metrics().empty();
  const auto processes = static_cast<std::size_t>(count);
  const std::size_t room =
      window_budget / WindowPool::row_bytes(reads_durations_) / std::max<std::size_t>(processes, 1);
  // Copies in large pieces are cheaper than new pages in memory, small ones are not.
  if (!rewritten_ && room < window_rows_at_most) mapped_ = trace_.map_calls();
  if (!mapped_) {
    // A power of two, so that windows and the chunks of a compressed file end together.
    rows_ = std::bit_floor(std::clamp(std::min(room, std::bit_ceil(most_calls(first_calls))),
                                      window_rows_at_least, window_rows_at_most));
    windows_ = WindowPool(processes, rows_);
  }
  announced_.resize(static_cast<std::size_t>(ranks_));
  processors_.resize(processes);
  if constexpr (Clock::is_observed) collector_ = observe::Collector(processes);
  slots_.resize(processes);
  is_large_ = processes > processors_in_cache;
  awaited_.assign(processes, nothing);
  for (std::size_t i = 0; i < processors_.size(); i++) {
    VirtualProcessor& v = processors_[i];
    v.process = partition_.process_at(first + static_cast<std::int32_t>(i));
    v.number = static_cast<std::uint32_t>(i);
    const auto row = static_cast<std::size_t>(v.process - begin);
    v.is_cut = rows[row].record == trace::Record::cut;
    Overheads overhead_ps{};
    std::ranges::copy(rows[row].overhead_ps, overhead_ps.begin());
    v.overhead_ps = &*overheads_.insert(overhead_ps).first;
    v.overhead_before_ps = overhead_ps[static_cast<std::size_t>(trace::Recording::message)];
    v.slowdown = slowdown_of(v.process);
    if constexpr (is_single)
      if (as_recorded_) v.main.now = start_of_shifts;
    v.first_call = first_calls[row];
    v.next_segment = first_segments[row];
    v.end_segment = first_segments[row + 1];
    own_calls_ += first_calls[row + 1] - first_calls[row];
    make_ready(v);
  }
  if (is_single && !trace_.metrics().empty())
    observed_.resize(processes,
                     {observe::RecordedTimes(tick_ps_), observe::Metrics(trace_.metrics().size())});
  add_skipped();
}

/// Messages that were under way when recording began: those that were sent before are there, those that had
/// been received are swallowed.
template <class Clock>
void Engine<Clock>::add_skipped() {
  for (const trace::Skipped& s : trace_.skipped()) {
    if (partition_.owner(s.destination) != rank_) continue;
    const std::uint32_t channel = channel_from({s.source, s.destination, s.communicator, s.tag});
    for (std::int64_t i = 0; i < s.messages; i++) deliver_batched(channel, {Time{}, Kind::eager});
    for (std::int64_t i = s.messages; i < 0; i++) swallow(channel);
  }
}

/// The next message goes to nobody.
template <class Clock>
void Engine<Clock>::swallow(std::uint32_t channel) {
  const PendingReceive nobody{0, no_slot};
  if constexpr (Clock::is_ordered)
    if (has_mailbox(channel)) return static_cast<void>(order_.mailboxes.receive(channel, nobody));
  channels_.push_receive(channel, nobody);
}

// --- the schedule -----------------------------------------------------------------------------------------
//
// Three tasks, in this order:
//   replay    run what is ready, until nothing is; records for other ranks leave in full batches meanwhile
//   flush     send what is left: other ranks may wait for it
//   take      deliver what has come; if that makes nothing ready, hand on the token and wait
// A rank that failed replays nothing more, but takes messages and passes the token, so that all ranks end.

template <class Clock>
Outcome Engine<Clock>::run() {
  is_crowded_ = outnumber_processors(comm_);
  if (is_crowded_) turns_between_looks_ = turns_if_crowded;
  if constexpr (Clock::is_ordered)
    return outcome(run_in_order());
  else
    return outcome(run_freely());
}

template <class Clock>
template <class Do>
void Engine<Clock>::guarded(Do&& what) {
  try {
    what();
    return;
  } catch (const NeedsSingleMachines& e) {
    needs_single_machines_ = true;
    failure_ = e.what();
  } catch (const std::exception& e) {
    failure_ = e.what();
  }
  ready_.clear();
}

/// False if it failed, on some rank.
template <class Clock>
bool Engine<Clock>::run_freely() {
  Ring::Verdict verdict = Ring::Verdict::going;
  while (verdict == Ring::Verdict::going) {
    guarded([this] { replay_ready(); });
    exchange_.flush();
    if (take_batches() && !ready_.empty()) continue;
    if (exchange_.comes_soon()) continue;
    verdict = ring_.pass(exchange_.balance(), !failure_.empty());
    if (verdict == Ring::Verdict::going) await_message();
  }
  return verdict == Ring::Verdict::ended;
}

template <class Clock>
void Engine<Clock>::replay_ready() {
  for (int turns = 0; !ready_.empty();) {
    VirtualProcessor& v = processor(ready_.front());
    ready_.pop_front();
    if (ready_.size() > far_ahead) look_ahead();
    v.queued = false;
    if (v.has_strands()) run_strands(v);
    run(v);
    if (ranks_ == 1 || ++turns < turns_between_looks_) continue;
    turns = 0;
    exchange_.flush();
    const bool any = take_batches();
    if (!is_crowded_)
      turns_between_looks_ = any ? fewest_turns : std::min(2 * turns_between_looks_, most_turns);
  }
}

/// Asks for what the next turns will work on, step by step of what points to what.
template <class Clock>
void Engine<Clock>::look_ahead() {
  prefetch(processor(ready_[far_ahead]));
  prefetch_work(processor(ready_[middle_ahead]));
  if (!is_large_) return;
  const auto each_channel = [this](std::size_t ahead, auto&& f) {
    const VirtualProcessor& v = processor(ready_[ahead]);
    const std::uint32_t end = std::min(v.row + calls_looked_at, v.window.rows);
    for (std::uint32_t row = v.row; row < end; row++) {
      const Step& s = v.steps[v.calls[v.window.signature[row]].first];
      if (s.code() <= Code::listen && !(s.channel & is_remote)) f(s.channel);
    }
  };
  each_channel(near_ahead, [this](std::uint32_t channel) { channels_.prefetch(channel); });
  each_channel(next_ahead, [this](std::uint32_t channel) {
    PendingReceive r;
    if (!channels_.find_receive(channel, r) || r.slot >= of_strand) return;
    __builtin_prefetch(&slots_[r.processor][r.slot], 1);
    __builtin_prefetch(&awaited_[r.processor]);
  });
}

template <class Clock>
bool Engine<Clock>::take_batches() {
  bool any = false;
  comes_first_ = true;
  while (exchange_.receive()) {
    any = true;
    ring_.received();
    if (!failure_.empty()) continue;
    exchange_.unpack(
        [this](const typename Exchange<Clock>::Announcement& a) {
          auto& known = announced_[static_cast<std::size_t>(a.rank)];
          known.resize(std::max<std::size_t>(known.size(), a.number + 1));
          known[a.number] = channel_from(a.envelope);
        },
        [this](int rank, std::uint32_t number, const Arrival& a) {
          deliver_batched(announced_[static_cast<std::size_t>(rank)][number], a);
        });
  }
  comes_first_ = false;
  return any;
}

template <class Clock>
void Engine<Clock>::await_message() {
  MPI_Request requests[2] = {exchange_.next_batch(), ring_.next_token()};
  int which = 0, done = 0;
  // Only asks: the requests stay with their owners. Each call yields where ranks outnumber processors.
  while (!done)
    for (which = 0; which < 2 && !done; which++)
      MPI_Request_get_status(requests[which], &done, MPI_STATUS_IGNORE);
}

// --- channels ---------------------------------------------------------------------------------------------

template <class Clock>
std::uint32_t Engine<Clock>::channel_from(const Envelope& e) {
  const std::uint32_t channel = channels_.open(e);
  channels_.set_processor(
      channel, static_cast<std::uint32_t>(partition_.place_of(e.destination) - partition_.first(rank_)));
  if constexpr (Clock::is_ordered)
    if (has_mailbox(channel)) order_.mailboxes.open(channel, e);
  return channel;
}

template <class Clock>
std::uint32_t Engine<Clock>::channel_to(const Envelope& e) {
  const int owner = partition_.owner(e.destination);
  return owner == rank_ ? channel_from(e) : exchange_.open(owner, e) | is_remote;
}

template <class Clock>
void Engine<Clock>::make_ready(VirtualProcessor& v) {
  if (v.queued) return;
  v.queued = true;
  // What other ranks wait for is at the rim between them: the sooner it leaves, the less they wait.
  if (comes_first_)
    ready_.push_front(v.number);
  else
    ready_.push_back(v.number);
}

// --- reading ahead ----------------------------------------------------------------------------------------

template <class Clock>
void Engine<Clock>::next_segment(VirtualProcessor& v) {
  const trace::Segment segment = trace_.segment(v.next_segment++);
  v.next_row = segment.first_call;
  v.segment_end = segment.first_call + segment.calls;
  v.signatures = static_cast<std::uint32_t>(segment.signatures);
  Program program = compiler_.compile(v.process, trace_.table(segment));
  costs_.extend(compiler_.costs().uses());
  v.calls.assign(arena_, program.calls);
  v.steps.assign(arena_, program.steps);
  v.slots.grow(arena_, program.slots);
  slots_[v.number] = v.slots.data();
  const bool has_threads = !program.thread.empty();
  v.facts.reset();
  if (has_threads || !program.marks.empty() || !observed_.empty() || Clock::is_observed)
    v.facts = std::make_unique<ProgramFacts>(std::move(program));
  if constexpr (is_single) {
    if (has_threads && !v.threads) part_into_threads(v);
    if (!observed_.empty()) add_predicates(v);
  } else if (has_threads) {
    throw NeedsSingleMachines();
  }
}

/// For messages.
template <class Clock>
std::string Engine<Clock>::name_of_call(const VirtualProcessor& v, std::size_t row) const {
  const std::uint16_t signature = v.window.signature[row];
  const trace::SignatureTable table = trace_.table(trace_.segment(v.next_segment - 1));
  return std::string(info(static_cast<Op>(table.operation[signature])).name);
}

/// Hands the finished window on and reads the next; false at the end of the trace.
template <class Clock>
bool Engine<Clock>::refill(VirtualProcessor& v) {
  Window& w = v.window;
  if (rewritten_ && w.rows > 0) rewritten_->calls(w.first_row, w.computations(), w.durations());
  done_calls_ += w.rows;
  if (latest(v.main.now) > time_limit)
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .problem = "the simulated time leaves its range of 53 days"});
  if (progress_)
    progress_(static_cast<double>(done_calls_) / static_cast<double>(std::max<std::uint64_t>(own_calls_, 1)),
              latest(v.main.now));

  while (v.next_row == v.segment_end && v.next_segment < v.end_segment) next_segment(v);
  const std::uint64_t left = v.segment_end - v.next_row;
  // Windows end where the chunks of the file do, so that none is decompressed twice.
  w.rows = static_cast<std::uint32_t>(std::min(left, rows_ - v.next_row % rows_));
  w.first_row = v.next_row;
  v.row = 0;
  if (w.rows == 0) {
    v.finished = true;
    end(v);
    return false;
  }
  read_window(v);
  if (reads_durations_) v.account.recorded += recorded_time(w);
  v.next_row += w.rows;
  v.account.calls += w.rows;
  if constexpr (is_single)
    if (!observed_.empty()) read_recorded_times(v);
  return true;
}

/// What of the window is read is checked.
template <class Clock>
void Engine<Clock>::read_window(VirtualProcessor& v) const {
  Window& w = v.window;
  if (mapped_) {
    w.signature = mapped_.signature + w.first_row;
    w.computation = mapped_.computation + w.first_row;
    w.duration = mapped_.duration + w.first_row;
    trace_.check_signatures(v.process, v.signatures, w.signatures());
  } else {
    const WindowPool::Room room = windows_.room(v.number);
    w.signature = room.signature;
    w.computation = room.computation;
    w.duration = room.duration;
    trace_.calls(v.process, v.signatures, w.first_row, {room.signature, w.rows}, {room.computation, w.rows});
  }
  check(v, w.computation, w.rows);
  w.has_durations = false;
  if (reads_durations_) read_durations(v);
}

template <class Clock>
void Engine<Clock>::read_durations(VirtualProcessor& v) const {
  Window& w = v.window;
  if (!mapped_) trace_.durations(w.first_row, {windows_.room(v.number).duration, w.rows});
  check(v, w.duration, w.rows);
  w.has_durations = true;
}

/// What the call took when it was recorded. Most replays need that of few calls.
template <class Clock>
std::int64_t Engine<Clock>::recorded_ticks(VirtualProcessor& v, std::uint32_t row) const {
  if (!v.window.has_durations) read_durations(v);
  return v.window.duration[row];
}

/// The same of a call whose neighbours are not like it.
template <class Clock>
std::int64_t Engine<Clock>::recorded_ticks_alone(const VirtualProcessor& v, std::uint32_t row) const {
  const Window& w = v.window;
  if (w.has_durations) return w.duration[row];
  if (!mapped_) trace_.durations(w.first_row + row, {windows_.room(v.number).duration + row, 1});
  check(v, w.duration + row, 1);
  return w.duration[row];
}

template <class Clock>
void Engine<Clock>::end(VirtualProcessor& v) const {
  AccountOf<Clock>& a = v.account;
  a.end = v.main.now;
  a.waiting = v.main.waiting;
  a.elapsed = v.main.now - Time{};
  if (!reads_durations_ && v.finished) a.recorded += Duration{recorded_[row_of(v)] * tick_ps_};
  if constexpr (is_single) {
    if (as_recorded_) {
      a.elapsed += a.recorded - start_of_shifts.time_since_epoch();
      a.end = TimePoint{a.elapsed};
      a.waiting = Duration{};  // what of a call was waiting is not known
    }
    if (!v.threads) return;
    a.waiting = a.elapsed = Duration{};
    a.threads = static_cast<std::int32_t>(v.threads->all.size());
    for (const Thread& t : v.threads->all) {
      a.end = std::max(a.end, t.now);
      a.waiting += t.waiting;
      a.elapsed += t.now - t.began;
    }
  }
}

/// The process ends here: what is left of its records was not replayed.
template <class Clock>
void Engine<Clock>::cut(VirtualProcessor& v) {
  Window& w = v.window;
  const std::uint32_t done =
      v.threads && !v.threads->inside.empty() ? v.threads->all[v.threads->inside.front()].row : v.row;
  const bool has_begun = done < w.rows && (v.threads || v.step != between_calls);
  if (reads_durations_)
    for (std::uint32_t i = done; i < w.rows; i++)
      v.account.recorded -=
          Duration{((has_begun && i == done ? 0 : w.computation[i]) + w.duration[i]) * tick_ps_};
  else if (failure_.empty())
    v.account.recorded += recorded_up_to(v, done) + Duration{has_begun ? w.computation[done] * tick_ps_ : 0};
  v.account.calls -= w.rows - done;
  if (!observed_.empty()) observed(v).recorded.cut(done);
  if (rewritten_ && done > 0)
    rewritten_->calls(w.first_row, w.computations().first(done), w.durations().first(done));
  end(v);
}

/// All times at once first: which of them is bad is looked for only if one is.
template <class Clock>
void Engine<Clock>::check(const VirtualProcessor& v, const std::int64_t* ticks, std::size_t rows) const {
  const std::int64_t most = (std::int64_t{1} << 60) / tick_ps_;
  std::int64_t bad = 0;  // the sign of `bad` is set where a time is negative or too large
  for (std::size_t i = 0; i < rows; i++) bad |= ticks[i] | (most - ticks[i]);
  if (bad < 0) [[unlikely]]
    refuse_times(v, ticks, most);
}

/// The recorded time of all calls before this one of the window.
template <class Clock>
Duration Engine<Clock>::recorded_up_to(const VirtualProcessor& v, std::uint32_t row) const {
  std::array<std::int64_t, 4096> ticks{};
  std::int64_t sum = 0;
  const std::uint64_t end = v.window.first_row + row;
  for (std::uint64_t at = v.first_call; at < end; at += ticks.size()) {
    const std::span<std::int64_t> part(ticks.data(), std::min<std::uint64_t>(ticks.size(), end - at));
    trace_.computations(at, part);
    sum = std::accumulate(part.begin(), part.end(), sum);
    trace_.durations(at, part);
    sum = std::accumulate(part.begin(), part.end(), sum);
  }
  return Duration{sum * tick_ps_};
}

template <class Clock>
Duration Engine<Clock>::recorded_time(const Window& w) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < w.rows; i++)
    sum += static_cast<std::uint64_t>(w.computation[i] + w.duration[i]);
  return Duration{static_cast<std::int64_t>(sum) * tick_ps_};
}

template <class Clock>
void Engine<Clock>::refuse_times(const VirtualProcessor& v, const std::int64_t* ticks,
                                 std::int64_t most) const {
  const Window& w = v.window;
  const bool are_durations = ticks >= w.duration && ticks < w.duration + w.rows;
  std::size_t i = static_cast<std::size_t>(ticks - (are_durations ? w.duration : w.computation));
  while (ticks[0] >= 0 && ticks[0] <= most) ticks++, i++;
  throw Error({.file = trace_.path(),
               .process = v.process,
               .call = static_cast<std::int64_t>(w.first_row + i - v.first_call),
               .operation = name_of_call(v, i),
               .expected = "times from 0 to 13 days",
               .found = fmt::format("a {} of {} ticks", are_durations ? "duration" : "computation", *ticks)});
}

}  // namespace simreplay::engine
