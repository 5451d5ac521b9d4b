// Files of detours: read, written, and refused with file and line.
#include "common/error.hpp"
#include "common/noise_profile.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;

namespace {

NoiseProfile read(const std::string& text) {
  test::ScratchFolder folder;
  test::write_content(folder.file("p.noise"), text);
  return read_noise_profile(folder.file("p.noise"));
}

void check_refused(const std::string& text, const std::string& message) {
  INFO(text);
  CHECK_THROWS_WITH(read(text), Catch::Matchers::ContainsSubstring("p.noise:" + message));
}

}  // namespace

TEST_CASE("a noise profile is a unit, a length and detours") {
  const NoiseProfile p = read("# of a node\n\nunit us length 1000\n10\t2.5  # short\n12.5 100\n900 100\n");
  CHECK(p.length == Duration{1'000'000'000});
  const std::vector<Detour> expected{{Duration{10'000'000}, Duration{2'500'000}},
                                     {Duration{12'500'000}, Duration{100'000'000}},
                                     {Duration{900'000'000}, Duration{100'000'000}}};
  CHECK(p.detours == expected);
  CHECK(read("unit s length 1\n").detours.empty());
}

TEST_CASE("a noise profile that was written is read again, in nanoseconds") {
  NoiseProfile p{Duration{10'000'999},
                 {{Duration{1'000'700}, Duration{20'700}}, {Duration{1'021'400}, Duration{1}}}};
  const std::string text = to_text(p, "two\nlines");
  CHECK(text == "# two\n# lines\nunit ns length 10000\n1000 20\n1021 0\n");
  CHECK(read(text).detours.size() == 2);
}

TEST_CASE("a noise profile that makes no sense is refused with its line") {
  CHECK_THROWS_WITH(read_noise_profile("no-such.noise"),
                    "no-such.noise: expected a noise profile, found none that can be read");
  check_refused("", " expected `unit UNIT length NUMBER` before all detours, found nothing");
  check_refused("# nothing\n10 20\n",
                "2: expected `unit UNIT length NUMBER` before all detours, found '10 20'");
  check_refused("unit parsec length 10\n", "1: expected a time such as 1.2us (units: ps ns us ms s min h)");
  check_refused("unit ns length 0\n", "1: expected a length above 0, found 'unit ns length 0'");
  check_refused("unit ns length 100\n10\n", "2: expected begin and duration of a detour, found '10'");
  check_refused("unit ns length 100\n10 ten\n", "2: expected a time such as 1.2us");
  check_refused("unit ns length 100\n-5 3\n", "2: expected a time such as 1.2us");
  check_refused("unit ns length 100\n50 5\n40 5\n",
                "3: expected a detour that begins after the one before, which ends at 55");
  check_refused("unit ns length 100\n50 5\n\n54 5\n",
                "4: expected a detour that begins after the one before");
  check_refused("unit ns length 100\n95 6\n", "2: expected a detour that ends within the length of 100");
  check_refused("unit ns length 100\n101 1\n", "2: expected a detour that ends within the length of 100");
  check_refused("unit ns length 100\n0 100\n", "2: expected detours that leave time for computation");
}
