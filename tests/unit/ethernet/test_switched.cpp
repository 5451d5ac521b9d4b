// Switched Ethernet against formulas, and against all its frames one by one.

#include <random>

#include "common/error.hpp"
#include "replay/network/ethernet/frames.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/ethernet/small_switched.hpp"

namespace simreplay::ethernet::test {
namespace {

// 1 Gb/s: 8 ns/B.
constexpr std::int64_t tw = 8000, full = 1538 * tw, cable = 50'000, delay = 2'000'000;
const std::vector<Ratio> equal_rates(4, Ratio{tw, 1});

Message message(std::int64_t time, std::int32_t source, std::int32_t destination, std::int64_t bytes,
                std::int64_t id = -1) {
  return {TimePoint{Duration{time}}, id < 0 ? source : id, source, destination, bytes, 0};
}
std::int64_t ps(const Arrival& a) { return a.time.time_since_epoch().count(); }

std::vector<Message> random_messages(std::mt19937& random, unsigned hosts, int count) {
  std::vector<Message> list;
  for (int i = 0; i < count; i++) {
    const auto source = static_cast<std::int32_t>(random() % hosts);
    const auto stride = static_cast<std::int32_t>(1 + random() % (hosts - 1));
    const auto destination = (source + stride) % static_cast<std::int32_t>(hosts);
    const unsigned largest = 1U << (random() % 17);
    list.push_back(message(static_cast<std::int64_t>(random() % 50) * full, source, destination,
                           random() % 4 == 0 ? 1500 * static_cast<std::int64_t>(random() % 20)
                                             : static_cast<std::int64_t>(random() % largest),
                           i));
  }
  return list;
}

bool same(const Times& a, const Times& b) { return a == b; }
bool same(const PortFigures& a, const PortFigures& b) {
  return a.frames == b.frames && a.busy == b.busy && same(a.queued, b.queued) &&
         same(a.arrived.latency, b.arrived.latency) && a.arrived.bytes == b.arrived.bytes;
}
bool same(const AdapterFigures& a, const AdapterFigures& b) {
  return a.frames == b.frames && a.busy == b.busy && same(a.queued, b.queued) && a.bytes == b.bytes;
}
bool same(const SwitchedRun& a, const SwitchedRun& b) {
  return std::ranges::equal(a.arrivals, b.arrivals, {}, &Arrival::time, &Arrival::time) &&
         std::ranges::equal(a.up, b.up, [](auto& x, auto& y) { return same(x, y); }) &&
         std::ranges::equal(a.down, b.down, [](auto& x, auto& y) { return same(x, y); });
}

}  // namespace

TEST_CASE("A message alone is cut into frames and stored once on its way") {
  SwitchedSettings s = switched_settings();
  s.send_overhead = Duration{700};
  s.receive_overhead = Duration{900};
  const std::int64_t way = 2 * cable + delay + 700 + 900;
  const auto time = [&](std::int64_t bytes) {
    return ps(run(s, equal_rates, {message(0, 0, 1, bytes)}).arrivals[0]);
  };
  for (const std::int64_t small : {0, 1, 46}) CHECK(time(small) == 2 * 84 * tw + way);
  CHECK(time(1000) == 2 * 1038 * tw + way);
  CHECK(time(1500) == 2 * full + way);
  // The last frame is shorter than the one before it, for which it waits.
  for (const std::int64_t n : {1, 2, 100}) CHECK(time(1500 * n + 100) == (n + 1) * full + 138 * tw + way);
  // 100 MB: 66,666 full frames and 1,000 bytes.
  CHECK(time(100'000'000) == 66'667 * full + 1038 * tw + way);
}

TEST_CASE("Links of different rates: the slower one counts") {
  const SwitchedSettings s = switched_settings();
  const std::vector<Ratio> rates{{tw, 1}, {tw * 10, 1}};
  const std::int64_t n = 20, way = 2 * cable + delay;
  CHECK(ps(run(s, rates, {message(0, 0, 1, n * 1500)}).arrivals[0]) == full + 10 * n * full + way);
  CHECK(ps(run(s, rates, {message(0, 1, 0, n * 1500)}).arrivals[0]) == 10 * n * full + full + way);
}

TEST_CASE("Frames that meet at an output take turns") {
  const SwitchedSettings s = switched_settings();
  const std::int64_t n = 50, way = 2 * cable + delay;
  const SwitchedRun r = run(s, equal_rates, {message(0, 0, 2, n * 1500), message(0, 1, 2, n * 1500)});
  // Frame k of both is ready at the same time; that of host 0 goes first.
  CHECK(ps(r.arrivals[0]) == full + (2 * n - 1) * full + way);
  CHECK(ps(r.arrivals[1]) == full + 2 * n * full + way);
  CHECK(r.down[2].queued.most_ps == n * full);
  // A long message comes through a short one in between, which is delayed by what was before it.
  const SwitchedRun late = run(s, equal_rates, {message(0, 0, 2, n * 1500), message(10 * full, 1, 2, 1500)});
  CHECK(ps(late.arrivals[1]) == 10 * full + 3 * full + way);
  CHECK(ps(late.arrivals[0]) == (n + 2) * full + way);
}

TEST_CASE("Both directions of a link, and different outputs, do not disturb each other") {
  const SwitchedRun r = run(switched_settings(), equal_rates,
                            {message(0, 0, 1, 15000), message(0, 1, 0, 15000), message(0, 2, 3, 15000)});
  for (const Arrival& a : r.arrivals) CHECK(ps(a) == 11 * full + 2 * cable + delay);
}

TEST_CASE("An adapter sends one message after the other, in the order of times and ids") {
  const std::int64_t way = 2 * cable + delay;
  const SwitchedRun r =
      run(switched_settings(), equal_rates,
          {message(5, 0, 2, 1500, 4), message(5, 0, 1, 1500, 2), message(0, 0, 1, 3000, 9)});
  CHECK(ps(r.arrivals[2]) == 3 * full + way);
  CHECK(ps(r.arrivals[0]) == 4 * full + way);
  CHECK(ps(r.arrivals[1]) == 5 * full + way);
  CHECK(r.up[0].queued.most_ps == 3 * full - 5);
}

TEST_CASE("Trains of frames do what frames do one by one") {
  std::mt19937 random(1);
  bool as_plain = true, as_frames = true, in_steps = true;
  for (int i = 0; i < 300; i++) {
    SwitchedSettings s = switched_settings();
    s.mtu = i % 3 == 0 ? 200 : 1500;
    s.send_overhead = Duration{i % 2 * 5'000'000};
    std::vector<Ratio> rates;
    const auto hosts = static_cast<unsigned>(2 + random() % 6);
    for (unsigned h = 0; h < hosts; h++)
      rates.push_back(i % 4 == 0 ? Ratio{tw, 1} : Ratio{1000 + random() % 20'000, 1 + random() % 3});
    const std::vector<Message> list = random_messages(random, hosts, 60);
    const SwitchedRun trains = run(s, rates, list);
    in_steps = in_steps && same(trains, run(s, rates, list, Duration{7 * full}));
    s.trains = false;
    as_frames = as_frames && same(trains, run(s, rates, list));
    PlainSwitch plain(s, rates);
    const auto expected = plain.run(list);
    for (const Arrival& a : trains.arrivals) as_plain = as_plain && a.time == expected.at(a.id);
    for (auto& [host, times] : plain.queued)
      as_plain = as_plain && same(times, trains.down[static_cast<std::size_t>(host)].queued);
  }
  CHECK(as_plain);
  CHECK(as_frames);
  CHECK(in_steps);
}

TEST_CASE("Bytes and frames that are sent arrive, in whatever order messages are given") {
  std::mt19937 random(2);
  std::vector<Message> list = random_messages(random, 4, 500);
  const SwitchedRun r = run(switched_settings(), equal_rates, list);
  std::int64_t given = 0, sent = 0, arrived = 0, frames = 0;
  for (const Message& m : list) given += m.bytes;
  for (const AdapterFigures& f : r.up) {
    sent += f.bytes;
    frames += f.frames;
  }
  for (const PortFigures& f : r.down) {
    arrived += f.arrived.bytes;
    frames -= f.frames;
  }
  CHECK(sent == given);
  CHECK(arrived == given);
  CHECK(frames == 0);
  std::ranges::shuffle(list, random);
  CHECK(same(r, run(switched_settings(), equal_rates, list)));
}

TEST_CASE("A message that takes longer than times can be is refused by switched Ethernet") {
  const SwitchedSettings s = switched_settings();
  CHECK_THROWS_AS(run(s, equal_rates, {message(0, 0, 1, std::int64_t{1} << 60)}), Error);
}

TEST_CASE("Bad settings of switched Ethernet are refused with what was expected") {
  const auto refusal = [](std::string_view key, std::string_view value) -> std::string {
    SwitchedSettings s;
    try {
      for (const auto& row : switched_rows())
        if (row.key == key) row.set(s, value);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal("rate", "0"), ContainsSubstring("expected a rate such as 100Mb/s"));
  CHECK_THAT(refusal("mtu", "0"), ContainsSubstring("expected 1 B"));
  CHECK_THAT(refusal("trains", "maybe"), ContainsSubstring("on or off"));
  CHECK_THAT(refusal("cable-delay", "1"), ContainsSubstring("expected a time"));
  for (const NetworkKey& key : network_keys(switched_prefix, switched_rows())) {
    CHECK(key.key.starts_with("ethernet."));
    CHECK_THROWS_AS(key.key == "ethernet.rates" ? throw std::invalid_argument("a file") : key.check("?"),
                    std::invalid_argument);
  }
}

}  // namespace simreplay::ethernet::test
