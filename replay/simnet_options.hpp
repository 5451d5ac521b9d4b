#pragma once
// The command line of simnet.

#include <string>

namespace simreplay {

struct NetOptions {
  std::string topology;             // a spec or a file
  std::string routing = "minhop";   // an engine or a file of tables
  std::string roots, torus_config;  // files; empty: none
  int max_lanes = 8;
  std::string tables, fabric;  // to be written; empty: none
  bool force = false;
  std::string text;  // --help or --version: to be printed instead
};

/// Throws Error: unknown options with the nearest valid one, values out of their domain.
NetOptions parse_net_options(int argc, const char* const* argv);

}  // namespace simreplay
