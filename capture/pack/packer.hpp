#pragma once
// Spools of all processes of an MPI program -> one trace file.

#include <cstdint>
#include <string>
#include <vector>

#include "capture/pack/team.hpp"
#include "capture/pack/worlds.hpp"

namespace simreplay::pack {

struct Summary {
  std::int32_t processes = 0;
  std::uint64_t calls = 0;
  double seconds = 0;                    // recorded by the process that ran longest
  std::vector<std::int32_t> incomplete;  // processes that did not reach the end of MPI
  std::vector<std::string> remarks;      // for people
};

/// Writes the trace; each rank of the team packs the processes that it owns. The summary is that of all on
/// rank 0. Throws Error. Collective.
Summary pack(const World& world, const std::string& command, const std::string& output,
             const Team& team = {});

}  // namespace simreplay::pack
