// Shared Ethernet against formulas: T = t_s + t_w L S.

#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/unit/ethernet/small_shared.hpp"

namespace simreplay::ethernet::test {
namespace {

constexpr std::int64_t ts = 1'500'000;
constexpr std::int64_t tw = 800;

/// From host h to the next one.
Message message(std::int64_t time, std::int32_t source, std::int32_t destination, std::int64_t bytes,
                std::int64_t id = -1) {
  return {at_ps(time), id < 0 ? source : id, source, destination, bytes, 7};
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

TEST_CASE("A message alone takes t_s + t_w L") {
  const std::int64_t bytes = GENERATE(0, 1, 64, 1500, 1'000'000, 100'000'000);
  const Run r = run(settings(ts, {tw, 1}), 2, {message(10, 0, 1, bytes)});
  REQUIRE(r.arrivals.size() == 1);
  CHECK(ps_of(r.arrivals[0]) == 10 + ts + tw * bytes);
  CHECK(r.arrivals[0].payload == 7);
  CHECK(r.figures[0].most_senders == (bytes > 0 ? 1 : 0));
}

TEST_CASE("n equal messages that begin together end together after t_s + t_w L n") {
  // 7 Gb/s: 8000/7 ps/B. More than 35 senders have no common divisor that fits.
  const Ratio per_byte = GENERATE(Ratio{800, 1}, Ratio{8000, 7});
  const std::int32_t n = GENERATE(1, 2, 3, 5, 7, 16, 35, 61, 300);
  const std::int64_t bytes = 4099;
  std::vector<Message> list;
  for (std::int32_t h = 0; h < n; h++) list.push_back(message(0, h, (h + 1) % (n + 1), bytes));
  const Run r = run(settings(ts, per_byte), n + 1, list);
  REQUIRE(r.arrivals.size() == static_cast<std::size_t>(n));
  const auto p = static_cast<std::int64_t>(per_byte.numerator()),
             q = static_cast<std::int64_t>(per_byte.denominator());
  for (const Arrival& a : r.arrivals) CHECK(ps_of(a) == ts + ceil_div(p * bytes * n, q));
  CHECK(r.figures[0].most_senders == n);
  CHECK(r.figures[0].sender_time_ps == static_cast<Int128>(r.figures[0].busy.count()) * n);
}

TEST_CASE("Two messages of different starts and sizes share while both are there") {
  const std::int64_t a = 10'000, b = GENERATE(100, 4'000, 20'000), later = 3'000 * tw;
  const Run r = run(settings(ts, {tw, 1}), 3, {message(0, 0, 2, a), message(later, 1, 2, b)});
  const std::int64_t left = a * tw - later;  // of the first, when the second begins
  const std::int64_t shorter = std::min(left, b * tw), longer = std::max(left, b * tw);
  const std::int64_t first_end = ts + later + 2 * shorter, second_end = first_end + longer - shorter;
  CHECK(ps_of(r.arrivals[0]) == (left < b * tw ? first_end : second_end));
  CHECK(ps_of(r.arrivals[1]) == (left < b * tw ? second_end : first_end));
}

TEST_CASE("n messages of growing sizes leave the medium one after the other") {
  constexpr std::int32_t n = 6;
  std::vector<Message> list;
  for (std::int32_t h = 0; h < n; h++) list.push_back(message(0, h, n, 1000 * (h + 1)));
  const Run r = run(settings(ts, {tw, 1}), n + 1, list);
  std::int64_t end = ts;
  for (std::int32_t h = 0; h < n; h++) {
    end += 1000 * tw * (n - h);  // those that are left share
    CHECK(ps_of(r.arrivals[static_cast<std::size_t>(h)]) == end);
  }
}

TEST_CASE("A host sends one message at a time, in the order of times and ids") {
  const SharedSettings s = settings(ts, {tw, 1});
  // Given in another order. The one of id 4 comes at the time of the one of id 2.
  const Run r = run(s, 3, {message(5, 0, 1, 300, 4), message(5, 0, 2, 200, 2), message(0, 0, 1, 100, 9)});
  CHECK(ps_of(r.arrivals[2]) == ts + 100 * tw);
  CHECK(ps_of(r.arrivals[0]) == 2 * ts + 300 * tw);
  CHECK(ps_of(r.arrivals[1]) == 3 * ts + 600 * tw);
  CHECK(r.figures[0].most_senders == 1);
  CHECK(r.figures[0].queued.most_ps == 2 * ts + 300 * tw - 5);
}

TEST_CASE("Domains do not disturb each other") {
  std::vector<Message> list;
  for (std::int32_t h = 0; h < 6; h++) list.push_back(message(0, h, h / 2 * 2 + (h + 1) % 2, 1000));
  for (const Arrival& a : run(settings(ts, {tw, 1}), 6, list, 3).arrivals)
    CHECK(ps_of(a) == ts + 2 * 1000 * tw);
  for (const Arrival& a : run(settings(ts, {tw, 1}), 6, list, 1).arrivals)
    CHECK(ps_of(a) == ts + 6 * 1000 * tw);
}

TEST_CASE("Between domains a message passes the switch frame by frame") {
  const std::int64_t frames = GENERATE(1, 2, 10);
  const SharedSettings s = settings(ts, {tw, 1});
  const Run r = run(s, 4, {message(0, 0, 2, frames * 1500)}, 2);
  CHECK(ps_of(r.arrivals[0]) == ts + (frames + 1) * 1500 * tw + 50);
  CHECK(r.figures[0].busy == r.figures[1].busy);
  CHECK(r.figures[1].forwarded == frames);
  CHECK(ps_of(run(s, 4, {message(0, 0, 2, 0)}, 2).arrivals[0]) == ts + 50);
}

TEST_CASE("The port of a switch is one sender among the hosts of its domain") {
  const SharedSettings s = settings(ts, {tw, 1});
  // The frame of host 0 and the message of host 3 share from when the frame has come.
  const std::int64_t come = ts + 1500 * tw + 50;
  const Run r = run(s, 4, {message(0, 0, 2, 1500), message(come - ts, 3, 2, 3000)}, 2);
  CHECK(ps_of(r.arrivals[0]) == come + 2 * 1500 * tw);
  CHECK(ps_of(r.arrivals[1]) == come + 2 * 1500 * tw + 1500 * tw);
  // Frames of hosts 0 and 2 come together from two domains; the lower host goes first.
  const Run two = run(s, 6, {message(0, 0, 4, 1500, 8), message(0, 2, 4, 1500, 3)}, 3);
  CHECK(ps_of(two.arrivals[1]) == come + 1500 * tw);
  CHECK(ps_of(two.arrivals[0]) == come + 2 * 1500 * tw);
  CHECK(two.figures[2].port_queued.most_ps == 1500 * tw);
}

TEST_CASE("Frames may have an overhead") {
  SharedSettings s = settings(ts, {tw, 1});
  s.frame_overhead = 38;
  CHECK(ps_of(run(s, 2, {message(0, 0, 1, 0)}).arrivals[0]) == ts + 38 * tw);
  CHECK(ps_of(run(s, 2, {message(0, 0, 1, 3001)}).arrivals[0]) == ts + (3001 + 3 * 38) * tw);
  CHECK(ps_of(run(s, 4, {message(0, 0, 2, 3001)}, 2).arrivals[0]) == ts + (3 * 1538 + 39) * tw + 50);
}

}  // namespace simreplay::ethernet::test
