// Random small fabrics and traffic: trains are packets, parts are the whole, nothing is lost.

#include <fmt/format.h>

#include <array>
#include <random>

#include "replay/network/infiniband/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infiniband/small_network.hpp"

namespace simreplay::infiniband {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::int64_t number(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(to - from + 1));
  }
  template <class T, std::size_t N>
  const T& of(const std::array<T, N>& choices) {
    return choices[static_cast<std::size_t>(number(0, N - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

struct Case {
  Net net;
  Settings settings;
  std::vector<Injection> list;
};

constexpr std::array<std::pair<const char*, const char*>, 10> fabrics{
    {{"single:6", "minhop"},
     {"single:5,rate=4xFDR,host-rate=4xFDR", "minhop"},
     {"fat-tree:leaves=3,spines=2,hosts=3,rate=4xHDR,host-rate=4xEDR", "ftree"},
     {"fat-tree:leaves=4,spines=1,hosts=2,rate=1xEDR,host-rate=4xEDR", "updn"},
     {"fat-tree:levels=3,pods=2,leaves=2,middles=2,spines=1,hosts=2,cable=50ns", "ftree"},
     {"fat-tree:leaves=2,spines=2,hosts=4,links=2,cable=3us", "minhop"},
     {"torus:4x3,hosts=1", "torus-2QoS"},
     {"mesh:3x3,hosts=1", "dor"},
     {"torus:5,hosts=2", "lash"},
     {"dragonfly+:groups=3,leaves=2,spines=2,hosts=2,global=1", "lash"}}};

Settings draw_settings(Draw& draw) {
  Settings s;
  s.mtu = draw.of(std::array<std::int64_t, 3>{256, 1024, 4096});
  s.message_header = draw.of(std::array<std::int64_t, 2>{0, 16});
  const std::int64_t packet = s.mtu + s.packet_header + s.message_header + 63;
  s.switch_buffer = packet * draw.number(1, 5);
  s.adapter_buffer = packet * draw.number(1, 5);
  s.switch_delay = Duration{draw.of(std::array<std::int64_t, 3>{1000, 50'000, 100'000})};
  s.credit_delay = Duration{draw.of(std::array<std::int64_t, 3>{0, 50'000, 400'000})};
  if (draw.number(0, 4) == 0) s.credit_period = Duration{256'000};
  if (draw.number(0, 4) == 0) s.header_wait = 20;
  if (draw.number(0, 4) == 0) s.forwarding = Forwarding::store_and_forward;
  if (draw.number(0, 2) == 0) s.input_order = InputOrder::round_robin;
  if (draw.number(0, 2) == 0) s.lane_order = LaneOrder::fcfs;
  if (draw.number(0, 2) == 0) s.lanes = 5;
  s.high_limit = draw.of(std::array<std::int64_t, 3>{0, 1, 255});
  if (draw.number(0, 4) == 0) {
    s.congestion_control = true;
    s.cc_marking_rate = draw.number(0, 2);
    s.ccti_timer = Duration{draw.of(std::array<std::int64_t, 2>{500'000, 20'000'000})};
    if (draw.number(0, 1) == 0) s.cc_table.assign(128, {1, 3});
  }
  if (draw.number(0, 1) == 0) s.bin = Duration{1'000'000};
  return s;
}

Case draw_case(unsigned seed) {
  Draw draw(seed);
  const auto& [spec, routing] = draw.of(fabrics);
  Case c{Net(spec, routing), draw_settings(draw), {}};
  const std::int64_t hosts = c.net.fabric.hosts(),
                     spread = draw.number(0, 3) == 0 ? 1 : draw.number(1, 60'000'000);
  const std::int64_t packets = draw.of(std::array<std::int64_t, 3>{3, 30, 200});
  const std::int64_t hot = draw.number(0, 2) == 0 ? draw.number(0, hosts - 1) : -1;
  const bool levels = c.settings.lanes == 5 && c.net.tables.lanes() == 1;
  const std::int64_t messages = draw.number(2, 40);
  for (std::int64_t id = 0; id < messages; id++) {
    Injection i{.time = at_ps(draw.number(0, spread) / 1000 * 1000), .id = id};
    i.source = static_cast<std::int32_t>(draw.number(0, hosts - 1));
    i.destination = static_cast<std::int32_t>(hot >= 0 ? hot : draw.number(0, hosts - 1));
    i.bytes = draw.number(0, 2) == 0 ? draw.number(0, packets) * c.settings.mtu
                                     : draw.number(0, packets * c.settings.mtu);
    if (levels) i.level = static_cast<std::int32_t>(draw.number(0, 4));
    c.list.push_back(i);
  }
  return c;
}

std::int64_t header_bytes(const Case& c, std::int64_t bytes) {
  return std::max<std::int64_t>(1, (bytes + c.settings.mtu - 1) / c.settings.mtu) * c.settings.packet_header +
         c.settings.message_header;
}

/// Nothing lost, nobody faster than an idle fabric, no link busier than time allows.
bool holds_together(const Case& c, const Run& r) {
  if (!r.stuck.empty()) return !check(c.net.fabric, c.net.tables).acyclic();
  if (r.leaks != 0 || r.arrivals.size() != c.list.size()) return false;
  const PacketNetwork idle(c.net.fabric, c.net.tables, c.settings);
  std::vector<std::int64_t> into(static_cast<std::size_t>(c.net.fabric.hosts()), 0);
  TimePoint end{};
  for (const Arrival& a : r.arrivals) {
    const Injection& i = c.list[static_cast<std::size_t>(a.id)];
    if (a.latency() < idle.unloaded(i.source, i.destination, i.bytes).total) return false;
    if (i.source != i.destination)
      into[static_cast<std::size_t>(i.destination)] += i.bytes + header_bytes(c, i.bytes);
    end = std::max(end, a.time);
  }
  for (int host = 0; host < c.net.fabric.hosts(); host++) {
    const Port p = c.net.fabric.port_towards_host(c.net.fabric.host(host));
    if (r.figures.ports[static_cast<std::size_t>(p)].bytes != into[static_cast<std::size_t>(host)])
      return false;
  }
  for (std::size_t p = 0; p < r.figures.ports.size(); p++) {
    if (r.figures.ports[p].busy > end - TimePoint{} || r.figures.ports[p].stalled < Duration{0}) return false;
    if (c.settings.bin.count() == 0) continue;
    std::int64_t sum = 0;
    for (const std::int64_t busy : r.figures.busy_ps[p]) {
      if (busy > c.settings.bin.count()) return false;
      sum += busy;
    }
    if (sum != r.figures.ports[p].busy.count()) return false;
  }
  return true;
}

struct Tally {
  int cases = 0, stuck = 0;
  std::int64_t trains = 0, broken = 0;
};

void examine(unsigned seed, Tally& tally) {
  CAPTURE(seed);
  Case c = draw_case(seed);
  c.settings.trains = 0;
  const Run packets = run(c.net, c.settings, c.list);
  CHECK(holds_together(c, packets));
  c.settings.trains = 2;
  const Run trains = run(c.net, c.settings, c.list);
  CHECK(same(packets, trains));
  for (const int parts : {2, 3, 4}) {
    if (parts > c.net.fabric.hosts()) continue;
    c.settings.trains = parts == 3 ? 0 : 2;
    CAPTURE(parts);
    CHECK(same(packets, run(c.net, c.settings, c.list, parts)));
  }
  tally.cases++;
  tally.stuck += packets.stuck.empty() ? 0 : 1;
  tally.trains += trains.trains;
  tally.broken += trains.broken;
}

}  // namespace

TEST_CASE("Trains are packets, parts are the whole, nothing is lost", "[property]") {
  Tally tally;
  for (unsigned seed = 1; seed <= 150; seed++) examine(seed, tally);
  CHECK(tally.trains > 100);
  CHECK(tally.broken > 30);
}

TEST_CASE("A ring that blocks itself is told from one that is slow", "[property]") {
  // Everybody to the second next, one packet of room: all hold what the next one needs.
  const Net ring("torus:5,hosts=2", "minhop"), lanes("torus:5,hosts=2", "lash");
  REQUIRE(!check(ring.fabric, ring.tables).acyclic());
  REQUIRE(check(lanes.fabric, lanes.tables).acyclic());
  std::vector<Injection> list;
  for (std::int32_t i = 0; i < 10; i++)
    list.push_back({.id = i, .source = i, .destination = (i + 4) % 10, .bytes = 1 << 20});
  const Settings s{.switch_buffer = 4160};
  const Run stuck = run(ring, s, list), slow = run(lanes, s, list);
  CHECK(stuck.arrivals.size() < list.size());
  CHECK_THAT(stuck.stuck, Catch::Matchers::Contains("packets wait for each other"));
  CHECK(slow.arrivals.size() == list.size());
  CHECK(slow.stuck.empty());
}

TEST_CASE("Congestion control frees those who only pass by", "[congestion]") {
  // Six hosts of two leaves to one host; a seventh sends to a neighbor of that host over the same cable.
  const Net net("fat-tree:leaves=3,spines=1,hosts=4,rate=4xNDR,host-rate=4xEDR", "updn");
  std::vector<Injection> list;
  for (const std::int32_t i : {0, 1, 2, 4, 5, 6})
    list.push_back({.id = i, .source = i, .destination = 8, .bytes = 8 << 20});
  list.push_back({.time = at_ps(400'000'000), .id = 99, .source = 3, .destination = 9, .bytes = 1 << 20});
  Settings s;
  const Run off = run(net, s, list);
  s.congestion_control = true;
  s.cc_threshold = 8;
  s.ccti_timer = Duration{5'000'000};
  const Run on = run(net, s, list);
  CHECK(on.arrivals.back().latency() * 2 < off.arrivals.back().latency());
  // The link to the host stays busy.
  CHECK(on.figures.end - TimePoint{} < (off.figures.end - TimePoint{}) * 12 / 10);
}

TEST_CASE("A thousand more", "[.slow]") {
  Tally tally;
  for (unsigned seed = 1000; seed < 2000; seed++) examine(seed, tally);
  WARN(fmt::format("{} cases, {} deadlocks, {} trains, {} broken", tally.cases, tally.stuck, tally.trains,
                   tally.broken));
}

}  // namespace simreplay::infiniband
