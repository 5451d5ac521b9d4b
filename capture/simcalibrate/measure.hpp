#pragma once
// The measuring itself, by two ranks. The others wait in the MPI library, as those of a program do, or
// exchange messages themselves.

#include <mpi.h>

#include "capture/simcalibrate/measurement.hpp"

namespace simreplay::calibrate {

struct Effort {
  double seconds = 40;  // at most, for all ways together
  std::int64_t most_bytes = 4 << 20;
  bool every_half_octave = true;  // of sizes; else every octave
  int most_rounds = 200;
  double quantile = low_quantile;
  bool all_pairs = false;  // all ranks measure at the same time, two by two
};
Effort quick_effort();

/// Rank 0 with one of its node and one of another node, as far as there are. Collective; complete on rank 0.
Measurement measure(MPI_Comm comm, const Effort& effort);

}  // namespace simreplay::calibrate
