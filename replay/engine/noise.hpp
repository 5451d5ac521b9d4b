#pragma once
// Noise on computation: a random stream that depends on the seed, the process and the call alone, so that
// every run on any number of ranks has the same.

#include <cstdint>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::engine {

class Noise {
 public:
  explicit Noise(const Machine& m)
      : seed_(static_cast<std::uint64_t>(m.noise_seed)),
        deviation_(static_cast<std::int64_t>(m.noise.value() * one + 0.5)) {}

  bool is_on() const { return deviation_ != 0; }

  /// Multiplies by 1 + deviation * x, x nearly normal: the sum of 12 uniform numbers (Irwin-Hall), within
  /// +-4.
  Duration on(Duration d, std::int32_t process, std::uint64_t call) const {
    std::uint64_t state = seed_ * 0x9e3779b97f4a7c15ULL + (static_cast<std::uint64_t>(process) << 40) + call;
    std::int64_t sum = 0;
    for (int i = 0; i < 3; i++)
      for (std::uint64_t bits = next(state), k = 0; k < 4; k++, bits >>= 16)
        sum += static_cast<std::int64_t>(bits & 0xffff);
    constexpr std::int64_t mean = 12 * 0xffff / 2, four = 4 * 0x10000;
    const std::int64_t x = sum - mean < -four ? -four : sum - mean > four ? four : sum - mean;  // in 1/65536
    const auto change = static_cast<Wide>(d.count()) * deviation_ * x / (Wide{one} * 0x10000);
    return Duration{d.count() + static_cast<std::int64_t>(change)};
  }

 private:
  __extension__ typedef __int128 Wide;
  static constexpr std::int64_t one = std::int64_t{1} << 32;
  /// SplitMix64 (Steele, Lea, Flood 2014).
  static std::uint64_t next(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::int64_t deviation_;  // in 2^-32
};

}  // namespace simreplay::engine
