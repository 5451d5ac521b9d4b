#include "replay/network/infiniband/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "replay/network/infiniband/routing/hops.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Which channels a packet may hold while it waits for which others: between a channel and those out of the
/// switch that it leads to. Channels are numbered port by port, lane by lane.
class Dependencies {
 public:
  Dependencies(const Fabric& f, int lanes) : fabric_(f), lanes_(lanes) {
    const auto ports = at(f.first_port(f.switches()));
    begins_.reserve(ports + 1);
    for (Port p = 0; at(p) < ports; p++) {
      begins_.push_back(bits_);
      const Node n = f.neighbor(p);
      if (n != nothing && f.is_switch(n)) bits_ += at(f.ports(n)) * at(lanes * lanes);
    }
    needed_.assign(bits_, false);
  }

  void add(Channel holds, Channel waits) { needed_[bit(holds, waits.out, waits.lane)] = true; }

  /// Depth-first search, its stack kept by hand: paths are as long as there are channels.
  std::vector<Channel> find_cycle() const {
    std::vector<std::uint8_t> state(begins_.size() * at(lanes_), fresh);
    for (std::size_t start = 0; start < state.size(); start++) {
      if (state[start] != fresh) continue;
      if (std::vector<Channel> cycle = search(start, state); !cycle.empty()) return cycle;
    }
    return {};
  }

 private:
  enum : std::uint8_t { fresh, open, done };
  struct Visit {
    std::size_t channel;
    int next = 0;  // of the channels out of the switch that it leads to
  };

  std::size_t bit(Channel holds, Port out, int lane) const {
    const Port first = fabric_.first_port(fabric_.node_of(out));
    return begins_[at(holds.out)] + at(((out - first) * lanes_ + holds.lane) * lanes_ + lane);
  }
  Channel channel(std::size_t i) const {
    return {static_cast<Port>(i / at(lanes_)), static_cast<std::uint8_t>(i % at(lanes_))};
  }

  std::vector<Channel> search(std::size_t start, std::vector<std::uint8_t>& state) const {
    std::vector<Visit> stack{{start}};
    state[start] = open;
    while (!stack.empty()) {
      Visit& top = stack.back();
      const std::size_t next = next_of(top);
      if (next == none) {
        state[top.channel] = done;
        stack.pop_back();
      } else if (state[next] == open) {
        return cycle_of(stack, next);
      } else if (state[next] == fresh) {
        state[next] = open;
        stack.push_back({next});
      }
    }
    return {};
  }

  static constexpr std::size_t none = SIZE_MAX;
  std::size_t next_of(Visit& v) const {
    const Channel holds = channel(v.channel);
    const Node sw = fabric_.neighbor(holds.out);
    if (sw == nothing || !fabric_.is_switch(sw)) return none;
    while (v.next < fabric_.ports(sw) * lanes_) {
      const int i = v.next++;
      const Port out = fabric_.first_port(sw) + i / lanes_;
      if (needed_[bit(holds, out, i % lanes_)]) return at(out) * at(lanes_) + at(i % lanes_);
    }
    return none;
  }

  std::vector<Channel> cycle_of(const std::vector<Visit>& stack, std::size_t first) const {
    std::vector<Channel> cycle;
    const auto begin =
        std::find_if(stack.begin(), stack.end(), [&](const Visit& v) { return v.channel == first; });
    for (auto v = begin; v != stack.end(); ++v) cycle.push_back(channel(v->channel));
    return cycle;
  }

  const Fabric& fabric_;
  int lanes_;
  std::size_t bits_ = 0;
  std::vector<std::size_t> begins_;  // of each port, in needed_
  std::vector<bool> needed_;
};

class Checker {
 public:
  Checker(const Fabric& f, const Tables& t)
      : fabric_(f), tables_(t), dependencies_(f, t.lanes()), sources_(at(f.switches()), 0) {
    for (int h = 0; h < f.hosts(); h++)
      if (const Node sw = f.switch_of(f.host(h)); sw != nothing) sources_[at(sw)]++;
    result_.routes.assign(at(f.first_port(f.switches())), 0);
    result_.pairs = static_cast<std::int64_t>(f.hosts()) * (f.hosts() - 1);
  }

  Check run() {
    for (int h = 0; h < fabric_.hosts(); h++) check_destination(fabric_.host(h));
    count_loads();
    result_.levels = static_cast<int>(levels_.count());
    result_.lanes = static_cast<int>(lanes_.count());
    result_.cycle = dependencies_.find_cycle();
    return std::move(result_);
  }

 private:
  static constexpr std::size_t enough = 10;  // faults that are kept

  void check_destination(Node to) {
    const Node last = fabric_.switch_of(to);
    if (last == nothing) return without_switch(to);
    if (last != measured_) hops_ = hops_to(fabric_, last);
    measured_ = last;
    for (Node from = 0; from < fabric_.switches(); from++)
      if (sources_[at(from)] > 0) follow(from, to, last);
    for (int h = 0; h < fabric_.hosts(); h++)
      if (fabric_.switch_of(fabric_.host(h)) == nothing && fabric_.host(h) != to)
        lose(fabric_.host(h), to, 1);
  }

