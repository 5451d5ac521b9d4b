#include "capture/simcalibrate/line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simreplay::calibrate {
namespace {

/// Sums of weighted least squares: weights 1/y^2 make the deviations relative.
struct Sums {
  double w = 0, x = 0, xx = 0, y = 0, xy = 0, yy = 0;

  explicit Sums(const std::vector<Point>& points) {
    for (const Point& p : points) {
      const double weight = 1 / std::max(p.ns * p.ns, 1e-6);
      w += weight;
      x += weight * p.bytes;
      xx += weight * p.bytes * p.bytes;
      y += weight * p.ns;
      xy += weight * p.bytes * p.ns;
      yy += weight * p.ns * p.ns;
    }
  }
  double error(const Line& l) const {
    return yy + l.ns * l.ns * w + l.ns_per_byte * l.ns_per_byte * xx - 2 * l.ns * y - 2 * l.ns_per_byte * xy +
           2 * l.ns * l.ns_per_byte * x;
  }
  double best_ns(double ns_per_byte) const { return w > 0 ? (y - ns_per_byte * x) / w : 0; }
  double best_ns_per_byte(double ns) const { return xx > 0 ? (xy - ns * x) / xx : 0; }
};

constexpr double half_round_trip_tolerance = 0.02, lone_tolerance = 0.03, gap_tolerance = 0.05,
                 overhead_tolerance = 0.05;

/// How far off the line a value may be.
double allowed(const SizePoint& p, Column column) {
  const double overhead = half_round_trip_tolerance * p.half_round_trip.ns;
  switch (column) {
    case Column::half_round_trip:
      return half_round_trip_tolerance * p.half_round_trip.ns;
    case Column::gap:
      return std::max(gap_tolerance, p.gap.spread) * p.gap.ns;
    case Column::send:
      return std::max(std::max(overhead_tolerance, p.send.spread) * p.send.ns, overhead);
    default:
      return std::max(std::max(overhead_tolerance, p.receive.spread) * p.receive.ns, overhead);
  }
}

/// True if one line for each column serves all these points.
bool on_lines(const Way& way, const std::vector<std::size_t>& indices) {
  for (const Column column : {Column::half_round_trip, Column::gap, Column::send, Column::receive}) {
    std::vector<Point> points;
    for (const std::size_t i : indices)
      points.push_back({static_cast<double>(way.points[i].bytes), value(way.points[i], column)});
    const Line line = fit_line(points);
    for (const std::size_t i : indices) {
      const SizePoint& p = way.points[i];
      if (std::abs(line.at(static_cast<double>(p.bytes)) - value(p, column)) > allowed(p, column))
        return false;
    }
  }
  return true;
}

/// Lone points may be passed over if the line of the others is not far from them.
bool passes_by(const Way& way, const std::vector<std::size_t>& indices,
               const std::vector<std::size_t>& lone) {
  std::vector<Point> points;
  for (const std::size_t i : indices)
    points.push_back({static_cast<double>(way.points[i].bytes), way.points[i].half_round_trip.ns});
  const Line line = fit_line(points);
  return std::ranges::all_of(lone, [&](std::size_t i) {
    const SizePoint& p = way.points[i];
    return std::abs(line.at(static_cast<double>(p.bytes)) / p.half_round_trip.ns - 1) <= lone_tolerance;
  });
}

/// A range that grows.
struct Growing {
  const Way& way;
  std::vector<std::size_t> fitted, passed{};

  bool take(std::size_t next) { return become(with(fitted, next), passed); }
  /// Passes over `lone` if the point after it is on the line again.
  bool pass(std::size_t lone) {
    const std::vector<std::size_t> passing = with(passed, lone);
    if (!holds(with(fitted, lone + 1), passing) || !holds(fitted, passing)) return false;
    passed = passing;
    return true;
  }
  /// A lone point that was taken in may have bent the line, which shows only when `next` comes.
  bool take_instead_of_one(std::size_t next) {
    for (std::size_t i = fitted.size(); i-- > 1 && fitted.size() > 2;) {
      std::vector<std::size_t> others = with(fitted, next);
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (become(others, with(passed, fitted[i]))) return true;
    }
    return false;
  }

 private:
  static std::vector<std::size_t> with(std::vector<std::size_t> all, std::size_t one) {
    all.push_back(one);
    return all;
  }
  bool holds(const std::vector<std::size_t>& f, const std::vector<std::size_t>& p) const {
    return on_lines(way, f) && passes_by(way, f, p);
  }
  bool become(std::vector<std::size_t> f, std::vector<std::size_t> p) {
    if (!holds(f, p)) return false;
    fitted = std::move(f);
    passed = std::move(p);
    return true;
  }
};

}  // namespace

double value(const SizePoint& p, Column column) {
  switch (column) {
    case Column::half_round_trip:
      return p.half_round_trip.ns;
    case Column::gap:
      return p.gap.ns;
    case Column::send:
      return std::min(p.send.ns, p.gap.ns);
    case Column::receive:
      return std::min(p.receive.ns, p.gap.ns);
    case Column::release:
      return p.release.ns;
  }
  return 0;
}

Line fit_line(const std::vector<Point>& points, Bounds bounds) {
  const Sums s(points);
  const auto clamp_ns = [&](double v) { return std::clamp(v, 0.0, std::max(bounds.most_ns, 0.0)); };
  const auto clamp_slope = [&](double v) {
    return std::clamp(v, 0.0, std::max(bounds.most_ns_per_byte, 0.0));
  };
  const double determinant = s.w * s.xx - s.x * s.x;
  if (points.size() > 1 && determinant > 1e-12 * s.w * s.xx) {
    const Line free{(s.y * s.xx - s.x * s.xy) / determinant, (s.w * s.xy - s.x * s.y) / determinant};
    if (free.ns == clamp_ns(free.ns) && free.ns_per_byte == clamp_slope(free.ns_per_byte)) return free;
  }
  // The best one is on an edge of the box.
  std::vector<Line> edges;
  for (const double slope : {0.0, bounds.most_ns_per_byte})
    if (std::isfinite(slope)) edges.push_back({clamp_ns(s.best_ns(clamp_slope(slope))), clamp_slope(slope)});
  for (const double ns : {0.0, bounds.most_ns})
    if (std::isfinite(ns)) edges.push_back({clamp_ns(ns), clamp_slope(s.best_ns_per_byte(clamp_ns(ns)))});
  return *std::ranges::min_element(edges, {}, [&](const Line& l) { return s.error(l); });
}

std::vector<Range> find_ranges(const Way& way) {
  std::vector<Range> ranges;
  const std::size_t end = way.points.size();
  for (std::size_t i = 0; i < end;) {
    const bool rendezvous = way.is_rendezvous(way.points[i].bytes);
    const auto same_protocol = [&](std::size_t k) {
      return k < end && way.is_rendezvous(way.points[k].bytes) == rendezvous;
    };
    Growing range{way, {i}};
    std::size_t k = i + 1;
    while (same_protocol(k) &&
           (range.take(k) || (same_protocol(k + 1) && range.pass(k)) || range.take_instead_of_one(k)))
      k++;
    ranges.push_back({i, k - 1, std::move(range.fitted)});
    i = k;
  }
  return ranges;
}

}  // namespace simreplay::calibrate
