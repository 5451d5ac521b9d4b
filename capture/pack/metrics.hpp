#pragma once
// Numbers of regions, counters and timers: those of the processes, by name, to those of the trace.

#include <cstdint>
#include <map>
#include <vector>

#include "capture/pack/survey.hpp"
#include "capture/pack/team.hpp"
#include "common/trace/format.hpp"

namespace simreplay::pack {

/// Numbers the metrics of all processes in the order of processes, so that numbers are the same for any
/// number of ranks, and writes them into the `own` surveys. Returns the metrics by number. Collective.
std::vector<trace::Metric> number_metrics(const Team& team, std::map<std::int32_t, Survey>& own);

}  // namespace simreplay::pack
