#pragma once
// Sums of values read from files, which may be anything: they stop at the ends of their range.

#include <cstdint>

namespace simreplay::simtrace {

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) [[likely]]
    return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) [[likely]]
    return product;
  return (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
}

}  // namespace simreplay::simtrace
