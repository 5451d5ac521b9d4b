#pragma once
// Recorded noise: when, during some seconds, a processor did something other than the program that had it. As
// benchmarks of selfish detours write it, with a line before that says what the numbers mean:
//
//   # comment
//   unit ns length 10000000000
//   20431 1270          begin and duration of a detour, ascending

#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"

namespace simreplay {

struct Detour {
  Duration begin{}, duration{};
  friend bool operator==(const Detour&, const Detour&) = default;
};

/// Detours follow each other without overlap, end within the length, and leave some of it.
struct NoiseProfile {
  Duration length{};
  std::vector<Detour> detours;
};

/// Throws Error: file, line, what was expected and found.
NoiseProfile read_noise_profile(const std::string& path);

/// As a file that gives the profile again; times are cut to whole nanoseconds. `comment`: lines of text.
std::string to_text(const NoiseProfile& profile, std::string_view comment);

}  // namespace simreplay
