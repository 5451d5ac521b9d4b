#pragma once
// Computation on a processor that detours take away from it, as recorded in a noise profile.

#include <cstdint>
#include <vector>

#include "common/noise_profile.hpp"
#include "common/units.hpp"

namespace simreplay::engine {

/// The profile, again and again. Each process begins at a place of its own, given by the seed alone, so that
/// every run on any number of ranks has the same noise.
class Detours {
 public:
  Detours(const NoiseProfile& profile, std::uint64_t seed);

  /// How long computation takes that begins at `begin` and needs the processor for `work`: to the first
  /// moment at which it has had it for so long. Throws std::overflow_error beyond the range of simulated
  /// time.
  Duration taken(Duration work, TimePoint begin, std::int32_t process) const;
  /// Where in the profile the process stands at time 0.
  Duration place(std::int32_t process) const;

 private:
  std::int64_t free_before(std::int64_t place_ps) const;
  std::int64_t place_of_free(std::int64_t free_ps) const;

  // Of each detour; the ends of all detours before the begin, and how much of the profile they left free.
  std::vector<std::int64_t> begin_ps_, free_ps_;
  std::vector<std::int64_t> noise_ps_;  // of the detours up to each, one more than there are
  std::int64_t length_ps_, free_length_ps_;
  std::uint64_t seed_;
};

}  // namespace simreplay::engine
