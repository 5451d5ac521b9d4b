#pragma once
// `simtrace verify`: does the trace describe a run that can have happened?

#include <cstdint>
#include <string>
#include <vector>

#include "capture/simtrace/command_line.hpp"
#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

struct Verdict {
  std::int64_t processes = 0, calls = 0, messages = 0;
  std::int64_t faults = 0;
  std::vector<std::string> shown;    // the first of them
  std::vector<std::string> remarks;  // what is no fault, but good to know
};

/// Linear in the number of calls; memory follows open messages, requests and collective operations.
Verdict verify(const trace::Reader& reader, std::size_t faults_shown = 20);

Exit verify_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
