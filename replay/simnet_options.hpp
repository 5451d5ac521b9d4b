#pragma once
// The command line of simnet.

#include <string>

#include "common/units.hpp"
#include "replay/network/infiniband/packets/settings.hpp"
#include "replay/network/infiniband/source.hpp"

namespace simreplay {

/// What to do with a fabric.
enum class NetTask { look, messages, traffic, sizes, serve };

struct NetOptions {
  infiniband::Source source{};
  std::string tables, fabric;  // to be written; empty: none
  bool force = false;
  NetTask task = NetTask::look;
  std::string messages, socket;     // files; no socket: standard input
  std::string traffic = "uniform";  // a pattern
  std::int64_t bytes = 65536, count = 10, seed = 1;
  Duration interval{0};     // between messages of one host
  std::string json, links;  // files to be written; "-": standard output
  infiniband::Settings settings{};
  std::string text;  // --help or --version: to be printed instead
};

/// Throws Error: unknown options with the nearest valid one, values out of their domain.
NetOptions parse_net_options(int argc, const char* const* argv);

}  // namespace simreplay
