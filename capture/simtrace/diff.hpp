#pragma once
// `simtrace diff`: two traces call by call.

#include <cstdint>
#include <optional>
#include <string>

#include "capture/simtrace/command_line.hpp"
#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

struct Difference {
  /// Where the traces are of different structure, and how; then no times were compared.
  std::optional<std::string> structure;
  std::int64_t largest_ps = 0;  // of enter and leave times
  double mean_ps = 0;           // of their absolute values
  struct Place {
    std::int32_t process = 0;
    std::uint64_t call = 0;
    std::string operation;
  };
  std::optional<Place> first, largest;  // first: in the lowest process
  bool same() const { return !structure && !first; }
};

Difference compare(const trace::Reader& a, const trace::Reader& b);

Exit diff_command(const Arguments& arguments);

}  // namespace simreplay::simtrace
