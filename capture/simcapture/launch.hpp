#pragma once
// Runs the program to be recorded.

#include <string>
#include <utility>
#include <vector>

#include "capture/simcapture/mpi_kind.hpp"

namespace simreplay::simcapture {

/// What the recorder in every process must know.
struct Preload {
  std::string recorder;
  std::string folder;  // for spools; absolute
  std::string run;
  MpiKind launcher;                                         // of the command; empty if it is none
  std::vector<std::pair<std::string, std::string>> wishes;  // further variables of its environment

  std::vector<std::pair<std::string, std::string>> variables() const;
};

/// Runs the command to its end and returns its status as a shell would (killed by signal n: 128 + n). Signals
/// that are meant to end us are passed on to it. Throws Error if it cannot be started.
int run(const std::vector<std::string>& command, const Preload& preload);

}  // namespace simreplay::simcapture
