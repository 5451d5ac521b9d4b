// Quantities: exact ratios, and text in and out.

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "common/units.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;

namespace {

/// ceil(n * numerator / denominator) by long division.
Uint128 exact(std::uint64_t n, std::uint64_t numerator, std::uint64_t denominator) {
  const Uint128 product = Uint128{n} * numerator;
  return product / denominator + (product % denominator != 0 ? 1 : 0);
}

constexpr Uint128 limit = Uint128{1} << 62;

void check_exact(std::uint64_t n, std::uint64_t numerator, std::uint64_t denominator) {
  const Ratio ratio(numerator, denominator);
  const Uint128 expected = exact(n, numerator, denominator);
  CAPTURE(n, numerator, denominator);
  if (expected < limit)
    REQUIRE(ratio.times(static_cast<std::int64_t>(n)) == static_cast<std::int64_t>(expected));
  else
    REQUIRE_THROWS_AS(ratio.times(static_cast<std::int64_t>(n)), std::overflow_error);
}

std::string message_of(void (*work)()) {
  try {
    work();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a ratio times a number is exact and rounded up, whatever the magnitudes") {
  std::mt19937_64 random(20240607);
  const auto any = [&](unsigned most_bits) { return random() >> (64 - 1 - random() % most_bits); };
  for (int i = 0; i < 50'000; i++) check_exact(any(63), any(63), 1 + any(63));
  for (int i = 0; i < 50'000; i++)
    check_exact(any(40), any(32), 1 + any(20));  // the magnitudes of real machines
}

TEST_CASE("a ratio is exact where n times the numerator is a multiple of the denominator, or one beside it") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 30'000; i++) {
    const std::uint64_t denominator = 1 + random() % 1'000'000, numerator = 1 + random() % 1'000'000;
    const std::uint64_t n = denominator * (random() % 1'000'000'000);
    for (const std::uint64_t m : {n, n + 1, n == 0 ? n : n - 1}) check_exact(m, numerator, denominator);
  }
}

TEST_CASE("a ratio at the edges of its range") {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, most / 2, most / 2 + 1, most - 1, most})
    for (const std::uint64_t numerator : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, most})
      for (const std::uint64_t denominator :
           {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, most - 1, most})
        check_exact(n, numerator, denominator);
  CHECK_THROWS_AS(Ratio(1, 0), std::domain_error);
  CHECK(Ratio().times(std::int64_t{1} << 40) == 0);
  CHECK(Ratio(6, 4) == Ratio(3, 2));
  CHECK(Ratio(6, 4).inverse() == Ratio(2, 3));
  CHECK(Ratio(1, 3).times(Duration{10}) == Duration{4});
}

TEST_CASE("ratios are multiplied exactly, or not at all") {
  const Ratio a(6, 35), b(14, 9);
  CHECK(a * b == Ratio(4, 15));
  CHECK(Ratio(0, 1) * b == Ratio(0, 1));
  constexpr std::uint64_t large = UINT64_MAX - 58;  // a prime
  CHECK(Ratio(large, 2) * Ratio(2, large) == Ratio(1, 1));
  CHECK_THROWS_AS(Ratio(large, 2) * Ratio(3, 1), std::overflow_error);
  CHECK_THROWS_AS(Ratio(1, large) * Ratio(1, 2), std::overflow_error);
}

