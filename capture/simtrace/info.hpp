#pragma once
// `simtrace info`: what a trace holds, as text, as JSON, or call by call.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/simtrace/command_line.hpp"
#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

/// Sums over all calls of one operation.
struct OperationSum {
  std::uint64_t calls = 0;
  std::int64_t ticks = 0;  // inside the calls
  std::int64_t bytes = 0;
};

struct Summary {
  std::array<OperationSum, mpi_ops.size()> operations{};
  std::int64_t longest_ticks = 0;        // of a process, without the time inside MPI_Init and MPI_Finalize
  std::vector<std::int32_t> incomplete;  // the first of the processes that did not end well
  std::int64_t incomplete_count = 0;
  std::map<std::string, std::int64_t> hosts;  // processes on each
};

Summary summarize(const trace::Reader& reader);

/// Which calls to print: `PROCESS[:FIRST[:COUNT]]`.
struct CallRange {
  std::int64_t process = 0, first = 0, count = INT64_MAX;
};
CallRange parse_call_range(const std::string& text);

/// One line for people: index, enter time, computation, duration, name, arguments.
std::string describe(const trace::Signature& s);

Exit info_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
