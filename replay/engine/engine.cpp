#include "replay/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/error.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::engine {
namespace {

constexpr std::size_t window_budget = 64U << 20;  // bytes of calls read ahead on a rank
constexpr std::size_t window_rows_at_most = 4096, window_rows_at_least = 64;
constexpr int turns_between_polls = 16;
constexpr std::size_t near_ahead = 1, far_ahead = 3;  // in the list of those that are ready

}  // namespace

Engine::Engine(const trace::Reader& trace, const Machine& machine, MPI_Comm comm, trace::Rewriter* rewritten,
               Progress progress)
    : trace_(trace),
      rewritten_(rewritten),
      progress_(std::move(progress)),
      comm_(comm),
      rank_(rank_in(comm)),
      ranks_(size_of(comm)),
      partition_(trace.first_calls(0, trace.facts().processes), ranks_),
      exchange_(comm),
      ring_(comm),
      placement_(machine, trace.facts().processes, trace.metrics()),
      compiler_(trace, machine, placement_, *this),
      noise_(machine),
      as_recorded_(machine.as_recorded),
      is_special_(as_recorded_ || noise_.is_on()),
      io_slowdown_(machine.io_speedup.inverse()),
      tick_ps_(trace.facts().tick_ps) {
  set_up();
}

void Engine::set_up() {
  const std::int32_t first = partition_.first(rank_), count = partition_.count(rank_);
  const auto rows = trace_.processes(first, count);
  const auto first_calls = trace_.first_calls(first, count),
             first_segments = trace_.first_segments(first, count);
  own_calls_ = first_calls.back() - first_calls.front();
  const auto processes = static_cast<std::size_t>(count);
  const std::size_t rows_each = window_budget / WindowPool::row_bytes / std::max<std::size_t>(processes, 1);
  // A power of two, so that windows and the chunks of a compressed file end together.
  windows_ =
      WindowPool(processes, std::bit_floor(std::clamp(rows_each, window_rows_at_least, window_rows_at_most)));
  announced_.resize(static_cast<std::size_t>(ranks_));
  processors_.resize(processes);
  slots_.resize(processes);
  awaited_.assign(processes, nothing);
  for (std::size_t i = 0; i < processors_.size(); i++) {
    VirtualProcessor& v = processors_[i];
    v.process = first + static_cast<std::int32_t>(i);
    v.window = windows_.window(i);
    v.is_cut = rows[i].record == trace::Record::cut;
    std::ranges::copy(rows[i].overhead_ps, v.overhead_ps.begin());
    v.slowdown = placement_.speedup(v.process).inverse();
    if (as_recorded_) v.main.now = start_of_shifts;
    v.first_call = first_calls[i];
    v.next_segment = first_segments[i];
    v.end_segment = first_segments[i + 1];
    make_ready(v);
  }
  if (!trace_.metrics().empty())
    observed_.resize(processes,
                     {observe::RecordedTimes(tick_ps_), observe::Metrics(trace_.metrics().size())});
  add_skipped();
}

/// Messages that were under way when recording began: those that were sent before are there, those that had
/// been received are swallowed.
void Engine::add_skipped() {
  for (const trace::Skipped& s : trace_.skipped()) {
    if (partition_.owner(s.destination) != rank_) continue;
    const std::uint32_t channel = channel_from({s.source, s.destination, s.communicator, s.tag});
    for (std::int64_t i = 0; i < s.messages; i++) channels_.push_arrival(channel, {TimePoint{}, Kind::eager});
    for (std::int64_t i = s.messages; i < 0; i++) channels_.push_receive(channel, {0, no_slot});
  }
}

// --- the schedule -----------------------------------------------------------------------------------------
//
// Three tasks, in this order:
//   replay    run what is ready, until nothing is; records for other ranks leave in full batches meanwhile
//   flush     send what is left: other ranks may wait for it
//   take      deliver what has come; if that makes nothing ready, hand on the token and wait
// A rank that failed replays nothing more, but takes messages and passes the token, so that all ranks end.

