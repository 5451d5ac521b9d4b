#pragma once
// Which spools lie in a folder. On many hosts the same name may mean one folder or many: ranks whose
// folders list the same files (their names hold process, pid and time) look at the same spools.

#include <cstdint>
#include <string>
#include <vector>

#include "capture/pack/team.hpp"
#include "capture/recorder/spool_format.hpp"

namespace simreplay::pack {

/// What the header of a spool says, as ranks tell it to each other.
struct FoundSpool {
  std::int32_t view = 0, file = 0;  // file of this number in the list of the ranks of this view
  std::int32_t process = 0, processes = 0, pid = 0;
  std::int64_t started_ns = 0, loaded_ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t clock = 0;
  std::uint32_t chosen = 0;
  decltype(spool::Header::run) run{};
  decltype(spool::Header::world) world{};
};

struct SpoolSearch {
  std::vector<std::string> paths;  // of the files that this rank sees
  std::vector<int> views;          // by rank: the lowest rank that sees the same files
  std::vector<FoundSpool> spools;  // of all ranks, each view once; only on rank 0
};

/// Looks into `folder`, which need not be there on all hosts. Ranks of one view share the reading. What is
/// no spool is left out, with a line in `remarks` of rank 0. Collective.
SpoolSearch search(const Team& team, const std::string& folder, std::vector<std::string>& remarks);

}  // namespace simreplay::pack
