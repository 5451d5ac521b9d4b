#pragma once
// From spools in a folder to MPI programs, and which rank packs which process.

#include <cstdint>
#include <string>
#include <vector>

#include "capture/pack/team.hpp"

namespace simreplay::pack {

/// The spools of one MPI program (one MPI_COMM_WORLD).
struct World {
  std::string run;
  std::string name;
  std::int64_t started_ns = 0;  // when its first process started, since 1970
  std::string mpi_library;
  std::uint32_t clock = 0;          // spool::Clock
  bool chosen = false;              // only some processes were to be recorded
  std::vector<int> owners;          // by process: the rank that packs it; 0 if it left no spool
  std::vector<std::string> spools;  // by process: path of its spool if this rank packs it, else empty

  std::int32_t processes() const { return static_cast<std::int32_t>(spools.size()); }
};

/// Finds the spools of `run` in a folder, by world in the order of their start; an empty `run` is the only
/// one there. What is no spool, belongs to another run or is there twice is left out, with a line in
/// `remarks` of rank 0. Every spool has one owner among the ranks that see it; owners get about the same
/// number of bytes. Throws Error. Collective.
std::vector<World> find_worlds(const std::string& folder, const std::string& run,
                               std::vector<std::string>& remarks, const Team& team = {});

}  // namespace simreplay::pack
