#pragma once
// The command line of simcapture.

#include <string>
#include <utility>
#include <vector>

namespace simreplay::simcapture {

struct Options {
  std::string output = "traces.h5";
  std::string spool_dir;  // empty: a new folder beside the output
  bool keep_spool = false;
  bool no_pack = false;
  bool force = false;
  std::string mpi;             // a kind of MPI library; empty: find out
  std::string clock = "wall";  // or cpu, process-cpu
  std::string from, length;    // seconds; the part of the run to record
  std::string processes;       // "0-3,7"; empty: all
  std::string size;            // bytes that the spool of a process may grow to
  bool paused = false;
  std::vector<std::string> command;  // empty: --help or --version was asked for and answered
};

/// What the recorder must know of them, as variables of the environment.
std::vector<std::pair<std::string, std::string>> wishes(const Options& options);

/// Throws std::invalid_argument or boost::program_options::error.
Options parse_options(int argc, char** argv);

}  // namespace simreplay::simcapture
