#pragma once
// A sweep replayed: machines that agree in what decides on the steps of the replay share a pass over the
// trace.

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/trace/reader.hpp"
#include "replay/report/summary.hpp"
#include "replay/sweep/variants.hpp"

namespace simreplay::sweep {

/// What of a machine decides on the steps of a replay: machines with equal shapes may share a pass. Empty:
/// this machine has to be replayed alone.
std::string shape_of(const Machine& machine, bool trace_has_metrics);

/// Variants, by number, that are replayed side by side. In each at most as many as the engine takes.
std::vector<std::vector<std::size_t>> passes_of(std::span<const Variant> variants, bool trace_has_metrics);

struct Result {
  std::vector<report::Summary> rows;  // of each variant, without its processes; on rank 0
  std::size_t passes = 0;
};

/// Each row has the same bits as a replay of that machine alone. `progress` hears the share that is done.
/// Collective; throws SharedFailure.
Result run(const trace::Reader& trace, std::span<const Variant> variants, MPI_Comm comm,
           const std::function<void(double share, TimePoint now)>& progress);

}  // namespace simreplay::sweep
