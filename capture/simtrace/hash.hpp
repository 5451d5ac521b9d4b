#pragma once
// Deterministic pseudo-random numbers as a function of identities: the same on every rank, in any order.

#include <concepts>
#include <cstdint>

namespace simreplay::simtrace {

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

template <std::integral... Ids>
constexpr std::uint64_t hash(std::uint64_t seed, Ids... ids) {
  std::uint64_t h = scramble(seed);
  ((h = scramble(h ^ static_cast<std::uint64_t>(ids))), ...);
  return h;
}

}  // namespace simreplay::simtrace
