#pragma once
// Regions, counters and timers of the program in the summary.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/trace/format.hpp"
#include "replay/observe/metrics.hpp"

namespace simreplay::report {

struct MetricTable {
  std::vector<trace::Metric> metrics;  // of the trace
  std::vector<observe::Row> rows;      // of all processes, ascending by process
};

/// A small table for each kind that there is; empty if there is none.
std::string to_text(const MetricTable& table);

/// Adds `regions`, `counters` and `timers`, if there are any. Times in ps.
void add_json(const MetricTable& table, nlohmann::ordered_json& to);

}  // namespace simreplay::report
