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
          deliver(announced_[static_cast<std::size_t>(rank)][number], a);
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
  ready_.push_back(static_cast<std::uint32_t>(&v - processors_.data()));
}

void Engine::dispatch(std::uint32_t channel, Arrival arrival) {
  if (channel & is_remote)
    exchange_.put(channel & ~is_remote, arrival);
  else
    deliver(channel, arrival);
}

void Engine::deliver(std::uint32_t channel, Arrival arrival) {
  using Blocked = Lane::Blocked;
  if (channels_.has_receive(channel)) {
    const PendingReceive r = channels_.pop_receive(channel);
    if (r.slot == no_slot) {  // given up by MPI_Request_free, or outside of what was recorded
      match(channel, arrival.kind, arrival.time, compiler_.costs()[network::CostTable::free]);
      return;
    }
    VirtualProcessor& v = processor(r.processor);
    if (r.slot & of_strand) [[unlikely]] {
      const std::uint32_t strand = (r.slot & ~of_strand) >> strand_shift;
      complete(v.strands[strand].slots[r.slot & strand_slot_mask], arrival);
      return make_ready(v);
    }
    complete(v.slots[r.slot], arrival);
    const bool awaited = v.main.blocked == Blocked::on_slot && v.main.blocked_on == r.slot;
    if (awaited || v.threads) make_ready(v);
  } else {
    channels_.push_arrival(channel, arrival);
    VirtualProcessor& v = processor(channels_.processor(channel));
    const bool awaited = v.main.blocked == Blocked::on_channel && v.main.blocked_on == channel;
    if (awaited || !v.order.empty() || v.threads) make_ready(v);
  }
}

/// A message met its receive at `time`: the sender is told if it waits for that. Returns when the data is
/// there.
TimePoint Engine::match(std::uint32_t channel, Kind kind, TimePoint time, const network::Cost& cost) {
  if (kind == Kind::eager || kind == Kind::answer) return time;
  if (channel >= answer_channel_.size()) answer_channel_.resize(channel + 1, no_channel);
  if (answer_channel_[channel] == no_channel)
    answer_channel_[channel] = channel_to(answer_to(channels_.envelope(channel)));
  const bool asked = kind == Kind::rendezvous;
  dispatch(answer_channel_[channel], {time + (asked ? cost.released : cost.acknowledge), Kind::answer});
  return asked ? time + cost.transfer : time;
}

/// The message (or answer) that a pending slot was posted for has come.
void Engine::complete(Slot& slot, const Arrival& a) {
  const network::Cost& cost = compiler_.costs()[slot.cost];
  const TimePoint matched = std::max(a.time, at(slot.time_ps));
  slot.arrival_ps = ps_of(match(slot.channel, a.kind, matched, cost));
  slot.time_ps = a.kind == Kind::rendezvous || a.kind == Kind::answer ? cost.transfer.count() : 0;
}

// --- one virtual processor --------------------------------------------------------------------------------

void Engine::run(VirtualProcessor& v) {
  if (v.finished || (v.row == v.window.rows && !refill(v))) return;
  if (v.threads) [[unlikely]]
    return run_threads(v);
  for (; v.row < v.window.rows; v.row++)
    if (!run_call(v, v.window.signature[v.row])) return;
  make_ready(v);  // a turn ends with the window, so that no process runs far ahead of those that hear it
}

/// False where the call cannot go on; its steps are then taken up again.
bool Engine::run_call(VirtualProcessor& v, std::uint16_t signature) {
  const std::uint32_t* const first = v.program.first.data();
  if (v.step == between_calls) {
    v.main.now += computation_before(v, signature, v.main.now);
    v.entered = v.main.now;
    v.step = first[signature];
  }
  if (!run_steps(v, v.main, v.slots, v.program.steps, v.step, first[signature + 1], v.window.duration[v.row]))
    return false;
  v.account.messages += v.program.messages[signature];
  const Duration taken = v.main.now - v.entered;
  v.window.duration[v.row] =
      (as_recorded_ ? Duration{v.window.duration[v.row] * tick_ps_} + taken : taken).count();
  v.step = between_calls;
  return true;
}

