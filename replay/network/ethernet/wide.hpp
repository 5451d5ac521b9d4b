#pragma once
// Sums that may leave the range of times.

#include <cstdint>

#include "common/error.hpp"
#include "common/units.hpp"

namespace simreplay::ethernet {

__extension__ using Int128 = __int128;

/// t + ps, of which neither is negative. Throws Error if times cannot be so late.
inline TimePoint later(TimePoint t, Int128 ps) {
  const Int128 sum = t.time_since_epoch().count() + ps;
  if (sum > time_limit.time_since_epoch().count())
    throw Error(
        {.operation = "network.model", .problem = "a message takes longer than times can be (53 days)"});
  return TimePoint{Duration{static_cast<std::int64_t>(sum)}};
}

}  // namespace simreplay::ethernet
