#pragma once
// The command line of simcapture.

#include <string>
#include <vector>

namespace simreplay::simcapture {

struct Options {
  std::string output = "traces.h5";
  std::string spool_dir;  // empty: a new folder beside the output
  bool keep_spool = false;
  bool no_pack = false;
  bool force = false;
  std::string clock = "wall";  // or cpu, process-cpu
  std::vector<std::string> command;  // empty: --help or --version was asked for and answered
};

/// Throws std::invalid_argument or boost::program_options::error.
Options parse_options(int argc, char** argv);

}  // namespace simreplay::simcapture
