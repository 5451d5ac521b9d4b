// What can be computed by hand: single messages, shared links, credits of long cables, arbitration.

#include <fmt/format.h>

#include "common/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infiniband/small_network.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::int64_t header = 26, mtu = 4096, switch_ps = 100'000, cable_ps = 10'000;

/// A row of switches with a host at each end.
Net row_of(int switches, LinkRate rate, Duration cable = usual_delay) {
  FabricBuilder b;
  for (int i = 0; i < switches; i++) b.add_switch(fmt::format("s{}", i), 4);
  for (int i = 0; i < 2; i++) b.add_host(fmt::format("h{}", i));
  for (int i = 0; i + 1 < switches; i++) b.connect({false, i, 1}, {false, i + 1, 2}, rate, cable);
  b.connect({true, 0, 1}, {false, 0, 3}, rate, cable);
  b.connect({true, 1, 1}, {false, switches - 1, 4}, rate, cable);
  return Net(b.build());
}

std::int64_t arrival_ps(const Net& net, const Settings& settings, std::int64_t bytes) {
  const Run r = run(net, settings, {{.id = 7, .source = 0, .destination = 1, .bytes = bytes}});
  REQUIRE(r.arrivals.size() == 1);
  CHECK(r.leaks == 0);
  return r.arrivals[0].time.time_since_epoch().count();
}

}  // namespace

TEST_CASE("A message on an idle path takes what the formula says, to the picosecond", "[closed-form]") {
  for (const char* rate_name : {"4xSDR", "4xDDR", "4xQDR", "4xFDR", "4xEDR", "4xHDR", "4xNDR", "1xXDR"})
    for (const int switches : {1, 2, 5}) {
      const LinkRate rate = *parse_link_rate(rate_name);
      const Net net = row_of(switches, rate);
      for (const std::int64_t bytes :
           {0L, 1L, 4L, 256L, 4095L, 4096L, 4097L, 65536L, 1L << 20, (1L << 28) + 1}) {
        CAPTURE(rate_name, switches, bytes);
        const std::int64_t full = bytes == 0 ? 0 : (bytes - 1) / mtu, rest = bytes - full * mtu;
        const Ratio cost = per_byte(rate);
        const std::int64_t transfer = full * cost.times(mtu + header) + cost.times(rest + header);
        // A packet that is shorter than the one before it waits for nothing: the next link is as fast.
        const std::int64_t expected = (switches + 1) * cable_ps + switches * switch_ps + transfer;
        CHECK(arrival_ps(net, {}, bytes) == expected);
        if (bytes <= 1 << 20) CHECK(arrival_ps(net, {.trains = 0}, bytes) == expected);
        const PacketNetwork model(net.fabric, net.tables, {});
        CHECK(model.unloaded(0, 1, bytes).total.count() == expected);
      }
    }
}