Outcome Engine::run() {
  const auto replay = [this] {
    try {
      replay_ready();
    } catch (const std::exception& e) {
      failure_ = e.what();
      ready_.clear();
    }
  };
  Ring::Verdict verdict = Ring::Verdict::going;
  while (verdict == Ring::Verdict::going) {
    replay();
    exchange_.flush();
    if (take_batches() && !ready_.empty()) continue;
    verdict = ring_.pass(exchange_.balance(), !failure_.empty());
    if (verdict == Ring::Verdict::going) await_message();
  }
  Outcome result = outcome();
  result.failed = verdict == Ring::Verdict::failed;
  return result;
}

void Engine::replay_ready() {
  for (int turn = 1; !ready_.empty(); turn++) {
    VirtualProcessor& v = processor(ready_.front());
    ready_.pop_front();
    if (ready_.size() > far_ahead) {
      prefetch(processor(ready_[far_ahead]));
      prefetch_work(processor(ready_[near_ahead]));
    }
    v.queued = false;
    if (!v.order.empty()) run_strands(v);
    run(v);
    if (ranks_ > 1 && turn % turns_between_polls == 0) take_batches();
  }
}

bool Engine::take_batches() {
  bool any = false;
  while (exchange_.receive()) {
    any = true;
    ring_.received();
    if (!failure_.empty()) continue;
    exchange_.unpack(
        [this](const Exchange::Announcement& a) {
          auto& known = announced_[static_cast<std::size_t>(a.rank)];
          known.resize(std::max<std::size_t>(known.size(), a.number + 1));
          known[a.number] = channel_from(a.envelope);
        },
        [this](int rank, std::uint32_t number, const Arrival& a) {
          deliver_batched(announced_[static_cast<std::size_t>(rank)][number], a);
        });
  }
  return any;
}

void Engine::await_message() {
  MPI_Request requests[2] = {exchange_.next_batch(), ring_.next_token()};
  int which = 0, done = 0;
  // Only asks: the requests stay with their owners. Each call yields where ranks outnumber processors.
  while (!done)
    for (which = 0; which < 2 && !done; which++)
      MPI_Request_get_status(requests[which], &done, MPI_STATUS_IGNORE);
}

// --- channels ---------------------------------------------------------------------------------------------

std::uint32_t Engine::channel_from(const Envelope& e) {
  const std::uint32_t channel = channels_.open(e);
  channels_.set_processor(channel, static_cast<std::uint32_t>(e.destination - partition_.first(rank_)));
  return channel;
}

std::uint32_t Engine::channel_to(const Envelope& e) {
  const int owner = partition_.owner(e.destination);
  return owner == rank_ ? channel_from(e) : exchange_.open(owner, e) | is_remote;
}

void Engine::make_ready(VirtualProcessor& v) {
  if (v.queued) return;
  v.queued = true;
  ready_.push_back(number_of(v));
}

// --- reading ahead ----------------------------------------------------------------------------------------

void Engine::next_segment(VirtualProcessor& v) {
  v.segment = trace_.segment(v.next_segment);
  v.next_row = v.segment.first_call;
  v.program = compiler_.compile(v.process, trace_.table(v.segment));
  if (v.program.slots > v.slots.size()) v.slots.resize(v.program.slots);
  slots_[number_of(v)] = v.slots.data();
  if (!v.program.thread.empty() && !v.threads) part_into_threads(v);
  if (!observed_.empty()) add_predicates(v);
  v.next_segment++;
}

