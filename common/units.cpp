#include "common/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace simreplay {
namespace {

using u128 = Uint128;

/// value = mantissa * 10^exponent, exactly as written.
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

/// A fraction in lowest terms.
struct Fraction {
  std::uint64_t numerator, denominator;
};

struct Unit {
  std::string_view name;
  Fraction scale;  // to the base unit of its table
};

constexpr std::array time_units{Unit{"ps", {1, 1}},
                                Unit{"ns", {1'000, 1}},
                                Unit{"us", {1'000'000, 1}},
                                Unit{"ms", {1'000'000'000, 1}},
                                Unit{"s", {1'000'000'000'000, 1}},
                                Unit{"min", {60'000'000'000'000, 1}},
                                Unit{"h", {3'600'000'000'000'000, 1}}};

constexpr std::array byte_units{Unit{"B", {1, 1}},
                                Unit{"kB", {1'000, 1}},
                                Unit{"MB", {1'000'000, 1}},
                                Unit{"GB", {1'000'000'000, 1}},
                                Unit{"TB", {1'000'000'000'000, 1}},
                                Unit{"KiB", {1ULL << 10, 1}},
                                Unit{"MiB", {1ULL << 20, 1}},
                                Unit{"GiB", {1ULL << 30, 1}},
                                Unit{"TiB", {1ULL << 40, 1}}};

// Rates, in bytes per second.
constexpr std::array rate_units{Unit{"B/s", {1, 1}},
                                Unit{"kB/s", {1'000, 1}},
                                Unit{"MB/s", {1'000'000, 1}},
                                Unit{"GB/s", {1'000'000'000, 1}},
                                Unit{"TB/s", {1'000'000'000'000, 1}},
                                Unit{"KiB/s", {1ULL << 10, 1}},
                                Unit{"MiB/s", {1ULL << 20, 1}},
                                Unit{"GiB/s", {1ULL << 30, 1}},
                                Unit{"b/s", {1, 8}},
                                Unit{"kb/s", {125, 1}},
                                Unit{"Mb/s", {125'000, 1}},
                                Unit{"Gb/s", {125'000'000, 1}},
                                Unit{"Tb/s", {125'000'000'000, 1}}};

// Costs, in picoseconds per byte.
constexpr std::array cost_units{Unit{"ps/B", {1, 1}}, Unit{"ns/B", {1'000, 1}}, Unit{"us/B", {1'000'000, 1}}};

constexpr std::uint64_t picoseconds_per_second = 1'000'000'000'000;

[[noreturn]] void refuse(std::string_view expected, std::string_view found) {
  throw std::invalid_argument(fmt::format("expected {}, found '{}'", expected, found));
}

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a decimal number off the front of `s`; independent of the locale.
bool take_decimal(std::string_view& s, Decimal& d) {
  std::size_t i = 0;
  bool any = false, point = false;
  for (; i < s.size() && (is_digit(s[i]) || (s[i] == '.' && !point)); i++) {
    if (s[i] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (d.mantissa > 100'000'000'000'000'000ULL) return false;  // 18 digits are enough for anything real
    d.mantissa = d.mantissa * 10 + static_cast<std::uint64_t>(s[i] - '0');
    if (point) d.exponent--;
  }
  if (!any) return false;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    std::size_t j = i + 1;
    const bool negative = j < s.size() && s[j] == '-';
    if (j < s.size() && (s[j] == '-' || s[j] == '+')) j++;
    int e = 0;
    const std::size_t first = j;
    for (; j < s.size() && is_digit(s[j]) && e < 1000; j++) e = e * 10 + (s[j] - '0');
    if (j == first) return false;
    d.exponent += negative ? -e : e;
    i = j;
  }
  s.remove_prefix(i);
  return true;
}

/// numerator/denominator of d * scale in lowest terms; throws if it needs more than 64 bits.
Fraction scaled(Decimal d, Fraction scale, std::string_view text) {
  u128 num = static_cast<u128>(d.mantissa) * scale.numerator;
  u128 den = scale.denominator;
  const auto gcd = [](u128 a, u128 b) {
    while (b != 0) {
      const u128 r = a % b;
      a = b;
      b = r;
    }
    return a;
  };
  constexpr u128 headroom = ~u128{0} / 10;
  for (int e = d.exponent; num != 0 && e != 0; e += e < 0 ? 1 : -1) {
    u128& side = e < 0 ? den : num;
    if (side > headroom) refuse("a value within range", text);
    side *= 10;
    const u128 g = gcd(num, den);
    num /= g;
    den /= g;
  }
  const u128 g = gcd(num, den);
  if (g != 0) {
    num /= g;
    den /= g;
  }
  if ((num >> 63) != 0 || (den >> 63) != 0) refuse("a value within range", text);
  return {static_cast<std::uint64_t>(num), static_cast<std::uint64_t>(den)};
}

template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const Unit& u : table) names += (names.empty() ? "" : " ") + std::string(u.name);
  return names;
}

template <class Table>
const Unit* find_unit(const Table& table, std::string_view name) {
  const auto it = std::find_if(table.begin(), table.end(), [&](const Unit& u) { return u.name == name; });
  return it == table.end() ? nullptr : &*it;
}

std::int64_t rounded(Fraction f) {
  return static_cast<std::int64_t>((static_cast<u128>(f.numerator) + f.denominator / 2) / f.denominator);
}

struct Quantity {
  Decimal number;
  std::string_view unit;
};

Quantity split(std::string_view text, std::string_view expected) {
  Quantity q;
  std::string_view rest = trimmed(text);
  if (!take_decimal(rest, q.number)) refuse(expected, text);
  q.unit = trimmed(rest);
  return q;
}

}  // namespace

Ratio::Ratio(std::uint64_t numerator, std::uint64_t denominator) {
  if (denominator == 0) throw std::domain_error("a ratio needs a denominator above 0");
  const std::uint64_t g = std::gcd(numerator, denominator);
  numerator_ = numerator / g;
  denominator_ = denominator / g;
  whole_ = numerator_ / denominator_;
  const std::uint64_t rest = numerator_ % denominator_;
  constexpr u128 one = u128{1} << 64;
  if (denominator_ > 1) {
    fraction_ = static_cast<std::uint64_t>((static_cast<u128>(rest) * one + denominator_ - 1) / denominator_);
    rounding_ = static_cast<std::uint64_t>(one - one / (static_cast<u128>(denominator_) * 2));
    // The product exceeds n*rest/denominator by less than n/2^64; the ceiling is right while that stays
    // below half of 1/denominator.
    exact_up_to_ = static_cast<std::uint64_t>((one - 1) / (static_cast<u128>(denominator_) * 2));
  }
  const std::uint64_t whole_fits = ((std::uint64_t{1} << 62) - 1) / (whole_ + 1);
  exact_up_to_ = std::min(exact_up_to_, whole_fits);
}

Ratio operator*(const Ratio& a, const Ratio& b) {
  const auto product = [](std::uint64_t x, std::uint64_t y) {
    std::uint64_t result = 0;
    if (__builtin_mul_overflow(x, y, &result)) throw std::overflow_error("a product of ratios is too fine");
    return result;
  };
  const std::uint64_t g = std::gcd(a.numerator_, b.denominator_), h = std::gcd(b.numerator_, a.denominator_);
  return {product(a.numerator_ / g, b.numerator_ / h), product(a.denominator_ / h, b.denominator_ / g)};
}

std::int64_t Ratio::slow_times(std::uint64_t n) const {
  const u128 product = static_cast<u128>(n) * numerator_;
  const u128 result = product / denominator_ + (product % denominator_ != 0 ? 1 : 0);
  if ((result >> 62) != 0 || (n >> 63) != 0)
    throw std::overflow_error("the simulated time leaves its range of 53 days");
  return static_cast<std::int64_t>(result);
}

Duration parse_duration(std::string_view text) {
  constexpr std::string_view expected = "a time such as 1.2us";
  const Quantity q = split(text, expected);
  if (q.unit.empty() && q.number.mantissa == 0) return Duration{0};
  const Unit* unit = find_unit(time_units, q.unit);
  if (!unit) refuse(fmt::format("{} (units: {})", expected, names_of(time_units)), text);
  const std::int64_t ps = rounded(scaled(q.number, unit->scale, text));
  if (Duration{ps} > time_limit.time_since_epoch()) refuse("a time below 53 days", text);
  return Duration{ps};
}

std::int64_t parse_bytes(std::string_view text) {
  constexpr std::string_view expected = "a size such as 4KiB";
  const Quantity q = split(text, expected);
  const Unit* unit = q.unit.empty() ? &byte_units[0] : find_unit(byte_units, q.unit);
  if (!unit) refuse(fmt::format("{} (units: {})", expected, names_of(byte_units)), text);
  return rounded(scaled(q.number, unit->scale, text));
}

Ratio parse_per_byte(std::string_view text) {
  constexpr std::string_view expected =
      "a cost per byte such as 0.08ns/B, or a rate such as 12.5GB/s or 100Gb/s";
  const Quantity q = split(text, expected);
  if (q.unit.empty() && q.number.mantissa == 0) return Ratio{0, 1};
  if (const Unit* unit = find_unit(cost_units, q.unit)) {
    const Fraction f = scaled(q.number, unit->scale, text);
    return {f.numerator, f.denominator};
  }
  const Unit* unit = find_unit(rate_units, q.unit);
  if (!unit)
    refuse(fmt::format("{} (units: {} {})", expected, names_of(cost_units), names_of(rate_units)), text);
  if (q.number.mantissa == 0) refuse("a rate above 0", text);
  const Fraction rate = scaled(q.number, unit->scale, text);  // B/s = numerator/denominator
  const std::uint64_t g = std::gcd(picoseconds_per_second, rate.numerator);
  const u128 cost = static_cast<u128>(picoseconds_per_second / g) * rate.denominator;
  if ((cost >> 63) != 0) refuse("a rate within range", text);
  return {static_cast<std::uint64_t>(cost), rate.numerator / g};
}

Ratio parse_ratio(std::string_view text) {
  constexpr std::string_view expected = "a plain number above 0 such as 2 or 0.5";
  const Quantity q = split(text, expected);
  if (!q.unit.empty() || q.number.mantissa == 0) refuse(expected, text);
  const Fraction f = scaled(q.number, {1, 1}, text);
  return {f.numerator, f.denominator};
}

std::int64_t parse_count(std::string_view text) {
  const Quantity q = split(text, "a whole number");
  const Fraction f = scaled(q.number, {1, 1}, text);
  if (!q.unit.empty() || f.denominator != 1) refuse("a whole number", text);
  return static_cast<std::int64_t>(f.numerator);
}

std::string format_duration(Duration d) {
  const std::int64_t ps = d.count();
  const double magnitude = std::abs(static_cast<double>(ps));
  if (ps == 0) return "0 s";
  struct Step {
    double scale;
    std::string_view name;
  };
  constexpr std::array<Step, 5> steps{{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}};
  for (const Step& s : steps)
    if (magnitude >= s.scale) {
      const double value = static_cast<double>(ps) / s.scale;
      const double shown = std::abs(value);
      const int decimals = s.scale == 1 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
      return fmt::format("{:.{}f} {}", value, decimals, s.name);
    }
  return fmt::format("{} ps", ps);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t i = 0;
  for (; i + 1 < names.size() && std::abs(value) >= 1024; i++) value /= 1024;
  return i == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, names[i]);
}

std::string format_count(std::int64_t n) {
  std::string digits = std::to_string(n);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

}  // namespace simreplay
