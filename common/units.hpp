#pragma once
// Quantities of the simulator: simulated time in integer picoseconds, exact ratios, and the one place
// where values with units ("1.2us", "100Gb/s", "4KiB") are read and printed.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace simreplay {

__extension__ using Uint128 = unsigned __int128;  // beyond ISO C++, but in every compiler we know

/// Simulated durations and points: int64 picoseconds, range +-106.75 days.
using Duration = std::chrono::duration<std::int64_t, std::pico>;

/// The simulated clock. It lacks now() on purpose: simulated time is computed, never read.
struct SimClock {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  using time_point = std::chrono::time_point<SimClock>;
  static constexpr bool is_steady = true;
};
using TimePoint = SimClock::time_point;

/// Simulated times above this are refused (half of the representable range, so that sums stay defined).
constexpr TimePoint time_limit{Duration{std::int64_t{1} << 62}};

/// An exact non-negative rational factor: costs per byte (ps/B), clock ratios.
///
/// times(n) is ceil(n * numerator / denominator), exact for every n >= 0 whose result fits: one
/// 64x64->128 bit product on the fast path, a 128-bit division where the product could be off by one.
class Ratio {
 public:
  constexpr Ratio() = default;
  /// Throws std::domain_error if the denominator is 0.
  Ratio(std::uint64_t numerator, std::uint64_t denominator);

  /// Throws std::overflow_error where the result leaves the range of simulated time.
  std::int64_t times(std::int64_t n) const {
    const auto u = static_cast<std::uint64_t>(n);
    if (u > exact_up_to_) [[unlikely]]
      return slow_times(u);
    return product(u);
  }
  Duration times(Duration d) const { return Duration{times(d.count())}; }
  /// The same, of what is not above 0: 0.
  std::int64_t times_if_positive(std::int64_t n) const {
    const auto u = static_cast<std::uint64_t>(n);
    if (u - 1 < exact_up_to_) [[likely]]
      return product(u);
    return n > 0 ? slow_times(u) : 0;
  }

  std::uint64_t numerator() const { return numerator_; }
  std::uint64_t denominator() const { return denominator_; }
  Ratio inverse() const { return {denominator_, numerator_}; }
  double value() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }
  /// Exact. Throws std::overflow_error where the product has no numerator and denominator of 64 bits.
  friend Ratio operator*(const Ratio& a, const Ratio& b);
  friend bool operator==(const Ratio& a, const Ratio& b) {
    return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
  }

 private:
  std::int64_t product(std::uint64_t n) const {
    const auto fraction = static_cast<std::uint64_t>((static_cast<Uint128>(n) * fraction_ + rounding_) >> 64);
    return static_cast<std::int64_t>(n * whole_ + fraction);
  }
  std::int64_t slow_times(std::uint64_t n) const;
  template <std::size_t most>
  friend class Ratios;

  std::uint64_t numerator_ = 0, denominator_ = 1;
  std::uint64_t whole_ = 0;     // numerator / denominator
  std::uint64_t fraction_ = 0;  // ceil(2^64 * (numerator % denominator) / denominator)
  std::uint64_t rounding_ = 0;  // turns the floor of the product into a ceiling
  std::uint64_t exact_up_to_ = (std::uint64_t{1} << 62) - 1;  // larger n take the division
};

/// Several ratios of one number, side by side.
template <std::size_t most>
class Ratios {
 public:
  std::size_t size() const { return size_; }
  const Ratio& operator[](std::size_t i) const { return ratios_[i]; }
  void add(const Ratio& r) {
    ratios_[size_] = r;
    whole_[size_] = r.whole_;
    fraction_[size_] = r.fraction_;
    rounding_[size_] = r.rounding_;
    exact_up_to_ = size_ == 0 ? r.exact_up_to_ : std::min(exact_up_to_, r.exact_up_to_);
    size_++;
  }
  /// The products as of Ratio::times_if_positive, of each ratio.
  void times_if_positive(std::int64_t n, std::int64_t* products) const {
    const auto u = static_cast<std::uint64_t>(n);
    if (u - 1 < exact_up_to_) [[likely]] {
      for (std::size_t i = 0; i < size_; i++) {
        const auto fraction = (static_cast<Uint128>(u) * fraction_[i] + rounding_[i]) >> 64;
        products[i] = static_cast<std::int64_t>(u * whole_[i] + static_cast<std::uint64_t>(fraction));
      }
    } else {
      for (std::size_t i = 0; i < size_; i++) products[i] = ratios_[i].times_if_positive(n);
    }
  }

 private:
  std::size_t size_ = 0;
  std::uint64_t exact_up_to_ = 0;
  std::array<std::uint64_t, most> whole_{}, fraction_{}, rounding_{};
  std::array<Ratio, most> ratios_{};
};

// Readers. Each throws std::invalid_argument whose text says what was expected and found.

/// "1.2us", "300 ns", "0": seconds with prefix p n u m or none, also "min", "h". A number other than 0
/// needs its unit. Rounded to whole picoseconds only if finer digits are given.
Duration parse_duration(std::string_view text);
/// "4096", "64B", "4KiB", "1.5MB": SI (kB, MB, GB) and binary (KiB, MiB, GiB) prefixes.
std::int64_t parse_bytes(std::string_view text);
/// Cost per byte in ps/B: a time per byte ("0.08ns/B") or a rate ("12.5GB/s", "100Gb/s"); "0" costs nothing.
Ratio parse_per_byte(std::string_view text);
/// A positive plain number: "2", "0.5", "1e9".
Ratio parse_ratio(std::string_view text);
/// A whole number >= 0.
std::int64_t parse_count(std::string_view text);

// Printers, for people.
std::string format_duration(Duration d);       // four significant digits with a fitting unit
std::string format_bytes(std::int64_t bytes);  // binary prefixes
std::string format_count(std::int64_t n);      // 12,345,678

}  // namespace simreplay
