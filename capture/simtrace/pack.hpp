#pragma once
// `simtrace pack`: from the spools that recorders left to a trace, alone or with many ranks.

#include "capture/simtrace/command_line.hpp"

namespace simreplay::simtrace {

Exit pack_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
