#include "replay/engine/detours.hpp"

#include <algorithm>
#include <stdexcept>

#include "replay/engine/random.hpp"

namespace simreplay::engine {

Detours::Detours(const NoiseProfile& profile, std::uint64_t seed)
    : noise_ps_{0}, length_ps_(profile.length.count()), seed_(seed) {
  for (const Detour& d : profile.detours) {
    begin_ps_.push_back(d.begin.count());
    free_ps_.push_back(d.begin.count() - noise_ps_.back());
    noise_ps_.push_back(noise_ps_.back() + d.duration.count());
  }
  free_length_ps_ = length_ps_ - noise_ps_.back();
}

Duration Detours::place(std::int32_t process) const {
  std::uint64_t state = seed_ ^ (static_cast<std::uint64_t>(process) << 32);
  const Uint128 scaled = static_cast<Uint128>(next_random(state)) * static_cast<std::uint64_t>(length_ps_);
  return Duration{static_cast<std::int64_t>(scaled >> 64)};
}

Duration Detours::taken(Duration work, TimePoint begin, std::int32_t process) const {
  if (work.count() == 0) return work;
  const std::int64_t start = (begin.time_since_epoch() + place(process)).count() % length_ps_;
  // The last picosecond of the work, counted in those that the profile leaves free.
  const std::int64_t last = free_before(start) + work.count() - 1;
  const Uint128 rounds =
      static_cast<Uint128>(last / free_length_ps_) * static_cast<std::uint64_t>(length_ps_);
  if (rounds > static_cast<Uint128>(time_limit.time_since_epoch().count()))
    throw std::overflow_error("the simulated time leaves its range of 53 days");
  const std::int64_t end = static_cast<std::int64_t>(rounds) + place_of_free(last % free_length_ps_) + 1;
  return Duration{end - start};
}

/// Picoseconds of [0, place) outside of detours.
std::int64_t Detours::free_before(std::int64_t place_ps) const {
  const auto begun =
      static_cast<std::size_t>(std::ranges::lower_bound(begin_ps_, place_ps) - begin_ps_.begin());
  if (begun == 0) return place_ps;
  return std::max(free_ps_[begun - 1], place_ps - noise_ps_[begun]);  // the former inside the detour
}

/// Where the picosecond lies before which there are so many free ones.
std::int64_t Detours::place_of_free(std::int64_t free_ps) const {
  const auto over = static_cast<std::size_t>(std::ranges::upper_bound(free_ps_, free_ps) - free_ps_.begin());
  return free_ps + noise_ps_[over];
}

}  // namespace simreplay::engine
