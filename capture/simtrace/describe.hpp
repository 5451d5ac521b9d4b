#pragma once
// A call as people read it.

#include <string>

#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Name and arguments, on one line.
std::string describe(const trace::Signature& s);

}  // namespace simreplay::simtrace
