#pragma once
// What an observed replay has found out of channels, tasks and processors, brought to rank 0.

#include <mpi.h>

#include "common/performance/hypotheses.hpp"
#include "replay/engine/engine.hpp"
#include "replay/report/summary.hpp"

namespace simreplay::report {

/// Collective. `summary` is that of the same outcome; the nodes are those of the machine. Empty but on rank
/// 0.
performance::Run gather_run(const engine::Outcome& outcome, const Summary& summary, const Machine& machine,
                            MPI_Comm comm);

}  // namespace simreplay::report
