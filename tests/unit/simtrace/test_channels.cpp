// The hash table of open channels against a plain map of queues.

#include <deque>
#include <map>
#include <random>
#include <tuple>

#include "capture/simtrace/channels.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::simtrace;

TEST_CASE("channels behave like a map of queues") {
  using Key = std::tuple<int, int, int, int>;
  std::mt19937 random(11);
  const auto below = [&](unsigned n) { return static_cast<std::int32_t>(random() % n); };
  std::map<Key, std::pair<Side, std::deque<std::uint64_t>>> expected;
  Channels channels;
  std::size_t open = 0;
  for (std::uint64_t i = 0; i < 300'000; i++) {
    // Phases of filling and of emptying, so that the table grows and holes are closed.
    const bool filling = i / 20'000 % 2 == 0;
    const Channel c{below(20), below(20), below(2), below(10)};
    auto& [side, queue] = expected[{c.source, c.destination, c.communicator, c.tag}];
    const Side own = queue.empty() ? (below(2) == 0 ? Side::send : Side::receive)
                     : filling     ? side
                                   : (side == Side::send ? Side::receive : Side::send);
    const auto met = channels.meet(c, own, {i, static_cast<std::int64_t>(i) * 3, 0, Op::Send});
    if (queue.empty() || side == own) {
      REQUIRE_FALSE(met);
      side = own;
      queue.push_back(i);
      open++;
    } else {
      REQUIRE(met);
      REQUIRE(met->call == queue.front());
      REQUIRE(met->bytes == static_cast<std::int64_t>(queue.front()) * 3);
      queue.pop_front();
      open--;
    }
    REQUIRE(channels.open_count() == open);
  }
  CHECK(channels.open().size() == open);
}

TEST_CASE("open halves are listed by process and call") {
  Channels channels;
  channels.meet({5, 1, 0, 0}, Side::send, {7, 0, -1, Op::Send});
  channels.meet({5, 2, 0, 0}, Side::send, {3, 0, -1, Op::Send});
  channels.meet({9, 2, 0, 0}, Side::receive, {1, 0, -1, Op::Recv});
  const auto open = channels.open();
  REQUIRE(open.size() == 3);
  CHECK(open[0].half.op == Op::Recv);
  CHECK(open[1].half.call == 3);
  CHECK(open[2].half.call == 7);
}
