#pragma once
// What a task did in each of up to 64 windows of the simulated time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "common/units.hpp"

namespace simreplay::performance {

enum class Activity : std::uint8_t { computation, waiting_for_partner, waiting_for_all, transfer };
constexpr std::size_t activities = 4;

/// Windows begin at 0 and are as long as a power of two picoseconds. They double when the time leaves them,
/// so that in the end their length follows from the latest time alone. No interval is rounded.
class Profile {
 public:
  static constexpr std::size_t windows = 64;

  void add(Activity what, TimePoint from, Duration length) {
    if (length <= Duration{}) return;
    std::int64_t at = from.time_since_epoch().count();
    const std::int64_t end = at + length.count();
    while ((end - 1) >> shift_ >= static_cast<std::int64_t>(windows)) coarsen();
    while (at < end) {
      const std::int64_t window = at >> shift_, next = std::min(end, (window + 1) << shift_);
      ps_[static_cast<std::size_t>(window)][static_cast<std::size_t>(what)] += next - at;
      at = next;
    }
  }
  /// Makes the windows as long as those of others.
  void stretch(unsigned shift) {
    while (shift_ < shift) coarsen();
  }
  unsigned shift() const { return shift_; }
  Duration length() const { return Duration{std::int64_t{1} << shift_}; }
  Duration in(std::size_t window, Activity what) const {
    return Duration{ps_[window][static_cast<std::size_t>(what)]};
  }

 private:
  void coarsen() {
    for (std::size_t i = 0; i < windows; i++)
      for (std::size_t a = 0; a < activities; a++)
        ps_[i][a] = 2 * i < windows ? ps_[2 * i][a] + ps_[2 * i + 1][a] : 0;
    shift_++;
  }

  std::array<std::array<std::int64_t, activities>, windows> ps_{};
  unsigned shift_ = 20;  // a microsecond
};

}  // namespace simreplay::performance
