#pragma once
// The command line of simreplay.

#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/performance/hypotheses.hpp"
#include "common/performance/query.hpp"

namespace simreplay {

struct ReplayOptions {
  std::string trace;
  Machine machine;
  std::string output;                         // predicted trace; empty: none
  std::string json;                           // summary or sweep; empty: none
  std::string csv;                            // sweep; empty: none
  std::vector<std::string> sweeps, machines;  // as given; empty: one machine
  bool is_sweep() const { return !sweeps.empty() || !machines.empty(); }
  std::vector<performance::Query> queries;
  bool diagnose = false;  // also where the program is efficient
  performance::Criteria criteria;
  Duration serial{};  // T_1; 0: the sum of computation
  bool force = false;
  std::string text;  // --help or --version: to be printed instead of a replay
};

/// Throws Error: unknown options with the nearest valid one, values out of their domain.
ReplayOptions parse_replay_options(int argc, const char* const* argv);

}  // namespace simreplay
