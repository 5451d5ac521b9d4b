#include "common/performance/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>
#include <vector>

namespace simreplay::performance {

double chance_of(std::span<const double> high, std::span<const double> low) {
  constexpr std::size_t fewest = 5;
  if (high.size() < fewest || low.size() < fewest) return 1;
  std::vector<std::pair<double, bool>> all;  // value, is of `high`
  for (const double v : high) all.emplace_back(v, true);
  for (const double v : low) all.emplace_back(v, false);
  std::ranges::sort(all);

  double ranks = 0, ties = 0;  // sum of the ranks of `high`; of t^3 - t
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i, of_high = 0;
    for (; end < all.size() && all[end].first == all[i].first; end++) of_high += all[end].second ? 1U : 0U;
    const auto t = static_cast<double>(end - i);
    ranks += static_cast<double>(of_high) * (static_cast<double>(i + end) + 1) / 2;
    ties += t * t * t - t;
    i = end;
  }
  const auto m = static_cast<double>(high.size()), n = static_cast<double>(low.size()), both = m + n;
  const double u = ranks - m * (m + 1) / 2, mean = m * n / 2;
  const double variance = m * n / 12 * (both + 1 - ties / (both * (both - 1)));
  if (variance <= 0) return 1;
  const double z = (u - mean - 0.5) / std::sqrt(variance);
  return boost::math::cdf(boost::math::complement(boost::math::normal(), z));
}

}  // namespace simreplay::performance
