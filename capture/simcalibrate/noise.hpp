#pragma once
// How much other work takes processors away from a program: every rank reads the clock without a pause and
// notes when that took unusually long (selfish detour; Beckman et al., Benchmarking the Effects of Operating
// System Interference on Extreme-Scale Parallel Machines, Cluster Computing 11(1), 2008).

#include <mpi.h>

#include <string>

#include "common/noise_profile.hpp"

namespace simreplay::calibrate {

struct RecordedNoise {
  NoiseProfile profile;  // of the ranks, one after the other
  std::string comment;   // where and how, with a line for each rank
};

/// Turns that take longer than this many times the shortest are detours.
constexpr int detour_factor = 9;

/// Collective; complete on rank 0. All ranks at the same time, `seconds` each.
RecordedNoise record_noise(MPI_Comm comm, double seconds);

}  // namespace simreplay::calibrate
