#pragma once
// Noise on computation: random numbers that depend on the seed, the process and the call alone, and recorded
// detours, so that every run on any number of ranks has the same.

#include <cstdint>
#include <optional>

#include "common/machine.hpp"
#include "common/noise_profile.hpp"
#include "common/units.hpp"
#include "replay/engine/detours.hpp"
#include "replay/engine/random.hpp"

namespace simreplay::engine {

class Noise {
 public:
  /// Throws Error if the machine names a profile that makes no sense.
  explicit Noise(const Machine& m)
      : seed_(static_cast<std::uint64_t>(m.noise_seed)),
        deviation_(static_cast<std::int64_t>(m.noise.value() * one + 0.5)) {
    if (!m.noise_profile.empty()) detours_.emplace(read_noise_profile(m.noise_profile), seed_);
  }

  bool is_on() const { return deviation_ != 0 || detours_; }

  /// How long computation takes that begins at `begin` and would take `d` undisturbed.
  Duration on(Duration d, std::int32_t process, std::uint64_t call, TimePoint begin) const {
    if (deviation_ != 0) d = varied(d, process, call);
    return detours_ ? detours_->taken(d, begin, process) : d;
  }

 private:
  __extension__ typedef __int128 Wide;
  static constexpr std::int64_t one = std::int64_t{1} << 32;

  /// Multiplies by 1 + deviation * x, x nearly normal: the sum of 12 uniform numbers (Irwin-Hall), within
  /// +-4.
  Duration varied(Duration d, std::int32_t process, std::uint64_t call) const {
    std::uint64_t state = seed_ * 0x9e3779b97f4a7c15ULL + (static_cast<std::uint64_t>(process) << 40) + call;
    std::int64_t sum = 0;
    for (int i = 0; i < 3; i++)
      for (std::uint64_t bits = next_random(state), k = 0; k < 4; k++, bits >>= 16)
        sum += static_cast<std::int64_t>(bits & 0xffff);
    constexpr std::int64_t mean = 12 * 0xffff / 2, four = 4 * 0x10000;
    const std::int64_t x = sum - mean < -four ? -four : sum - mean > four ? four : sum - mean;  // in 1/65536
    const auto change = static_cast<Wide>(d.count()) * deviation_ * x / (Wide{one} * 0x10000);
    return Duration{d.count() + static_cast<std::int64_t>(change)};
  }

  std::uint64_t seed_;
  std::int64_t deviation_;  // in 2^-32
  std::optional<Detours> detours_;
};

}  // namespace simreplay::engine
