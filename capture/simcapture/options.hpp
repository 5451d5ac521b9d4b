#pragma once
// The command line of simcapture.

#include <string>
#include <vector>

namespace simreplay::simcapture {

struct Options {
  std::string output = "traces.h5";
  bool keep_spool = false;
  bool force = false;
  std::vector<std::string> command;  // empty: --help or --version was asked for and answered
};

/// Throws std::invalid_argument or boost::program_options::error.
Options parse_options(int argc, char** argv);

}  // namespace simreplay::simcapture
