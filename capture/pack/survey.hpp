#pragma once
// The first look through the spool of a process.

#include <map>
#include <vector>

#include "capture/pack/communicators.hpp"
#include "capture/pack/spool_reader.hpp"

namespace simreplay::pack {

/// A region, counter or timer as one process knew it.
struct LocalMetric {
  trace::Metric metric;
  std::int32_t number = 0;  // in the trace
};

struct Survey {
  std::vector<LocalCommunicator> communicators;  // local ids 2, 3, ...
  std::vector<LocalMetric> metrics;              // local ids 0, 1, ...
  std::vector<spool::Record> skipped;            // what was not recorded
  std::map<std::int32_t, std::int64_t> alone;    // communicator -> the first so many collectives have other
                                                 // members outside of the trace; filled in by reconcile()
  bool is_whole = true;                          // the spool is not damaged
};

/// Collects the communicators, and writes into the record that posted a receive what came in: a trace says
/// it there. So memory follows the open requests and not the length of the run.
Survey survey(SpoolReader& spool);

}  // namespace simreplay::pack
