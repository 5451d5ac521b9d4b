// Windows of time, queues as time goes on, and the test whether a difference is chance.
#include <vector>

#include "common/performance/hypotheses.hpp"
#include "common/performance/statistics.hpp"
#include "replay/observe/collector.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::performance;

namespace {

TimePoint at(std::int64_t ps) { return TimePoint{Duration{ps}}; }
constexpr std::int64_t us = 1'000'000;

}  // namespace

TEST_CASE("windows take all of an interval, whichever way they grow") {
  Profile once, in_pieces;
  once.add(Activity::computation, at(0), Duration{1000 * us});
  for (int i = 0; i < 1000; i++) in_pieces.add(Activity::computation, at(i * us), Duration{us});
  in_pieces.add(Activity::transfer, at(10), Duration{0});
  in_pieces.add(Activity::transfer, at(10), Duration{-5});
  REQUIRE(once.shift() == in_pieces.shift());
  std::int64_t sum = 0;
  for (std::size_t w = 0; w < Profile::windows; w++) {
    CHECK(once.in(w, Activity::computation) == in_pieces.in(w, Activity::computation));
    CHECK(in_pieces.in(w, Activity::transfer) == Duration{0});
    sum += once.in(w, Activity::computation).count();
  }
  CHECK(sum == 1000 * us);
}

TEST_CASE("windows of several tasks get one length, and cover the time") {
  Profile shorter, longer;
  shorter.add(Activity::computation, at(0), Duration{10 * us});
  longer.add(Activity::waiting_for_all, at(50 * us), Duration{450 * us});
  const auto all = shares_of({shorter, longer}, Duration{500 * us});
  REQUIRE(all.size() == 2);
  CHECK(all[0].size() == all[1].size());
  CHECK(all[0].size() > 32);
  CHECK(all[0].front()[0] == 1);
  CHECK(all[0].back()[0] == 0);
  CHECK(all[1].back()[static_cast<std::size_t>(Activity::waiting_for_all)] == Approx(1));
}

TEST_CASE("a queue holds what was sent and not yet received") {
  observe::Queue q;
  q.pass(at(0), at(10));
  q.pass(at(1), at(10));
  q.pass(at(2), at(20));
  CHECK(q.most == 3);
  q.pass(at(10), at(30));  // the first two are gone
  CHECK(q.most == 3);
  CHECK(q.in_flight == Duration{10 + 9 + 18 + 20});
  observe::Queue long_one;
  for (int i = 0; i < 1000; i++) long_one.pass(at(i), at(i + 500));
  CHECK(long_one.most == 500);
}

TEST_CASE("the test of Mann and Whitney") {
  // Permeability of a membrane, table 4.1 of Hollander and Wolfe; U = 35 and 15, variance 10 * 5 * 16 / 12, so
  // z = (35 - 25 - 0.5) / 8.165 = 1.1635 and -1.2860.
  const std::vector<double> x{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
      y{1.15, 0.88, 0.90, 0.74, 1.21};
  CHECK(chance_of(x, y) == Approx(0.1223).margin(0.0001));
  CHECK(chance_of(y, x) == Approx(0.9008).margin(0.0001));
  const std::vector<double> high(40, 0.9), low(40, 0.2), few{1, 2, 3, 4};
  CHECK(chance_of(high, low) < 1e-10);
  CHECK(chance_of(high, high) == 1);
  CHECK(chance_of(few, low) == 1);
}
