#pragma once
// Whether the difference of two metrics is more than chance.

#include <span>

namespace simreplay::performance {

/// The probability of ranks like these, or clearer ones, if values of `high` were no larger than those of
/// `low`: the test of Mann and Whitney, one-sided, by its normal approximation with correction for ties and
/// continuity (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 4.1). It assumes no
/// distribution. 1 where one side has fewer than 5 values: too few to say anything.
double chance_of(std::span<const double> high, std::span<const double> low);

}  // namespace simreplay::performance
