#pragma once
// Ids of communicators where the processes of a program are dealt to several ranks.

#include <cstdint>
#include <map>
#include <vector>

#include "capture/pack/survey.hpp"
#include "capture/pack/team.hpp"
#include "common/trace/format.hpp"

namespace simreplay::pack {

/// Gives ids to the communicators of all processes: rank 0 does it, in the order of processes, so that ids
/// are the same for any number of ranks. `owners`: the rank that has each process in its `own` surveys.
/// Returns members by id, on rank 0. Collective.
std::vector<trace::Members> assign_ids(const Team& team, const std::vector<int>& owners,
                                       std::map<std::int32_t, Survey>& own);

}  // namespace simreplay::pack
