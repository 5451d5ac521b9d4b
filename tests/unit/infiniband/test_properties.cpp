// Random small fabrics and traffic: trains are packets, parts are the whole, nothing is lost.

#include <fmt/format.h>

#include <array>

#include "replay/network/infiniband/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infiniband/random_network.hpp"

namespace simreplay::infiniband {
namespace {

struct Case {
  Net net;
  Settings settings;
  std::vector<Injection> list;
};

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
