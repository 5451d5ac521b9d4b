#pragma once
// A call as people read it.

#include <span>
#include <string>

#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Name and arguments, on one line. `metrics`: of the trace, for the names in marks.
std::string describe(const trace::Signature& s, std::span<const trace::Metric> metrics = {});

}  // namespace simreplay::simtrace