/// How long the process computes from `begin` until it makes the call.
Duration Engine::computation_before(VirtualProcessor& v, std::uint16_t signature, TimePoint begin) {
  const std::int64_t overhead = v.overhead_ps[static_cast<std::size_t>(v.recorded)];
  v.recorded = v.program.recording[signature];
  if (as_recorded_) [[unlikely]]
    return shift_before(v, overhead);
  const std::int64_t gap = v.window.computation[v.row] * tick_ps_ - overhead;
  const Duration computation = gap > 0 ? computed(v, gap, begin) : Duration{0};
  v.account.computation += computation;
  v.window.computation[v.row] = computation.count();
  return computation;
}

/// Runs steps up to `end`; false where a message is missing: the step is then tried again as a whole.
bool Engine::run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots, std::span<const Step> steps,
                       std::uint32_t& step, std::uint32_t end, std::int64_t duration) {
  using Blocked = Lane::Blocked;
  const network::CostTable& costs = compiler_.costs();
  TimePoint now = lane.now;
  lane.blocked = Blocked::no;
  const auto block = [&lane, &now](Blocked kind, std::uint32_t on) {
    lane.blocked = kind;
    lane.blocked_on = on;
    lane.now = now;
    return false;
  };
  // Waiting ends at the match; what follows until `ready` is the transfer.
  const auto wait_until = [&](TimePoint ready, Duration transfer) {
    if (ready - transfer > now) lane.waiting += ready - transfer - now;
    now = std::max(now, ready);
  };
  // What is ready at that time passes the adapter when that is free.
  const auto through_adapter = [&](TimePoint ready, const network::Cost& cost) {
    if (cost.gap.count() == 0) return;
    TimePoint& adapter = cost.outwards ? lane.adapter_out : lane.adapter_in;
    const TimePoint start = std::max(ready - cost.lead, adapter);
    adapter = start + cost.gap;
    now = std::max(now, start + cost.lead);
  };
  for (; step < end; step++) {
    const Step& s = steps[step];
    const network::Cost& cost = costs[s.code() == Code::fork ? network::CostTable::free : s.cost()];
    switch (s.code()) {
      case Code::advance:
        now += cost.busy;
        break;
      case Code::elapse: {
        const Duration elapsed =
            (s.slot == 0 ? v.slowdown : io_slowdown_).times(Duration{duration * tick_ps_});
        v.account.computation += elapsed;
        if (!as_recorded_) now += elapsed;
        break;
      }
      case Code::leave:
        v.account.recorded -= Duration{duration * tick_ps_};
        break;
      case Code::send:
        through_adapter(now, cost);
        dispatch(s.channel, {now + cost.flight, static_cast<Kind>(s.slot)});
        now += cost.busy;
        break;
      case Code::take: {
        if (!channels_.has_arrival(s.channel)) return block(Blocked::on_channel, s.channel);
        const Arrival a = channels_.pop_arrival(s.channel);
        now += cost.before;
        wait_until(a.time, Duration{0});
        now = match(s.channel, a.kind, now, cost);
        through_adapter(now, cost);
        now += cost.busy;
        break;
      }
      case Code::hear: {
        if (!channels_.has_arrival(s.channel)) return block(Blocked::on_channel, s.channel);
        const TimePoint heard = channels_.pop_arrival(s.channel).time;
        wait_until(heard, cost.transfer);
        through_adapter(heard, cost);
        now += cost.busy;
        break;
      }
      case Code::look:
        if (!channels_.has_arrival(s.channel)) return block(Blocked::on_channel, s.channel);
        wait_until(channels_.first_arrival(s.channel).time, Duration{0});
        break;
      case Code::post:
        now += cost.before;
        [[fallthrough]];
      case Code::listen: {
        Slot& slot = slots[s.slot];
        slot = {Slot::pending, ps_of(now), s.cost(), s.channel};
        if (channels_.has_arrival(s.channel))
          complete(slot, channels_.pop_arrival(s.channel));
        else
          channels_.push_receive(
              s.channel, {static_cast<std::uint32_t>(&v - processors_.data()), lane.slot_tag | s.slot});
        break;
      }
      case Code::fill:
        slots[s.slot] = {s.channel == 0 ? 0 : Slot::in_file};
        break;
      case Code::wait: {
        const Slot& slot = slots[s.slot];
        if (slot.arrival_ps < 0) [[unlikely]] {
          if (slot.arrival_ps == Slot::pending) return block(Blocked::on_slot, s.slot);
          if (!as_recorded_)
            now = std::max(now, v.entered + io_slowdown_.times(Duration{duration * tick_ps_}));
          break;
        }
        const network::Cost& of_message = costs[slot.cost];
        now += cost.before;
        wait_until(at(slot.arrival_ps), Duration{slot.time_ps});
        through_adapter(at(slot.arrival_ps), of_message);
        now += of_message.busy;
        break;
      }
      case Code::release: {
        Slot& slot = slots[s.slot];
        const auto self = static_cast<std::uint32_t>(&v - processors_.data());
        if (slot.arrival_ps == Slot::pending && slot.channel != no_channel)
          channels_.abandon_receive(slot.channel, {self, s.slot}, no_slot);
        for (Strand& strand : v.strands)
          if (strand.request == s.slot) strand.request = no_slot;
        slot = {};
        break;
      }
      case Code::fork:
        slots[s.slot] = {Slot::pending, 0, network::CostTable::free, no_channel};
        lane.now = now;
        fork(v, s, steps.subspan(step + 1, s.cost()));
        step += s.cost();
        break;
      case Code::transfer: {
        through_adapter(now, cost);
        Accesses& a = accesses(v, s.channel);
        a.done = std::max(a.done, now + cost.flight);
        a.done_here = std::max(a.done_here, now + cost.transfer);
        if (s.slot != no_slot)
          slots[s.slot] = {ps_of(now + cost.transfer), 0, network::CostTable::free, no_channel};
        now += cost.busy;
        break;
      }
      case Code::mark:
        mark(v, lane, now, s, duration);
        break;
      case Code::drain: {
        const Accesses& a = accesses(v, s.channel);
        wait_until(s.slot == 0 ? a.done : a.done_here, Duration{0});
        break;
      }
    }
  }
  lane.now = now;
  return true;
}

