#pragma once
// `simtrace info`: what a trace holds, as text, as JSON, or call by call.

#include <cstdint>
#include <string>

#include "capture/simtrace/command_line.hpp"

namespace simreplay::simtrace {

/// Which calls to print: `PROCESS[:FIRST[:COUNT]]`.
struct CallRange {
  std::int64_t process = 0, first = 0, count = INT64_MAX;
};
CallRange parse_call_range(const std::string& text);

Exit info_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
