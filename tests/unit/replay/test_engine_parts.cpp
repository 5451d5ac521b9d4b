// The parts of the engine that stand alone: channels, groups, the partition of processes, noise.
#include <deque>
#include <random>

#include "replay/engine/channels.hpp"
#include "replay/engine/channels.tpp"
#include "replay/engine/groups.hpp"
#include "replay/engine/noise.hpp"
#include "replay/engine/partition.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::engine;

namespace {
Arrival<OneMachine> at(std::int64_t ps) { return {TimePoint{Duration{ps}}, Kind::eager}; }
}  // namespace

TEST_CASE("a channel is first in, first out, for messages and for receives, against a plain queue") {
  Channels<OneMachine> channels;
  constexpr std::uint32_t n = 7;
  std::vector<std::deque<std::int64_t>> messages(n), receives(n);
  for (std::uint32_t c = 0; c < n; c++) {
    CHECK(channels.open({static_cast<std::int32_t>(c), 1, 0, 5}) == c);
    CHECK(channels.open({static_cast<std::int32_t>(c), 1, 0, 5}) == c);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++) {
    const auto c = static_cast<std::uint32_t>(random() % n);
    if (random() % 2) {
      if (receives[c].empty()) {
        channels.push_arrival(c, at(i));
        messages[c].push_back(i);
      } else {
        PendingReceive receive{};
        REQUIRE(channels.take_receive(c, receive));
        REQUIRE(receive.slot == receives[c].front());
        receives[c].pop_front();
      }
    } else if (messages[c].empty()) {
      channels.push_receive(c, {3, static_cast<std::uint32_t>(i)});
      receives[c].push_back(i);
    } else {
      Arrival<OneMachine> found{}, taken{};
      REQUIRE(channels.find_arrival(c, found));
      REQUIRE(channels.take_arrival(c, taken));
      REQUIRE(found.time == at(messages[c].front()).time);
      REQUIRE(taken.time == found.time);
      messages[c].pop_front();
    }
    Arrival<OneMachine> arrival{};
    PendingReceive receive{};
    REQUIRE(channels.find_arrival(c, arrival) == !messages[c].empty());
    if (receives[c].empty()) REQUIRE_FALSE(channels.take_receive(c, receive));
    if (messages[c].empty()) REQUIRE_FALSE(channels.take_arrival(c, arrival));
  }
  std::int64_t left = 0;
  for (const auto& queue : messages) left += static_cast<std::int64_t>(queue.size());
  CHECK(channels.unreceived() == left);
}

TEST_CASE("envelopes differ by each of their parts, and many are found again") {
  EnvelopeIndex index;
  std::vector<Envelope> all;
  for (std::int32_t i = 0; i < 5000; i++)
    for (const Envelope& e :
         {Envelope{i, 0, 0, 0}, Envelope{0, i + 1, 0, 0}, Envelope{0, 0, i + 1, 0}, Envelope{0, 0, 0, i + 1}})
      all.push_back(e);
  for (std::uint32_t i = 0; i < all.size(); i++) REQUIRE(index.intern(all[i]) == std::pair{i, true});
  for (std::uint32_t i = 0; i < all.size(); i++) REQUIRE(index.intern(all[i]) == std::pair{i, false});
}

TEST_CASE("ranks in a group and in the world, for strides, permutations and single members") {
  for (const std::vector<std::int32_t>& ranks :
       {std::vector<std::int32_t>{0, 1, 2, 3}, {6, 4, 2, 0}, {5}, {3, 1, 7, 8, 9, 2}, {9, 0, 9 - 1, 4, 6}}) {
    const Group group(trace::Members::of(ranks));
    REQUIRE(group.size() == static_cast<int>(ranks.size()));
    for (int r = 0; r < group.size(); r++) {
      CHECK(group.world_rank(r) == ranks[static_cast<std::size_t>(r)]);
      CHECK(group.rank_of(ranks[static_cast<std::size_t>(r)]) == r);
    }
    for (std::int32_t w = 0; w < 12; w++)
      if (std::find(ranks.begin(), ranks.end(), w) == ranks.end()) CHECK_FALSE(group.rank_of(w));
  }
}

TEST_CASE("every process has one owner, blocks weigh about the same, ranks may be empty") {
  for (const int processes : {1, 2, 3, 10, 257})
    for (const int ranks : {1, 2, 3, 4, 16}) {
      std::vector<std::uint64_t> first_call{1000};
      for (int p = 0; p < processes; p++)
        first_call.push_back(first_call.back() + static_cast<std::uint64_t>(p % 5) * 100);
      const Partition partition(first_call, ranks);
      int owned = 0;
      for (int r = 0; r < ranks; r++) {
        for (std::int32_t p = partition.first(r); p < partition.first(r + 1); p++) {
          REQUIRE(partition.owner(p) == r);
          owned++;
        }
        const double weight =
            static_cast<double>(first_call[static_cast<std::size_t>(partition.first(r + 1))] -
                                first_call[static_cast<std::size_t>(partition.first(r))]);
        const double fair = static_cast<double>(first_call.back() - 1000) / ranks;
        CHECK(weight <= fair + 2 * 400 + 2);
      }
      CHECK(owned == processes);
    }
}

TEST_CASE("noise has mean 0 and the deviation asked for") {
  Machine machine;
  machine.noise = Ratio{1, 10};
  const Noise noise(machine);
  double sum = 0, squares = 0;
  constexpr int n = 20000;
  for (int i = 0; i < n; i++) {
    const double x =
        static_cast<double>(
            noise.on(Duration{1'000'000}, i % 50, static_cast<std::uint64_t>(i), TimePoint{}).count()) /
            1e6 -
        1;
    sum += x;
    squares += x * x;
    REQUIRE(std::abs(x) <= 0.4);
  }
  CHECK(std::abs(sum / n) < 0.003);
  CHECK(std::abs(std::sqrt(squares / n) - 0.1) < 0.003);
}