TEST_CASE("Software, minimum size, store-and-forward and header wait add what they say", "[closed-form]") {
  const Net net = row_of(3, *parse_link_rate("4xEDR"));
  const std::int64_t plain = arrival_ps(net, {}, 10'000);
  CHECK(arrival_ps(net, {.send_overhead = Duration{700}, .receive_overhead = Duration{20}}, 10'000) ==
        plain + 720);
  CHECK(arrival_ps(net, {.send_per_byte = Ratio{1, 2}, .receive_per_byte = Ratio{2, 1}}, 10'000) ==
        plain + 25'000);
  CHECK(arrival_ps(net, {.minimum_message = 10'000}, 1) == plain);
  CHECK(arrival_ps(net, {.header_wait = 26}, 10'000) == plain + 3 * 26 * 80);
  CHECK(arrival_ps(net, {.message_header = 16}, 10'000) == plain + 16 * 80);
  const std::int64_t packet = (mtu + header) * 80;
  CHECK(arrival_ps(net, {.forwarding = Forwarding::store_and_forward}, 3 * mtu) ==
        arrival_ps(net, {}, 3 * mtu) + 3 * packet);
}

TEST_CASE("A faster link behind a slower one waits until the tail cannot be late", "[closed-form]") {
  const auto mixed = [](const char* first, const char* second) {
    FabricBuilder b;
    b.add_switch("s", 4);
    b.add_host("a");
    b.add_host("b");
    b.connect({true, 0, 1}, {false, 0, 1}, *parse_link_rate(first));
    b.connect({true, 1, 1}, {false, 0, 2}, *parse_link_rate(second));
    return Net(b.build());
  };
  const std::int64_t slow = (mtu + header) * 160, fixed = 2 * cable_ps + switch_ps;
  for (const std::int64_t trains : {0, 2}) {
    const Settings s{.trains = trains};
    CHECK(arrival_ps(mixed("2xEDR", "4xEDR"), s, 20 * mtu) == fixed + 20 * slow);
    CHECK(arrival_ps(mixed("4xEDR", "2xEDR"), s, 20 * mtu) == fixed + 20 * slow);
  }
}

TEST_CASE("Messages share a link in equal parts, an incast fills it", "[closed-form]") {
  const Net net("single:9");
  constexpr std::int64_t packets = 50, packet = (mtu + header) * 80;
  for (const int senders : {2, 8}) {
    std::vector<Injection> list;
    for (int i = 0; i < senders; i++)
      list.push_back({.id = i, .source = i, .destination = 8, .bytes = packets * mtu});
    const Run r = run(net, {}, list);
    const std::int64_t first_bit = 2 * cable_ps + switch_ps;
    std::int64_t last = 0;
    for (const Arrival& a : r.arrivals) {
      const std::int64_t t = a.time.time_since_epoch().count();
      last = std::max(last, t);
      CHECK(t > first_bit + (packets * senders - senders) * packet);  // within a round of the last one
    }
    CHECK(last == first_bit + packets * senders * packet);
    const Port to = net.fabric.port_towards_host(net.fabric.host(8));
    CHECK(r.figures.ports[static_cast<std::size_t>(to)].busy.count() == packets * senders * packet);
  }
}

TEST_CASE("A long cable carries what its credits allow", "[closed-form]") {
  const Duration cable{std::chrono::microseconds(50)};
  const Net net = row_of(1, *parse_link_rate("4xEDR"), cable);
  const Settings s{.switch_buffer = 8 * 65 * 64, .adapter_buffer = 8 * 65 * 64};  // eight packets
  constexpr std::int64_t packet = (mtu + header) * 80, rounds = 40;
  // The credits of the adapter's link: there, through the switch, and back with a flow-control packet.
  const std::int64_t round = packet + 2 * cable.count() + switch_ps + s.credit_delay.count() + 8 * 80;
  const std::int64_t start = cable.count() + switch_ps;
  for (const std::int64_t trains : {0, 2}) {
    Settings either = s;
    either.trains = trains;
    CHECK(arrival_ps(net, either, 8 * rounds * mtu) ==
          start + (rounds - 1) * round + 8 * packet + cable.count());
  }
}

TEST_CASE("Lanes share a link by their weights, and high priority goes first up to its limit",
          "[arbitration]") {
  const Net net("single:4");
  // Two messages of one host on two lanes, to two hosts.
  const auto shares = [&](Settings s) {
    s.lanes = 2;
    std::vector<Injection> list;
    for (int lane = 0; lane < 2; lane++)
      list.push_back({.id = lane, .source = 0, .destination = 1 + lane, .bytes = 3000 * mtu, .level = lane});
    PacketNetwork model(net.fabric, net.tables, s);
    for (const Injection& i : list) model.inject(i);
    model.advance(at_ps(400 * 329'760));
    const auto sent = [&](int host) {
      return model.figures()
          .ports[static_cast<std::size_t>(net.fabric.port_towards_host(net.fabric.host(host)))]
          .packets;
    };
    return std::pair{sent(1), sent(2)};
  };
  const auto near = [](std::int64_t found, std::int64_t expected) { return std::abs(found - expected) <= 4; };
  // 65 blocks a packet: a weight of 130 is two packets, of 65 one.
  const auto [two, one] = shares({.high_table = {}, .low_table = {{0, 130}, {1, 65}}});
  CHECK(near(two, 266));
  CHECK(near(one, 133));
  const auto [high, low] = shares({.high_table = {{0, 4}}, .low_table = {{1, 4}}, .high_limit = 255});
  CHECK(near(high, 399));
  CHECK(low <= 2);
  const auto [limited, rest] = shares({.high_table = {{0, 4}}, .low_table = {{1, 4}}, .high_limit = 0});
  CHECK(near(limited, 200));
  CHECK(near(rest, 200));
  const auto [a, b] = shares({.lane_order = LaneOrder::fcfs});
  CHECK(near(a, b));
}

TEST_CASE("Bounds are those of the smallest packet, and an empty message meets them", "[closed-form]") {
  const Net net = row_of(2, *parse_link_rate("4xEDR"));
  const Settings s{.send_overhead = Duration{300}, .receive_overhead = Duration{500}};
  PacketNetwork model(net.fabric, net.tables, s);
  const network::Bounds b = model.bounds();
  CHECK(b.notice == Duration{header * 80 + cable_ps + 500});
  CHECK(b.entry == Duration{300});
  CHECK(b.lookahead == Duration::max());
  CHECK(b.window() == b.notice + b.entry);
  CHECK(b.window(Duration{50}) == b.notice + b.entry + Duration{50});
  const TimePoint arrival = at_ps(arrival_ps(net, s, 0));
  model.inject({.source = 0, .destination = 1, .payload = 77});
  model.advance(arrival - b.notice);
  CHECK(model.take_arrivals().empty());
  model.advance(arrival - b.notice + Duration{1});
  const std::vector<Arrival> known = model.take_arrivals();
  REQUIRE(known.size() == 1);
  CHECK(known[0].time == arrival);
  CHECK(known[0].payload == 77);

  const Settings large{
      .minimum_message = 1000, .send_per_byte = Ratio{1, 1}, .receive_per_byte = Ratio{2, 1}};
  CHECK(PacketNetwork(net.fabric, net.tables, large).bounds().notice ==
        Duration{(header + 1) * 80 + cable_ps + 2000});
  CHECK(PacketNetwork(net.fabric, net.tables, large).bounds().entry == Duration{1000});
  const Settings slow{.receive_overhead = Duration{1'000'000}};
  CHECK(PacketNetwork(net.fabric, net.tables, slow, divide(net.fabric, 2)).bounds().lookahead ==
        Duration{switch_ps + cable_ps});
}

TEST_CASE("A message may be told of as long as its adapter need not know of it", "[closed-form]") {
  const Net net("single:2");
  PacketNetwork model(net.fabric, net.tables, {.send_overhead = Duration{300}});
  model.advance(at_ps(500));
  model.inject({.time = at_ps(200), .destination = 1});
  CHECK_THROWS_WITH(model.inject({.time = at_ps(199), .id = 1, .destination = 1}),
                    "message 1: expected a time from 200 ps on, found 199 ps");
}

TEST_CASE("What cannot be is refused with names", "[bad-input]") {
  const Net net("single:4"), other("single:5");
  PacketNetwork model(net.fabric, net.tables, {});
  const auto refused = [&](const Injection& i) {
    try {
      model.inject(i);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refused({.id = 3, .source = 4, .destination = 0}) ==
        "message 3: expected a host from 0 to 3, found 4");
  CHECK(refused({.id = 3, .source = 0, .destination = -1}) ==
        "message 3: expected a host from 0 to 3, found -1");
  CHECK(refused({.id = 3, .destination = 1, .bytes = -8}) ==
        "message 3: expected a size from 0 to 2^50 bytes, found -8 bytes");
  CHECK(refused({.time = at_ps(-1), .id = 3, .destination = 1}) ==
        "message 3: expected a time that is not negative, found -1 ps");
  model.advance(at_ps(500));
  CHECK(refused({.time = at_ps(499), .id = 3, .destination = 1}) ==
        "message 3: expected a time from 500 ps on, found 499 ps");
  CHECK_THROWS_AS(PacketNetwork(other.fabric, net.tables, {}), Error);
  CHECK_THROWS_AS(PacketNetwork(net.fabric, net.tables, {.mtu = 1000}), Error);
  CHECK_THROWS_AS(PacketNetwork(net.fabric, net.tables, {.switch_buffer = 4096}), Error);

  Tables lost = net.tables;
  lost.set_port(0, net.fabric.lid(net.fabric.host(2)), Tables::no_route);
  PacketNetwork broken(net.fabric, lost, {});
  CHECK_THROWS_WITH(broken.inject({.id = 9, .source = 1, .destination = 2}),
                    "message 9: h1 to h2: sw0, which has no route");
  FabricBuilder b;
  b.add_switch("s", 4);
  b.add_host("a");
  b.add_host("b");
  b.connect({true, 0, 1}, {false, 0, 1}, LinkRate{0, Speed::edr});
  b.connect({true, 1, 1}, {false, 0, 2}, LinkRate{4, Speed::edr});
  const Fabric rateless = b.build();
  CHECK_THROWS_AS(PacketNetwork(rateless, Tables(rateless), {}), Error);
}

}  // namespace simreplay::infiniband
