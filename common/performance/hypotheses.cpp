#include "common/performance/hypotheses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "common/performance/statistics.hpp"

namespace simreplay::performance {
namespace {

constexpr std::size_t tasks_named = 8;
constexpr double fastest_remedy = 64;

/// A run with what the hypotheses look at again and again.
class Case {
 public:
  Case(const Run& of, const Criteria& by) : run(of), criteria(by) {
    for (std::size_t i = 0; i < run.figures.channels.size(); i++) {
      const Channel& c = run.figures.channels[i];
      if (c.tag >= 0) pairs[{c.source, c.destination}].push_back(i);
    }
  }
  double time() const { return static_cast<double>(run.time.count()); }
  std::size_t tasks() const { return run.figures.tasks.size(); }
  double of(std::size_t task, Cell c) const { return static_cast<double>(run.figures.tasks[task][c]); }
  double share(std::size_t task, Cell c) const {
    const double all = of(task, Cell::time);
    return all > 0 ? of(task, c) / all : 0;
  }
  double load(std::size_t task) const { return share(task, Cell::computation); }
  /// On average over the tasks: so much of the time of the program.
  double mean(Cell c) const {
    double sum = 0;
    for (std::size_t t = 0; t < tasks(); t++) sum += share(t, c);
    return tasks() > 0 ? time() * sum / static_cast<double>(tasks()) : 0;
  }
  double of_pair(const std::vector<std::size_t>& channels, Cell c) const {
    double sum = 0;
    for (const std::size_t i : channels) sum += static_cast<double>(run.figures.channel_cells[i][c]);
    return sum;
  }
  double bytes_between(std::int32_t source, std::int32_t destination) const {
    const auto it = pairs.find({source, destination});
    return it == pairs.end() ? 0 : of_pair(it->second, Cell::bytes_sent);
  }
  bool is_worth(double cost) const { return cost >= criteria.worth * time(); }

  /// One value a window, of all these tasks.
  template <class Value>
  std::vector<double> samples(const std::vector<std::int32_t>& of_tasks, Value&& value) const {
    std::vector<double> all;
    for (const std::int32_t t : of_tasks)
      for (const auto& window : run.windows[static_cast<std::size_t>(t)]) all.push_back(value(window));
    return all;
  }
  std::vector<double> samples(const std::vector<std::int32_t>& of_tasks, Activity a) const {
    return samples(of_tasks, [a](const auto& window) { return window[static_cast<std::size_t>(a)]; });
  }