  /// Reached by the host that it is cabled to, if any.
  void without_switch(Node to) {
    for (int h = 0; h < fabric_.hosts(); h++) {
      const Node from = fabric_.host(h);
      if (from != to && fabric_.neighbor(fabric_.first_port(from)) != to) lose(from, to, 1);
    }
  }

  void lose(Node from, Node to, std::int64_t pairs) {
    result_.lost += pairs;
    if (pairs > 0 && result_.some_lost.size() < enough)
      result_.some_lost.push_back(trace(fabric_, tables_, from, to));
  }

  /// All hosts of a switch to one host.
  void follow(Node from, Node to, Node last) {
    const std::int64_t pairs = sources_[at(from)] - (from == last ? 1 : 0);
    const std::uint8_t level = tables_.service_level(from, last);
    way_.clear();
    Node sw = from;
    Port in = fabric_.first_port(from);  // a host's: see below
    Channel before{};
    int passed = 0;
    for (;;) {
      passed++;
      const std::uint8_t number = tables_.port(sw, fabric_.lid(to));
      if (number == 0 || number > fabric_.ports(sw) || passed > fabric_.switches())
        return lose(any_host(from, to), to, pairs);
      const Port out = fabric_.port(sw, number);
      const Node next = fabric_.neighbor(out);
      if (next == to) break;
      if (next == nothing || !fabric_.is_switch(next)) return lose(any_host(from, to), to, pairs);
      const Channel channel{out, passed == 1 ? first_lane(from, out, level) : tables_.lane(in, out, level)};
      if (pairs > 0) {
        if (before.out != nothing) dependencies_.add(before, channel);
        lanes_.set(channel.lane);
      }
      way_.push_back(out);
      before = channel;
      in = fabric_.peer(out);
      sw = next;
    }
    for (const Port out : way_) result_.routes[at(out)] += pairs;
    if (pairs > 0) levels_.set(level);
    result_.switches_passed += pairs * passed;
    if (pairs > 0) result_.longest = std::max(result_.longest, passed);
    if (passed > hops_[at(from)] + 1) result_.detours += pairs;
  }

  std::uint8_t first_lane(Node from, Port out, std::uint8_t level) const {
    return tables_.lane(fabric_.port_towards_host(any_host(from, nothing)), out, level);
  }

  Node any_host(Node sw, Node but) const {
    for (Port p = fabric_.first_port(sw); p < fabric_.first_port(sw) + fabric_.ports(sw); p++) {
      const Node n = fabric_.neighbor(p);
      if (n != nothing && !fabric_.is_switch(n) && n != but) return n;
    }
    return nothing;
  }

  void count_loads() {
    for (Port p = 0; at(p) < result_.routes.size(); p++) {
      const Node n = fabric_.neighbor(p);
      if (n == nothing || !fabric_.is_switch(n)) continue;
      const std::int64_t routes = result_.routes[at(p)];
      (routes > 0 ? result_.used : result_.unused)++;
      if (routes == 0) continue;
      result_.most_routes = std::max(result_.most_routes, routes);
      result_.fewest_routes = result_.fewest_routes == 0 ? routes : std::min(result_.fewest_routes, routes);
    }
  }

  const Fabric& fabric_;
  const Tables& tables_;
  Dependencies dependencies_;
  std::vector<std::int64_t> sources_;  // hosts at each switch
  std::vector<std::uint8_t> hops_;     // to the switch `measured_`
  Node measured_ = nothing;
  std::vector<Port> way_;
  std::bitset<256> levels_, lanes_;
  Check result_;
};

}  // namespace

Check check(const Fabric& fabric, const Tables& tables) { return Checker(fabric, tables).run(); }

LostPair trace(const Fabric& f, const Tables& tables, Node from, Node to) {
  LostPair pair{.from = from, .to = to};
  Node sw = f.switch_of(from);
  while (sw != nothing) {
    pair.loop = std::find(pair.way.begin(), pair.way.end(), sw) != pair.way.end();
    pair.way.push_back(sw);
    const std::uint8_t number = tables.port(sw, f.lid(to));
    if (pair.loop || number == 0 || number > f.ports(sw)) break;
    const Node next = f.neighbor(f.port(sw, number));
    if (next == nothing || !f.is_switch(next)) break;
    sw = next;
  }
  return pair;
}

std::string to_string(const Fabric& f, const LostPair& pair) {
  std::string text = fmt::format("{} to {}: ", f.name(pair.from), f.name(pair.to));
  if (pair.way.empty()) return text + "no cable to a switch";
  for (std::size_t i = 0; i < pair.way.size(); i++) text += (i > 0 ? ", " : "") + f.name(pair.way[i]);
  return text + (pair.loop ? " again" : ", which has no route");
}

std::string cycle_to_string(const Fabric& f, const std::vector<Channel>& cycle) {
  std::string text;
  for (const Channel& c : cycle)
    text += fmt::format("{}{} lane {}", text.empty() ? "" : ", ", f.port_name(c.out), c.lane);
  return text;
}

}  // namespace simreplay::infiniband
