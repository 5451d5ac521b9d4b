#pragma once
// Sums over a whole trace.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

/// Sums over all calls of one operation.
struct OperationSum {
  std::int64_t rows = 0, calls = 0;  // a row may stand for many calls
  std::int64_t ticks = 0;            // inside the calls
  std::int64_t bytes = 0;
};

/// What crosses the network because a call names the process at the other end.
struct Traffic {
  std::int64_t count = 0, bytes = 0;
};

struct Summary {
  std::array<OperationSum, mpi_ops.size()> operations{};
  std::int64_t calls = 0;
  std::vector<std::int64_t>
      metrics;                     // by number: entries of a region, changes of a counter, starts of a timer
  Traffic messages;                // sent from process to process
  Traffic accesses;                // to the windows of other processes
  std::int64_t longest_ticks = 0;  // of a process, without the time inside MPI_Init and MPI_Finalize
  std::vector<std::int32_t> incomplete;  // the first of the processes that did not end well
  std::int64_t incomplete_count = 0;
  std::map<std::string, std::int64_t> hosts;  // processes on each
};

Summary summarize(const trace::Reader& reader);

}  // namespace simreplay::simtrace
