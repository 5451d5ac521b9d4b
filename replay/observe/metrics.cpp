#include "replay/observe/metrics.hpp"

#include <algorithm>
#include <iterator>

namespace simreplay::observe {
namespace {

constexpr std::size_t complaints_kept = 20;  // of a process

/// Programs may count beyond the range; what comes round is theirs.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  __builtin_add_overflow(a, b, &result);
  return result;
}

}  // namespace

Moment& Moment::operator+=(const Moment& m) {
  time += m.time;
  computation += m.computation;
  waiting += m.waiting;
  recorded_time += m.recorded_time;
  recorded_computation += m.recorded_computation;
  return *this;
}

Moment operator-(Moment a, const Moment& b) {
  a.time -= b.time;
  a.computation -= b.computation;
  a.waiting -= b.waiting;
  a.recorded_time -= b.recorded_time;
  a.recorded_computation -= b.recorded_computation;
  return a;
}

void Metrics::Interval::begin(const Moment& at) {
  if (depth++ == 0) since = at;
}

void Metrics::Interval::end(const Moment& at) {
  if (--depth == 0) sum += at - since;
}

void Metrics::Level::go_on(const Moment& at) {
  if (!is_known) return;
  const Moment passed = at - since;
  area += static_cast<Wide>(value) * passed.time;
  sum += passed;
  since = at;
}

void Metrics::Level::change(std::int64_t to, const Moment& at) {
  go_on(at);
  since = at;
  is_known = true;
  value = to;
  least = std::min(least, to);
  most = std::max(most, to);
}

void Metrics::add_predicate(std::int32_t timer, std::int32_t counter) {
  const Predicate predicate{timer, counter};
  if (std::ranges::find(predicates_, predicate) == predicates_.end()) predicates_.push_back(predicate);
}

void Metrics::follow_predicates(Thread& t, const Moment& at) const {
  t.both.resize(predicates_.size());
  for (std::size_t i = 0; i < predicates_.size(); i++) {
    Interval& both = t.both[i];
    const bool holds =
        t.state(predicates_[i].timer).interval.depth > 0 && t.state(predicates_[i].counter).level.value > 0;
    if (holds && both.depth == 0) both.begin(at);
    if (!holds && both.depth > 0) both.end(at);
  }
}

Metrics::Thread& Metrics::thread(std::uint16_t number) {
  Thread& t = threads_[number];
  if (t.states.empty()) t.states.resize(metrics_);
  return t;
}

void Metrics::mark(const Mark& mark, const Moment& at, std::uint64_t call) {
  Thread& t = thread(mark.thread);
  State& state = t.state(mark.metric);
  switch (mark.op) {
    case Op::Region_begin:
      state.times++;
      state.interval.begin(at);
      return t.regions.begin(mark.metric, call);
    case Op::Region_end:
      return end_region(t, mark.metric, at, call);
    case Op::Counter_set:
    case Op::Counter_add:
      state.times++;
      state.level.change(mark.op == Op::Counter_set ? mark.value : sum(state.level.value, mark.value), at);
      break;
    case Op::Timer_start:
      state.times++;
      state.interval.begin(at);
      state.starts.push_back(call);
      break;
    case Op::Timer_stop:
      stop_timer(t, mark.metric, at, call);
      break;
    default:
      return;
  }
  follow_predicates(t, at);
}

/// Of several threads it would depend on the replay which one complains first.
void Metrics::complain(Unpaired fault, std::int32_t metric, std::uint64_t call) {
  number_of_complaints_++;
  complaints_[call] = {fault, metric, call};
  if (complaints_.size() > complaints_kept) complaints_.erase(std::prev(complaints_.end()));
}

std::vector<Complaint> Metrics::complaints() const {
  std::vector<Complaint> list;
  for (const auto& [call, complaint] : complaints_) list.push_back(complaint);
  return list;
}

void Metrics::end_region(Thread& t, std::int32_t region, const Moment& at, std::uint64_t call) {
  const auto close = [&](const Regions::Open& open, bool is_asked) {
    t.state(open.region).interval.end(at);
    if (!is_asked) complain(Unpaired::outlived, open.region, open.begin);
  };
  if (!t.regions.end(region, close)) complain(Unpaired::not_begun, region, call);
}

void Metrics::stop_timer(Thread& t, std::int32_t timer, const Moment& at, std::uint64_t call) {
  State& state = t.state(timer);
  if (state.starts.empty()) return complain(Unpaired::not_begun, timer, call);
  state.starts.pop_back();
  state.interval.end(at);
}

void Metrics::finish(std::uint16_t number, const Moment& at, bool complete) {
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  Thread& t = found->second;
  const auto leave_open = [&](std::int32_t metric, std::uint64_t call) {
    t.state(metric).interval.end(at);
    if (complete) complain(Unpaired::not_ended, metric, call);
  };
  for (const Regions::Open& open : t.regions.open()) leave_open(open.region, open.begin);
  t.regions = {};
  for (std::size_t metric = 0; metric < t.states.size(); metric++) {
    State& state = t.states[metric];
    for (const std::uint64_t call : state.starts) leave_open(static_cast<std::int32_t>(metric), call);
    state.starts.clear();
    state.level.go_on(at);
  }
  for (Interval& both : t.both)
    if (both.depth > 0) both.end(at);
}

std::vector<Row> Metrics::rows(std::int32_t process) const {
  std::map<std::pair<std::int32_t, std::int32_t>, Row> rows;  // metric, counter of a predicate
  const auto row_of = [&](std::int32_t metric, std::int32_t counter) -> Row& {
    return rows.try_emplace({metric, counter}, Row{process, metric, counter}).first->second;
  };
  for (const Predicate& p : predicates_) row_of(p.timer, p.counter);
  for (const auto& [number, t] : threads_) {
    for (std::size_t metric = 0; metric < t.states.size(); metric++) {
      const State& state = t.states[metric];
      if (state.times == 0) continue;
      Row& row = row_of(static_cast<std::int32_t>(metric), -1);
      row.times += state.times;
      row.sum += state.interval.sum;
      row.sum += state.level.sum;
      row.area += state.level.area;
      row.last = sum(row.last, state.level.value);
      row.least = std::min(row.least, state.level.least);
      row.most = std::max(row.most, state.level.most);
    }
    for (std::size_t i = 0; i < t.both.size(); i++)
      row_of(predicates_[i].timer, predicates_[i].counter).sum += t.both[i].sum;
  }
  std::vector<Row> list;
  for (const auto& [key, row] : rows) list.push_back(row);
  return list;
}

}  // namespace simreplay::observe