TEST_CASE("times have units") {
  CHECK(parse_duration("0") == Duration{0});
  CHECK(parse_duration("1ps") == Duration{1});
  CHECK(parse_duration("1.2us") == Duration{1'200'000});
  CHECK(parse_duration(" 300 ns ") == Duration{300'000});
  CHECK(parse_duration("2ms") == Duration{2'000'000'000});
  CHECK(parse_duration("1e-3s") == Duration{1'000'000'000});
  CHECK(parse_duration("1min") == std::chrono::minutes(1));
  CHECK(parse_duration("2h") == std::chrono::hours(2));
  CHECK(parse_duration("0.5ps") == Duration{1});
  CHECK(parse_duration("0.4ps") == Duration{0});
}

TEST_CASE("sizes, rates and costs have units") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("64B") == 64);
  CHECK(parse_bytes("4KiB") == 4096);
  CHECK(parse_bytes("1.5MB") == 1'500'000);
  CHECK(parse_bytes("2GiB") == std::int64_t{1} << 31);
  CHECK(parse_per_byte("0") == Ratio(0, 1));
  CHECK(parse_per_byte("0.08ns/B") == Ratio(80, 1));
  CHECK(parse_per_byte("12.5GB/s") == Ratio(80, 1));
  CHECK(parse_per_byte("100Gb/s") == Ratio(80, 1));
  CHECK(parse_per_byte("56Gb/s") == Ratio(1000, 7));
  CHECK(parse_per_byte("56Gb/s").times(7) == 1000);
  CHECK(parse_ratio("0.5") == Ratio(1, 2));
  CHECK(parse_ratio("1e9") == Ratio(1'000'000'000, 1));
  CHECK(parse_count("12") == 12);
}

TEST_CASE("what is wrong with a quantity is said with what was expected") {
  using Catch::Matchers::Equals;
  CHECK_THAT(message_of([] { parse_duration("12"); }),
             Equals("expected a time such as 1.2us (units: ps ns us ms s min h), found '12'"));
  CHECK_THAT(message_of([] { parse_duration("12 parsecs"); }),
             Equals("expected a time such as 1.2us (units: ps ns us ms s min h), found '12 parsecs'"));
  CHECK_THAT(message_of([] { parse_duration(""); }), Equals("expected a time such as 1.2us, found ''"));
  CHECK_THAT(message_of([] { parse_duration("-1us"); }),
             Equals("expected a time such as 1.2us, found '-1us'"));
  CHECK_THAT(message_of([] { parse_duration("1000000h"); }),
             Catch::Matchers::ContainsSubstring("found '1000000h'"));
  CHECK_THAT(message_of([] { parse_bytes("3XB"); }),
             Equals("expected a size such as 4KiB (units: B kB MB GB TB KiB MiB GiB TiB), found '3XB'"));
  CHECK_THAT(message_of([] { parse_ratio("0"); }),
             Equals("expected a plain number above 0 such as 2 or 0.5, found '0'"));
  CHECK_THAT(message_of([] { parse_ratio("2x"); }),
             Equals("expected a plain number above 0 such as 2 or 0.5, found '2x'"));
  CHECK_THAT(message_of([] { parse_count("1.5"); }), Equals("expected a whole number, found '1.5'"));
  CHECK_THAT(message_of([] { parse_per_byte("0GB/s"); }), Equals("expected a rate above 0, found '0GB/s'"));
  CHECK_THROWS_AS(parse_bytes("1e300"), std::invalid_argument);
  CHECK_THROWS_AS(parse_bytes("1e-300TiB1"), std::invalid_argument);
  CHECK_THROWS_AS(parse_duration("1e99999999999us"), std::invalid_argument);
}

TEST_CASE("quantities are printed for people") {
  CHECK(format_duration(Duration{0}) == "0 s");
  CHECK(format_duration(Duration{999}) == "999 ps");
  CHECK(format_duration(Duration{1'500}) == "1.500 ns");
  CHECK(format_duration(Duration{12'345'678}) == "12.35 us");
  CHECK(format_duration(Duration{-123'400'000'000}) == "-123.4 ms");
  CHECK(format_duration(std::chrono::hours(1)) == "3600.0 s");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(std::int64_t{3} << 30) == "3.0 GiB");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(12'345'678) == "12,345,678");
  CHECK(format_count(-1'000) == "-1,000");
}

TEST_CASE("any text is read or refused") {
  constexpr std::string_view letters = "0123456789.eE+- unmspBbKMGTi/s";
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; i++) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; n--) text += letters[random() % letters.size()];
    const auto sound = [&](auto parse) {
      try {
        return parse(text);
      } catch (const std::invalid_argument& e) {
        return std::string(e.what()).find("'" + text + "'") != std::string::npos;
      }
    };
    CAPTURE(text);
    REQUIRE(sound([](const std::string& t) { return parse_duration(t) >= Duration{0}; }));
    REQUIRE(sound([](const std::string& t) { return parse_bytes(t) >= 0; }));
    REQUIRE(sound([](const std::string& t) { return parse_count(t) >= 0; }));
    REQUIRE(sound([](const std::string& t) { return parse_per_byte(t).denominator() > 0; }));
    REQUIRE(sound([](const std::string& t) { return parse_ratio(t).numerator() > 0; }));
  }
}
