#pragma once
// Spools of all processes of an MPI program -> one trace file.

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::pack {

/// The spools of one MPI program (one MPI_COMM_WORLD).
struct World {
  std::string name;
  std::int64_t started_ns = 0;  // when its first process started, since 1970
  std::string mpi_library;
  std::vector<std::string> spools;  // path by rank; empty where there is none
};

/// Finds the spools of `run` in a folder, by world in the order of their start. What is no spool, belongs to
/// another run or is there twice is left out, with a line in `remarks`.
std::vector<World> find_worlds(const std::string& folder, const std::string& run,
                               std::vector<std::string>& remarks);

struct Summary {
  std::int32_t processes = 0;
  std::uint64_t calls = 0;
  double seconds = 0;                    // recorded by the process that ran longest
  std::vector<std::int32_t> incomplete;  // processes that did not reach the end of MPI
  std::vector<std::string> remarks;      // for people
};

/// Writes the trace. Throws Error.
Summary pack(const World& world, const std::string& command, const std::string& output);

}  // namespace simreplay::pack
