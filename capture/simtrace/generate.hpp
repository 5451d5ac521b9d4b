#pragma once
// `simtrace generate`: writes synthetic traces, alone or with many ranks into one file.

#include <mpi.h>

#include <string>

#include "capture/simtrace/command_line.hpp"
#include "capture/simtrace/patterns.hpp"

namespace simreplay::simtrace {

/// Writes the trace of `job`. Collective; the file has the same bits for any number of ranks.
void generate(Job job, const std::string& path, MPI_Comm comm);

Exit generate_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
