// Recorded noise in a replay, on any number of ranks: each process from a place of its own, each computation
// from when it begins.
#include "replay/engine/detours.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using namespace simreplay::test;

namespace {

constexpr std::int64_t us = 1'000'000;

/// 40 us in every 200 us belong to others, from 100 us on.
constexpr const char* text = "unit us length 200\n100 40\n";
constexpr std::int64_t length = 200 * us, detour = 100 * us, detour_end = 140 * us;

/// When computation ends that begins at `now` and needs `work`, of a process that began at `place`.
std::int64_t computed(std::int64_t now, std::int64_t work, std::int64_t place) {
  std::int64_t at = (now + place) % length;
  while (work > 0) {
    if (at >= detour && at < detour_end) {
      now += detour_end - at;
      at = detour_end;
    }
    const std::int64_t free_until = at < detour ? detour : length + detour,
                       part = std::min(work, free_until - at);
    now += part;
    work -= part;
    at = (at + part) % length;
  }
  return now;
}

std::vector<std::int64_t> places(int processes, std::uint64_t seed) {
  const engine::Detours detours({Duration{length}, {{Duration{detour}, Duration{detour_end - detour}}}},
                                seed);
  std::vector<std::int64_t> all;
  for (int p = 0; p < processes; p++) all.push_back(detours.place(p).count());
  return all;
}

}  // namespace

TEST_CASE("noise profile: computation is disturbed where it falls together with detours, waiting is not") {
  const SharedFile file(text);
  constexpr int processes = 5;
  SmallTrace t(processes);
  for (int step = 0; step < 4; step++)
    for (int p = 0; p < processes; p++)
      t[p].compute((90 + 20 * p) * us)
          .send((p + 1) % processes, 8)
          .receive((p + processes - 1) % processes, 8);
  const Replayed r = replay(t, machine({{"noise.profile", file.name()},
                                        {"noise.seed", "5"},
                                        {"cpu.speedup", "2"},
                                        {"network.latency", "3us"},
                                        {"send.prolog", "1us"}}));
  REQUIRE(r.failure.empty());
  const auto place = places(processes, 5);
  std::vector<std::int64_t> now(processes, 0);
  for (int step = 0; step < 4; step++) {
    std::vector<std::int64_t> sent;
    for (std::size_t p = 0; p < processes; p++)
      sent.push_back(computed(now[p], (45 + 10 * static_cast<std::int64_t>(p)) * us, place[p]) + 1 * us);
    for (std::size_t p = 0; p < processes; p++)
      now[p] = std::max(sent[p], sent[(p + processes - 1) % processes] + 3 * us);
  }
  std::int64_t disturbed = 0;
  for (std::size_t p = 0; p < processes; p++) {
    CHECK(r.end(p) == now[p]);
    disturbed += r.rows[p].computation_ps - 4 * (45 + 10 * static_cast<std::int64_t>(p)) * us;
  }
  CHECK(disturbed > 0);
}

TEST_CASE("noise profile: the deviation comes first, and calls of MPI are not disturbed") {
  const SharedFile file(text);
  SmallTrace t(2);
  for (int p = 0; p < 2; p++) t[p].compute(1000 * us).send(-1, 0).call(Op::Comm_free).lasts(1000 * us);
  const Replayed varied = replay(t, machine({{"noise.deviation", "0.1"}}));
  const Replayed both = replay(t, machine({{"noise.deviation", "0.1"}, {"noise.profile", file.name()}}));
  const auto place = places(2, 1);
  for (std::size_t p = 0; p < 2; p++) {
    const std::int64_t work = varied.end(p) - 1000 * us;
    CHECK(work != 1000 * us);
    CHECK(both.end(p) == computed(0, work, place[p]) + 1000 * us);
  }
}

TEST_CASE("noise profile: a file that makes no sense is refused") {
  SmallTrace t(1);
  const SharedFile file("unit us length 200\n100 40\n130 5\n");
  CHECK_THAT(replay(t, machine({{"noise.profile", file.name()}})).failure,
             Catch::Matchers::ContainsSubstring(
                 ":3: expected a detour that begins after the one before, which ends at 140"));
}
