// Shared Ethernet with random messages: against a plain simulation, in any order, and what must be conserved.

#include <map>
#include <random>

#include "common/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/ethernet/small_shared.hpp"

namespace simreplay::ethernet::test {
namespace {

std::vector<Message> random_messages(std::mt19937& random, std::int32_t hosts, int count) {
  std::vector<Message> list;
  for (int i = 0; i < count; i++) {
    Message m{.time = at_ps(static_cast<std::int64_t>(random() % 40) * 50'000), .id = i};
    m.source = static_cast<std::int32_t>(random() % static_cast<unsigned>(hosts));
    m.destination =
        (m.source + 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(hosts - 1))) % hosts;
    m.bytes = random() % 5 == 0 ? 0 : static_cast<std::int64_t>(random() % 3000);
    list.push_back(m);
  }
  return list;
}

/// One domain by its definition: what is left of each transfer, in parts of a picosecond that all numbers of
/// hosts divide, falls by 1/S per picosecond.
class PlainDomain {
 public:
  PlainDomain(const SharedSettings& s, std::vector<Message> list) : settings_(s) {
    std::ranges::sort(list, [](const Message& a, const Message& b) {
      return std::pair(a.time, a.id) < std::pair(b.time, b.id);
    });
    for (const Message& m : list) waiting_[m.source].push_back(m);
  }

  std::map<std::int64_t, std::int64_t> run() {
    for (auto& [host, list] : waiting_) ready_[host] = list.front().time + settings_.start;
    while (!ready_.empty() || !left_.empty()) step();
    return arrivals_;
  }

 private:
  static constexpr Int128 parts = 720'720 * 7;  // all numbers to 16, and the sevenths of the rate

  TimePoint end_of(Int128 left) const {
    const Int128 s = static_cast<Int128>(left_.size());
    return now_ + Duration{static_cast<std::int64_t>((left * s + parts - 1) / parts)};
  }

  void step() {
    TimePoint next = network::never;
    for (const auto& [host, left] : left_) next = std::min(next, end_of(left));
    for (const auto& [host, time] : ready_) next = std::min(next, time);
    for (auto& [host, left] : left_)
      left -= static_cast<Int128>((next - now_).count()) * parts / static_cast<Int128>(left_.size());
    now_ = next;
    for (auto it = left_.begin(); it != left_.end();) {
      const auto [host, left] = *it++;
      if (left <= 0) end(host);
    }
    for (auto it = ready_.begin(); it != ready_.end();) {
      const auto [host, time] = *it++;
      if (time == now_) begin(host);
    }
  }

  void begin(std::int32_t host) {
    ready_.erase(host);
    const Int128 bytes = waiting_[host].front().bytes;
    left_[host] = bytes * static_cast<Int128>(settings_.per_byte.numerator()) * parts /
                  static_cast<Int128>(settings_.per_byte.denominator());
    if (bytes == 0) end(host);
  }

  void end(std::int32_t host) {
    left_.erase(host);
    std::vector<Message>& list = waiting_[host];
    arrivals_[list.front().id] = now_.time_since_epoch().count();
    list.erase(list.begin());
    if (!list.empty()) ready_[host] = std::max(list.front().time, now_) + settings_.start;
  }

  const SharedSettings& settings_;
  std::map<std::int32_t, std::vector<Message>> waiting_;
  std::map<std::int32_t, TimePoint> ready_;
  std::map<std::int32_t, Int128> left_;
  std::map<std::int64_t, std::int64_t> arrivals_;
  TimePoint now_{};
};

}  // namespace

TEST_CASE("Shared Ethernet does what a plain simulation does") {
  std::mt19937 random(1);
  bool equal = true;
  for (int i = 0; i < 200; i++) {
    const auto hosts = static_cast<std::int32_t>(2 + random() % 15);
    const Ratio per_byte = i % 2 == 0 ? Ratio{800, 1} : Ratio{8000, 7};
    const SharedSettings s = settings(i % 3 == 0 ? 1 : 150'000, per_byte);
    const std::vector<Message> list = random_messages(random, hosts, 60);
    const auto expected = PlainDomain(s, list).run();
    for (const Arrival& a : run(s, hosts, list).arrivals) equal = equal && ps_of(a) == expected.at(a.id);
  }
  CHECK(equal);
}

TEST_CASE("The order in which messages are given does not matter, and nothing is lost") {
  std::mt19937 random(2);
  for (const std::int32_t domains : {1, 2, 5}) {
    const std::int32_t hosts = 60;  // more than can be divided exactly
    const SharedSettings s = settings(150'000, {800, 1});
    std::vector<Message> list = random_messages(random, hosts, 400);
    const Run first = run(s, hosts, list, domains);
    REQUIRE(first.arrivals.size() == list.size());
    std::int64_t given = 0, sent = 0, arrived = 0;
    for (const Message& m : list) given += m.bytes;
    for (const DomainFigures& f : first.figures) {
      sent += f.bytes;
      arrived += f.arrived.bytes;
    }
    CHECK(sent == given);
    CHECK(arrived == given);
    std::ranges::shuffle(list, random);
    const Run second = run(s, hosts, list, domains);
    CHECK(std::ranges::equal(first.arrivals, second.arrivals, {}, &Arrival::time, &Arrival::time));
  }
}

TEST_CASE("A medium is busy for the work of its transfers") {
  std::mt19937 random(3);
  const SharedSettings s = settings(150'000, {800, 1});
  const std::vector<Message> list = random_messages(random, 12, 300);
  std::int64_t work = 0;
  for (const Message& m : list) work += m.bytes * 800;
  const Duration busy = run(s, 12, list).figures[0].busy;
  CHECK(busy.count() >= work);
  CHECK(busy.count() <= work + 300);  // less than a picosecond of each transfer is rounded up
}

TEST_CASE("A transfer that takes longer than times can be is refused") {
  CHECK_THROWS_AS(run(settings(0, {1'000'000, 1}), 2, {{at_ps(0), 0, 0, 1, INT64_MAX / 2, 0}}), Error);
  std::vector<Message> list;
  for (std::int32_t h = 0; h < 4; h++) list.push_back({at_ps(0), h, h, 4, std::int64_t{1} << 41, 0});
  CHECK_THROWS_AS(run(settings(0, {1 << 20, 1}), 5, list), Error);
}

TEST_CASE("Bad settings of shared Ethernet are refused with what was expected") {
  const auto refusal = [](std::string_view key, std::string_view value) -> std::string {
    SharedSettings s;
    try {
      for (const auto& row : shared_rows())
        if (row.key == key) row.set(s, value);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal("per-byte", "0"), ContainsSubstring("expected a rate such as 100Mb/s"));
  CHECK_FALSE(refusal("per-byte", "0Mb/s").empty());
  CHECK_THAT(refusal("start", "3"), ContainsSubstring("expected a time"));
  CHECK_THAT(refusal("domains", "0"), ContainsSubstring("from 1 on, or a file"));
  CHECK_THAT(refusal("switch-delay", "0"), ContainsSubstring("above 0"));
  CHECK_THAT(refusal("mtu", "0"), ContainsSubstring("expected 1 B"));
  for (const auto& row : shared_rows()) CHECK(refusal(row.key, row.value).empty());
}

}  // namespace simreplay::ethernet::test