/// Hands the finished window on and reads the next; false at the end of the trace.
bool Engine::refill(VirtualProcessor& v) {
  Window& w = v.window;
  if (rewritten_ && w.rows > 0) rewritten_->calls(w.first_row, w.computations(), w.durations());
  done_calls_ += w.rows;
  if (v.main.now > time_limit)
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .problem = "the simulated time leaves its range of 53 days"});
  if (progress_)
    progress_(static_cast<double>(done_calls_) / static_cast<double>(std::max<std::uint64_t>(own_calls_, 1)),
              v.main.now);

  while (v.next_row == v.segment.first_call + v.segment.calls && v.next_segment < v.end_segment)
    next_segment(v);
  const std::uint64_t left = v.segment.first_call + v.segment.calls - v.next_row;
  // Windows end where the chunks of the file do, so that none is decompressed twice.
  w.rows = static_cast<std::uint32_t>(std::min(left, windows_.rows() - v.next_row % windows_.rows()));
  w.first_row = v.next_row;
  v.row = 0;
  if (w.rows == 0) {
    v.finished = true;
    end(v);
    return false;
  }
  trace_.calls(v.segment, v.next_row, w.signatures(), w.computations(), w.durations());
  v.next_row += w.rows;
  v.account.recorded += check_times(v);
  v.account.calls += w.rows;
  if (!observed_.empty()) read_recorded_times(v);
  return true;
}

void Engine::end(VirtualProcessor& v) const {
  Account& a = v.account;
  a.end = v.main.now;
  a.waiting = v.main.waiting;
  a.elapsed = v.main.now.time_since_epoch();
  if (as_recorded_) {
    a.elapsed += a.recorded - start_of_shifts.time_since_epoch();
    a.end = TimePoint{a.elapsed};
    a.waiting = Duration{};  // what of a call was waiting is not known
  }
  if (!v.threads) return;
  a.waiting = a.elapsed = Duration{};
  for (const Thread& t : v.threads->all) {
    a.end = std::max(a.end, t.now);
    a.waiting += t.waiting;
    a.elapsed += t.now - t.began;
  }
}

/// The process ends here: what is left of its window was not replayed.
void Engine::cut(VirtualProcessor& v) {
  const Window& w = v.window;
  const std::uint32_t done =
      v.threads && !v.threads->inside.empty() ? v.threads->all[v.threads->inside.front()].row : v.row;
  for (std::uint32_t i = done; i < w.rows; i++) {
    const bool has_begun = i == done && (v.threads || v.step != between_calls);
    v.account.recorded -= Duration{((has_begun ? 0 : w.computation[i]) + w.duration[i]) * tick_ps_};
    v.account.calls--;
  }
  if (!observed_.empty()) observed(v).recorded.cut(done);
  if (rewritten_ && done > 0)
    rewritten_->calls(w.first_row, w.computations().first(done), w.durations().first(done));
  end(v);
}

/// The recorded time of the window. All rows at once first: which of them is bad is looked for only if one
/// is.
Duration Engine::check_times(const VirtualProcessor& v) const {
  const std::int64_t most = (std::int64_t{1} << 60) / tick_ps_;
  const Window& w = v.window;
  std::int64_t sum = 0, bad = 0;  // the sign of `bad` is set where a time is negative or too large
  for (std::size_t i = 0; i < w.rows; i++) {
    const std::int64_t c = w.computation[i], d = w.duration[i];
    bad |= c | d | (most - c) | (most - d);
    sum += static_cast<std::int64_t>(static_cast<std::uint64_t>(c) + static_cast<std::uint64_t>(d));
  }
  if (bad < 0) [[unlikely]]
    refuse_times(v, most);
  return Duration{sum * tick_ps_};
}

void Engine::refuse_times(const VirtualProcessor& v, std::int64_t most) const {
  const auto good = [most](std::int64_t t) { return t >= 0 && t <= most; };
  const Window& w = v.window;
  std::size_t i = 0;
  while (good(w.computation[i]) && good(w.duration[i])) i++;
  throw Error(
      {.file = trace_.path(),
       .process = v.process,
       .call = static_cast<std::int64_t>(w.first_row + i - v.first_call),
       .operation = std::string(info(v.program.ops[w.signature[i]]).name),
       .expected = "times from 0 to 13 days",
       .found = fmt::format("computation {} and duration {} ticks", w.computation[i], w.duration[i])});
}

}  // namespace simreplay::engine
