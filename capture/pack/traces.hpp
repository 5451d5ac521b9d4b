#pragma once
// Traces of all MPI programs that one command ran, and what people are told about them.

#include <functional>
#include <string>
#include <vector>

#include "capture/pack/team.hpp"
#include "capture/pack/worlds.hpp"

namespace simreplay::pack {

struct Job {
  std::string command;  // that was recorded, for people
  std::string output;   // of the first program; traces.h5 is followed by traces.2.h5, traces.3.h5, ...
  bool force = false;   // overwrites
};

/// Says a line to people.
using Say = std::function<void(const std::string&)>;

/// Packs every program into a trace of its own; rank 0 says what came out. Throws Error. Collective.
void pack_all(const std::vector<World>& worlds, const Job& job, const Say& say, const Team& team = {});

}  // namespace simreplay::pack
