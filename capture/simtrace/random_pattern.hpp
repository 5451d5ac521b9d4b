#pragma once
// The pattern `random`: messages along random permutations, collectives and sub-communicators.

#include <vector>

#include "capture/simtrace/patterns.hpp"

namespace simreplay::simtrace {

void random_steps(const Job& job, Script& script);
void random_communicators(const Job& job, std::vector<trace::Members>& communicators);

}  // namespace simreplay::simtrace
