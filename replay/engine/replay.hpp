#pragma once
// One machine replayed, with the network that joins its nodes.

#include <mpi.h>

#include "common/machine.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay::engine {

/// Whether messages have to be delivered in the order of simulated time.
bool is_ordered(const Machine& machine);

/// As Engine. Collective; throws SharedFailure where the replay cannot begin.
Outcome replay(const trace::Reader& trace, const Machine& machine, MPI_Comm comm, trace::Rewriter* rewritten,
               const Progress& progress, bool is_observed = false);

}  // namespace simreplay::engine
