#pragma once
// The command line of simreplay.

#include <string>

#include "common/machine.hpp"

namespace simreplay {

struct ReplayOptions {
  std::string trace;
  Machine machine;
  std::string output;  // predicted trace; empty: none
  std::string json;    // summary; empty: none
  bool force = false;
  std::string text;  // --help or --version: to be printed instead of a replay
};

/// Throws Error: unknown options with the nearest valid one, values out of their domain.
ReplayOptions parse_replay_options(int argc, const char* const* argv);

}  // namespace simreplay
