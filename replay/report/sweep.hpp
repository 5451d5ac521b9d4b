#pragma once
// A sweep as a table for people, for spreadsheets and for programs.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/report/summary.hpp"

namespace simreplay::report {

struct Sweep {
  std::vector<std::string> keys;                 // swept
  std::vector<std::vector<std::string>> values;  // of these keys, by row
  std::vector<Summary> rows;
  std::size_t passes = 0;  // over the trace
  int ranks = 1;
  double replay_seconds = 0;

  /// The first of the rows with the shortest prediction.
  std::size_t best() const;
};

std::string to_text(const Sweep& sweep);
std::string to_csv(const Sweep& sweep);
std::string to_json(const Sweep& sweep);

}  // namespace simreplay::report
