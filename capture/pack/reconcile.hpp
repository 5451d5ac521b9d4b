#pragma once
// Programs of which only a part was recorded: what the processes left out, put side by side.

#include <map>
#include <string>
#include <vector>

#include "capture/pack/survey.hpp"
#include "capture/pack/team.hpp"
#include "common/trace/format.hpp"

namespace simreplay::pack {

/// Finds the messages and collectives of which only one end was recorded, where recording began: the former
/// are returned (on rank 0), the latter noted in the surveys. Recording that is paused and resumed again must
/// leave out whole messages; where it does not, a line in `remarks` of rank 0 says so. Communicators have
/// their ids. Collective.
std::vector<trace::Skipped> reconcile(const Team& team, const std::vector<trace::Members>& communicators,
                                      std::int32_t processes, std::map<std::int32_t, Survey>& own,
                                      std::vector<std::string>& remarks);

}  // namespace simreplay::pack
