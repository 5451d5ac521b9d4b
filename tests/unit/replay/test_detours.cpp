// Computation with recorded detours, by hand and against counting picosecond by picosecond.
#include "replay/engine/detours.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::engine;

namespace {

NoiseProfile profile(std::int64_t length, std::vector<std::pair<std::int64_t, std::int64_t>> detours) {
  NoiseProfile p{Duration{length}, {}};
  for (const auto& [begin, duration] : detours) p.detours.push_back({Duration{begin}, Duration{duration}});
  return p;
}

/// What `work` takes from a place of the profile on.
std::int64_t taken_from(const NoiseProfile& p, std::int64_t place, std::int64_t work,
                        std::int32_t process = 3) {
  const Detours detours(p, 7);
  const std::int64_t begin = (place - detours.place(process).count() + p.length.count()) % p.length.count();
  return detours.taken(Duration{work}, TimePoint{Duration{begin}}, process).count();
}

std::int64_t counted_from(const NoiseProfile& p, std::int64_t place, std::int64_t work) {
  std::int64_t taken = 0;
  for (; work > 0; taken++) {
    const Duration now{(place + taken) % p.length.count()};
    bool free = true;
    for (const Detour& d : p.detours) free = free && (now < d.begin || now >= d.begin + d.duration);
    work -= free;
  }
  return taken;
}

/// Free in [0, 10), [20, 50) and [90, 100).
const NoiseProfile hundred = profile(100, {{10, 5}, {15, 5}, {50, 40}});

}  // namespace

TEST_CASE("detours: computation ends when it has had the processor for as long as it needs") {
  CHECK(taken_from(hundred, 0, 10) == 10);
  CHECK(taken_from(hundred, 0, 11) == 21);  // goes on after both detours
  CHECK(taken_from(hundred, 0, 40) == 50);
  CHECK(taken_from(hundred, 0, 41) == 91);
  CHECK(taken_from(hundred, 20, 30) == 30);
}

TEST_CASE("detours: computation that begins inside of one waits for its end") {
  CHECK(taken_from(hundred, 10, 1) == 11);
  CHECK(taken_from(hundred, 17, 1) == 4);
  CHECK(taken_from(hundred, 60, 0) == 0);
  CHECK(taken_from(hundred, 60, 5) == 35);
}

TEST_CASE("detours: the profile begins again when it has ended") {
  CHECK(taken_from(hundred, 95, 5) == 5);
  CHECK(taken_from(hundred, 95, 15) == 15);
  CHECK(taken_from(hundred, 95, 16) == 26);
  CHECK(taken_from(hundred, 0, 50) == 100);  // all that a round leaves free
  CHECK(taken_from(hundred, 0, 150) == 300);
  CHECK(taken_from(hundred, 0, 151) == 301);
  CHECK(taken_from(profile(20, {{15, 5}}), 0, 30) == 35);  // the last detour is not waited for
  CHECK(taken_from(profile(20, {{0, 5}}), 0, 16) == 26);
  CHECK(taken_from(profile(20, {}), 7, 1000) == 1000);
}

TEST_CASE("detours: every place and many lengths, as counted; in two parts it takes the same") {
  for (const NoiseProfile& p :
       {hundred, profile(30, {{0, 1}, {29, 1}}), profile(17, {{3, 0}, {3, 9}, {12, 1}})})
    for (std::int64_t place = 0; place < p.length.count(); place++)
      for (std::int64_t work = 0; work <= 130; work++) {
        const std::int64_t taken = taken_from(p, place, work);
        REQUIRE(taken == counted_from(p, place, work));
        const std::int64_t first = taken_from(p, place, work / 3);
        const std::int64_t then = (place + first) % p.length.count();
        REQUIRE(first + taken_from(p, then, work - work / 3) == taken);
      }
}

TEST_CASE("detours: processes stand at different places, given by the seed") {
  const NoiseProfile p = profile(1'000'000'000'000, {});
  const Detours one(p, 1), same(p, 1), other(p, 2);
  double sum = 0;
  for (std::int32_t process = 0; process < 1000; process++) {
    const Duration place = one.place(process);
    CHECK((place >= Duration{} && place < p.length));
    CHECK(place == same.place(process));
    CHECK(place != other.place(process));
    CHECK(place != one.place(process + 1));
    sum += static_cast<double>(place.count()) / 1e12;
  }
  CHECK(std::abs(sum / 1000 - 0.5) < 0.03);
  CHECK(one.place(2).count() == 767'662'229'225);  // pinned: predictions stay the same
}

TEST_CASE("detours: time that runs out is an error") {
  const Detours almost_all(profile(1'000'000'000'000, {{1, 999'999'999'999}}), 1);
  CHECK_THROWS_AS(almost_all.taken(Duration{10'000'000}, TimePoint{}, 0), std::overflow_error);
}