// --- the machine that recorded -----------------------------------------------------------------------------
//
// Without costs nothing is left of times but how far they move against the recorded ones, when the overhead
// before each call is taken away. A call that takes a message ends moved as its process or as the sender of
// the message, whichever moved less: so much is sure without knowing which of them was waited for.

Duration Engine::shift_before(VirtualProcessor& v, std::int64_t overhead_ps) {
  const std::int64_t gap = v.window.computation[v.row] * tick_ps_, removed = std::min(gap, overhead_ps);
  v.account.computation += Duration{gap - removed};
  v.window.computation[v.row] = gap - removed;
  return Duration{-removed};
}

Accesses& Engine::accesses(VirtualProcessor& v, std::uint32_t window) {
  const auto it = std::ranges::find(v.accesses, window, &Accesses::window);
  return it != v.accesses.end() ? *it : v.accesses.emplace_back(Accesses{window});
}

Duration Engine::computed(const VirtualProcessor& v, std::int64_t gap_ps, TimePoint begin) const {
  const Duration scaled = v.slowdown.times(Duration{gap_ps});
  return noise_.is_on() ? noise_.on(scaled, v.process, v.window.first_row + v.row - v.first_call, begin)
                        : scaled;
}

// --- reading ahead ----------------------------------------------------------------------------------------

void Engine::next_segment(VirtualProcessor& v) {
  v.segment = trace_.segment(v.next_segment);
  v.next_row = v.segment.first_call;
  v.program = compiler_.compile(v.process, trace_.table(v.segment));
  if (v.program.slots > v.slots.size()) v.slots.resize(v.program.slots);
  if (!v.program.thread.empty() && !v.threads) part_into_threads(v);
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
  check_times(v);
  for (std::size_t i = 0; i < w.rows; i++)
    v.account.recorded += Duration{(w.computation[i] + w.duration[i]) * tick_ps_};
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

void Engine::check_times(const VirtualProcessor& v) const {
  const std::int64_t most = (std::int64_t{1} << 60) / tick_ps_;
  const auto good = [most](std::int64_t t) { return t >= 0 && t <= most; };
  const Window& w = v.window;
  for (std::size_t i = 0; i < w.rows; i++)
    if (!good(w.computation[i]) || !good(w.duration[i])) [[unlikely]]
      throw Error(
          {.file = trace_.path(),
           .process = v.process,
           .call = static_cast<std::int64_t>(w.first_row + i - v.first_call),
           .operation = std::string(info(v.program.ops[w.signature[i]]).name),
           .expected = "times from 0 to 13 days",
           .found = fmt::format("computation {} and duration {} ticks", w.computation[i], w.duration[i])});
}

}  // namespace simreplay::engine
