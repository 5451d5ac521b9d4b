#pragma once
// Diagnosis of a predicted run: where a hypothesis says what would help, that is tried by one more replay.

#include <mpi.h>

#include "common/performance/hypotheses.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay {

/// Collective; `run` and the result count on rank 0. Throws SharedFailure where a replay failed.
performance::Diagnosis diagnose(const trace::Reader& trace, const Machine& machine,
                                const performance::Run& run, const performance::Criteria& criteria,
                                MPI_Comm comm);

}  // namespace simreplay
