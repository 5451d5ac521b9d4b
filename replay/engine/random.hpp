#pragma once
// Random numbers of a stream that its start alone determines.

#include <cstdint>

namespace simreplay::engine {

/// The next number of a stream: SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace simreplay::engine