  const Run& run;
  const Criteria& criteria;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> pairs;  // of processes: channels
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string shown(double ps) { return format_duration(Duration{static_cast<std::int64_t>(ps)}); }
/// Of probabilities; below this the approximation says nothing any more.
std::string shown_chance(double p) { return p < 1e-6 ? "p < 0.000001" : fmt::format("p = {:.2g}", p); }

std::string list_of(const std::vector<std::int32_t>& tasks) {
  if (tasks.size() == 1) return fmt::format("process {}", tasks[0]);
  const std::size_t n = std::min(tasks.size(), tasks_named);
  std::string text = fmt::format(
      "processes {}", fmt::join(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(n), ", "));
  if (tasks.size() > n) text += fmt::format(" and {} more", tasks.size() - n);
  return text;
}

/// Those with most of it, down to a tenth of the first.
std::vector<std::int32_t> tasks_with_most(const Case& c, Cell cell) {
  std::vector<std::int32_t> order(c.tasks());
  std::iota(order.begin(), order.end(), 0);
  const auto of = [&](std::int32_t t) { return c.of(static_cast<std::size_t>(t), cell); };
  std::ranges::stable_sort(order, std::ranges::greater{}, of);
  std::erase_if(order, [&](std::int32_t t) { return of(t) < 0.1 * of(order.front()); });
  return order;
}

std::string region_with_most(const Case& c, const std::vector<std::int32_t>& tasks,
                             double RegionTimes::*what) {
  std::map<std::string, double> sums;
  for (const RegionTimes& r : c.run.regions)
    if (std::ranges::find(tasks, r.task) != tasks.end()) sums[r.name] += r.*what;
  const auto most = std::ranges::max_element(sums, {}, [](const auto& s) { return s.second; });
  return most == sums.end() || most->second <= 0 ? "" : most->first;
}

using Findings = std::vector<Finding>;

// --- a channel whose sides do not fit ---------------------------------------------------------------------

struct Sides {
  std::int32_t source, destination;
  double loads[2], queue;
  std::size_t channel;  // with most messages
};

/// Pairs of processes with a flow of data in one direction; answers go the other way.
std::vector<Sides> flows(const Case& c) {
  constexpr double fewest_messages = 8, at_least_times = 2;
  std::vector<Sides> all;
  for (const auto& [pair, channels] : c.pairs) {
    const auto [source, destination] = pair;
    if (source == destination || c.of_pair(channels, Cell::sends) < fewest_messages ||
        c.bytes_between(source, destination) < at_least_times * c.bytes_between(destination, source))
      continue;
    Sides s{
        source, destination, {}, c.of_pair(channels, Cell::in_flight) / std::max(c.time(), 1.0), channels[0]};
    for (const std::size_t i : channels)
      if (c.run.figures.channel_cells[i][Cell::sends] > c.run.figures.channel_cells[s.channel][Cell::sends])
        s.channel = i;
    s.loads[0] = c.load(static_cast<std::size_t>(source));
    s.loads[1] = c.load(static_cast<std::size_t>(destination));
    all.push_back(s);
  }
  return all;
}

/// Of all such channels together; `sides` are not empty.
Finding of_flows(const Case& c, std::vector<Sides> sides, bool is_consumer) {
  const auto slow = [&](const Sides& s) { return is_consumer ? s.destination : s.source; };
  const auto fast = [&](const Sides& s) { return is_consumer ? s.source : s.destination; };
  const auto idle = [&](const Sides& s) { return c.share(static_cast<std::size_t>(fast(s)), Cell::idle); };
  std::ranges::stable_sort(sides, std::ranges::greater{}, idle);
  Finding f;
  f.hypothesis = is_consumer ? "consumer too slow" : "producer too slow";
  f.remedy.kind = Remedy::Kind::faster_processors;
  std::vector<std::int32_t> others;
  for (const Sides& s : sides) {
    if (std::ranges::find(others, fast(s)) == others.end()) {
      others.push_back(fast(s));
      f.cost_ps += c.time() * idle(s) / static_cast<double>(c.tasks());
    }
    if (std::ranges::find(f.tasks, slow(s)) != f.tasks.end()) continue;
    f.tasks.push_back(slow(s));
    const double factor = c.of(static_cast<std::size_t>(slow(s)), Cell::computation) /
                          std::max(c.of(static_cast<std::size_t>(fast(s)), Cell::computation), 1.0);
    f.remedy.faster.emplace_back(slow(s), std::min(factor, fastest_remedy));
  }
  const Sides& first = sides.front();
  f.channel = c.run.figures.channels[first.channel];
  f.region = region_with_most(c, f.tasks, &RegionTimes::computation_ps);
  f.where = fmt::format(
      "{} {}", list_of(f.tasks),
      is_consumer ? "too slow for what is sent to it" : "too slow for those that wait for its messages");
  f.where += fmt::format("; most on channel {}", to_text(*f.channel));
  f.chance = chance_of(c.samples(f.tasks, Activity::computation), c.samples(others, Activity::computation));
  const auto load = [&](std::int32_t task) { return percent(c.load(static_cast<std::size_t>(task))); };
  f.evidence = fmt::format(
      "load of process {} {}, of process {} {} ({}); {:.3g} messages queue between them on "
      "average, {} at most",
      slow(first), load(slow(first)), fast(first), load(fast(first)), shown_chance(f.chance), first.queue,
      c.run.figures.channel_cells[first.channel][Cell::queue_max]);
  return f;
}

/// A queue between a source and a destination of which one is too slow.
Findings of_flows_where(const Case& c, bool is_consumer) {
  std::vector<Sides> sides;
  for (const Sides& s : flows(c)) {
    const double slow = s.loads[is_consumer ? 1 : 0], fast = s.loads[is_consumer ? 0 : 1];
    if (slow > c.criteria.busy && fast < c.criteria.slack && is_consumer == (s.queue > c.criteria.queued))
      sides.push_back(s);
  }
  if (sides.empty()) return {};
  return {of_flows(c, std::move(sides), is_consumer)};
}
Findings slow_consumers(const Case& c) { return of_flows_where(c, true); }
Findings slow_producers(const Case& c) { return of_flows_where(c, false); }

// --- computation ------------------------------------------------------------------------------------------

/// Processes that compute more than the mean, and half as much more as the one that computes most.
Findings imbalance(const Case& c) {
  if (c.tasks() < 2) return {};
  std::vector<double> loads;
  for (std::size_t t = 0; t < c.tasks(); t++) loads.push_back(c.load(t));
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
  const double most = *std::ranges::max_element(loads);
  Finding f;
  f.hypothesis = "imbalance of computation";
  std::vector<std::int32_t> others;
  for (std::size_t t = 0; t < c.tasks(); t++)
    (loads[t] - mean > (most - mean) / 2 ? f.tasks : others).push_back(static_cast<std::int32_t>(t));
  if (others.empty() || f.tasks.empty()) return {};
  std::ranges::stable_sort(f.tasks, std::ranges::greater{},
                           [&](std::int32_t t) { return loads[static_cast<std::size_t>(t)]; });
  f.region = region_with_most(c, f.tasks, &RegionTimes::computation_ps);
  f.where = fmt::format("{} {} more than the others", list_of(f.tasks),
                        f.tasks.size() == 1 ? "computes" : "compute");
  f.cost_ps = c.time() * (most - mean);
  f.chance = chance_of(c.samples(f.tasks, Activity::computation), c.samples(others, Activity::computation));
  f.evidence = fmt::format("computation {} at most, {} on average ({})", shown(most * c.time()),
                           shown(mean * c.time()), shown_chance(f.chance));
  f.remedy.kind = Remedy::Kind::faster_processors;
  for (std::size_t t = 0; t < c.tasks(); t++)
    if (mean > 0 && loads[t] > 0)
      f.remedy.faster.emplace_back(static_cast<std::int32_t>(t), std::min(loads[t] / mean, fastest_remedy));
  return {f};
}

// --- waiting ----------------------------------------------------------------------------------------------

struct WaitRule {
  std::string_view hypothesis, where;
  Cell cell;
  Activity activity, against;
  bool at_channels;  // the one with the longest waits is named
};
constexpr std::array<WaitRule, 4> wait_rules{
    {{"late sender", "waits in receives for senders that come later", Cell::late_sender,
      Activity::waiting_for_partner, Activity::transfer, true},
     {"late receiver", "waits in sends for receivers that come later", Cell::late_receiver,
      Activity::waiting_for_partner, Activity::transfer, false},
     {"wait at barrier", "waits in barriers for the last to come", Cell::barrier, Activity::waiting_for_all,
      Activity::transfer, false},
     {"wait at collectives", "waits in collectives for others to come", Cell::collective,
      Activity::waiting_for_all, Activity::transfer, false}}};

/// Where the waiting of receives is longest, among those that wait.
std::optional<Channel> worst_channel(const Case& c, const std::vector<std::int32_t>& tasks) {
  std::optional<Channel> worst;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < c.run.figures.channels.size(); i++) {
    const Channel& channel = c.run.figures.channels[i];
    const std::int64_t wait = c.run.figures.channel_cells[i][Cell::receive_wait];
    if (channel.tag < 0 || wait <= longest || std::ranges::find(tasks, channel.destination) == tasks.end())
      continue;
    longest = wait;
    worst = channel;
  }
  return worst;
}

Finding waiting(const Case& c, const WaitRule& rule) {
  Finding f;
  f.hypothesis = rule.hypothesis;
  f.cost_ps = c.mean(rule.cell);
  f.tasks = tasks_with_most(c, rule.cell);
  if (rule.at_channels) f.channel = worst_channel(c, f.tasks);
  f.region = region_with_most(c, f.tasks, &RegionTimes::waiting_ps);
  f.where = fmt::format("{}: {}", list_of(f.tasks), rule.where);
  if (f.channel) f.where += fmt::format("; longest on channel {}", to_text(*f.channel));
  f.chance = chance_of(c.samples(f.tasks, rule.activity), c.samples(f.tasks, rule.against));
  const double most = c.of(static_cast<std::size_t>(f.tasks.front()), rule.cell);
  f.evidence = fmt::format("{} at most, {} on average, against {} for messages on their way ({})",
                           shown(most), shown(f.cost_ps),
                           shown(c.mean(Cell::transfer) + c.mean(Cell::contention)), shown_chance(f.chance));
  return f;
}

Findings waits(const Case& c) {
  Findings all;
  for (const WaitRule& rule : wait_rules)
    if (c.is_worth(c.mean(rule.cell))) all.push_back(waiting(c, rule));
  return all;
}

// --- the network ------------------------------------------------------------------------------------------

/// Messages on their way, and what processors pay for them.
Findings transfer_bound(const Case& c) {
  const double transfer = c.mean(Cell::transfer), calls = c.mean(Cell::communication);
  if (!c.is_worth(transfer + calls)) return {};
  Finding f;
  f.hypothesis = "transfer-bound";
  f.tasks = tasks_with_most(c, transfer > calls ? Cell::transfer : Cell::communication);
  f.where = fmt::format("{}: messages take long on their way, or at their ends", list_of(f.tasks));
  f.region = region_with_most(c, f.tasks, &RegionTimes::waiting_ps);
  f.cost_ps = transfer + calls;
  // What is not computing and not waiting for others to come is this.
  const auto on_messages = [](const auto& w) {
    return 1 - w[static_cast<std::size_t>(Activity::computation)] -
           w[static_cast<std::size_t>(Activity::waiting_for_partner)] -
           w[static_cast<std::size_t>(Activity::waiting_for_all)];
  };
  f.chance = chance_of(
      c.samples(f.tasks, on_messages),
      std::vector<double>(std::max<std::size_t>(c.run.windows.empty() ? 0 : c.run.windows[0].size(), 5),
                          c.criteria.worth));
  f.evidence = fmt::format("on average {} for messages on their way and {} in calls, without waiting ({})",
                           shown(transfer), shown(calls), shown_chance(f.chance));
  f.remedy.kind = Remedy::Kind::ideal_network;
  return {f};
}

Findings contention_bound(const Case& c) {
  const double cost = c.mean(Cell::contention);
  if (!c.is_worth(cost)) return {};
  Finding f;
  f.hypothesis = "contention-bound";
  f.tasks = tasks_with_most(c, Cell::contention);
  f.where = fmt::format("{}: messages hold each other up in the network", list_of(f.tasks));
  f.region = region_with_most(c, f.tasks, &RegionTimes::waiting_ps);
  f.cost_ps = cost;
  f.chance =
      chance_of(c.samples(f.tasks, Activity::transfer), c.samples(f.tasks, Activity::waiting_for_partner));
  f.evidence = fmt::format(
      "on average {} of waiting for others' messages, beside {} that the messages take alone ({})",
      shown(cost), shown(c.mean(Cell::transfer)), shown_chance(f.chance));
  return {f};
}

// --- all --------------------------------------------------------------------------------------------------

constexpr std::array<Findings (*)(const Case&), 6> rules{slow_consumers,   slow_producers, imbalance,
                                                         contention_bound, transfer_bound, waits};

/// What costs most comes first; a cause comes before the waits by which it shows.
double weight(const Finding& f) {
  const bool is_wait =
      std::ranges::any_of(wait_rules, [&](const WaitRule& r) { return r.hypothesis == f.hypothesis; });
  return is_wait ? 0.9 * f.cost_ps : f.cost_ps;
}

/// A side of a channel that is too slow is an imbalance of computation, too.
void leave_out_what_is_said(Findings& findings) {
  const auto of_flow = [](const Finding& f) { return f.hypothesis.ends_with("too slow"); };
  const bool any = std::ranges::any_of(findings, of_flow);
  std::erase_if(findings, [&](const Finding& f) {
    if (!any || f.hypothesis != "imbalance of computation") return false;
    return std::ranges::any_of(findings, [&](const Finding& g) {
      return of_flow(g) && std::ranges::find(f.tasks, g.tasks[0]) != f.tasks.end();
    });
  });
}

}  // namespace

std::vector<Windows> shares_of(std::vector<Profile> profiles, Duration time) {
  unsigned shift = 0;
  for (const Profile& p : profiles) shift = std::max(shift, p.shift());
  while (time.count() >> shift >= static_cast<std::int64_t>(Profile::windows)) shift++;
  std::vector<Windows> all;
  for (Profile& p : profiles) {
    p.stretch(shift);
    Windows& windows = all.emplace_back();
    for (std::size_t w = 0; w < Profile::windows; w++) {
      const Duration begin = p.length() * static_cast<std::int64_t>(w);
      const Duration covered = std::min(p.length(), time - begin);
      if (covered < p.length() / 2) break;
      auto& shares = windows.emplace_back();
      for (std::size_t a = 0; a < activities; a++)
        shares[a] = static_cast<double>(p.in(w, static_cast<Activity>(a)).count()) /
                    static_cast<double>(covered.count());
    }
  }
  return all;
}

Diagnosis diagnose(const Run& run, const Criteria& criteria) {
  const Case c(run, criteria);
  Diagnosis d;
  d.criteria = criteria;
  if (c.tasks() == 0 || run.time <= Duration{}) return d;
  d.efficiency = c.mean(Cell::computation) / c.time();
  d.idle_share = c.mean(Cell::idle) / c.time();
  d.is_efficient = d.efficiency >= criteria.efficient;
  if (d.is_efficient) return d;
  for (const auto& findings : rules)
    for (Finding& f : findings(c)) {
      if (!c.is_worth(f.cost_ps) || f.chance > criteria.chance) continue;
      f.remaining_ps = c.time() - f.cost_ps;
      d.findings.push_back(std::move(f));
    }
  leave_out_what_is_said(d.findings);
  std::ranges::stable_sort(d.findings, std::ranges::greater{}, weight);
  return d;
}

}  // namespace simreplay::performance
