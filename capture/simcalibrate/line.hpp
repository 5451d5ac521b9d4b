#pragma once
// Lines through measured points, and the ranges of sizes on which one line holds.

#include <cstddef>
#include <limits>
#include <vector>

#include "capture/simcalibrate/measurement.hpp"

namespace simreplay::calibrate {

struct Line {
  double ns = 0;  // of an empty message
  double ns_per_byte = 0;
  double at(double bytes) const { return ns + ns_per_byte * bytes; }
};

struct Point {
  double bytes = 0, ns = 0;
};

/// The line may not leave this box: costs are not negative and parts are not more than the whole.
struct Bounds {
  static constexpr double none = std::numeric_limits<double>::infinity();
  double most_ns = none, most_ns_per_byte = none;
};

/// Least squares of the relative deviations, within the bounds.
Line fit_line(const std::vector<Point>& points, Bounds bounds = {});

/// A quantity that a line describes, in nanoseconds. A process in the middle of a stream is as fast as the
/// stream, though single calls take longer (they find cold caches).
enum class Column { half_round_trip, gap, send, receive, release };
double value(const SizePoint& point, Column column);

/// Sizes that one line serves in every column.
struct Range {
  std::size_t first = 0, last = 0;    // indices of points, inclusive
  std::vector<std::size_t> fitted{};  // those that are not lone outliers
};

/// Cuts the sizes where the protocol changes. A range grows while the lines refitted to all its points, one
/// for each column, pass within the tolerance of every point: 2 % of a half round trip, 5 % of a gap, and for
/// overheads 5 % of themselves or 2 % of the half round trip. It ends before a point that is off when the
/// next one is off too; a lone point that is off by no more than 3 % is passed over. Where a value spreads
/// more than its tolerance (not the half round trip), the spread is the tolerance. At the eager limit it ends
/// in any case.
std::vector<Range> find_ranges(const Way& way);

}  // namespace simreplay::calibrate
