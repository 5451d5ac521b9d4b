#pragma once
// The prediction as text for people and as JSON for programs.

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/performance/hypotheses.hpp"
#include "common/performance/query.hpp"
#include "common/trace/format.hpp"
#include "replay/engine/engine.hpp"
#include "replay/report/metrics.hpp"

namespace simreplay::report {

/// One process of the prediction, in picoseconds. computation + communication + idle is the predicted time,
/// once for each of its threads that call MPI.
struct ProcessRow {
  std::int64_t computation_ps = 0, communication_ps = 0, waiting_ps = 0, end_ps = 0, recorded_ps = 0;
  std::int64_t idle_ps = 0;  // waiting, and what comes after its end
  std::int64_t calls = 0;
  std::int32_t threads = 1;
};
/// Of all processes; together they may exceed 64 bits.
struct Total {
  double computation_ps = 0, communication_ps = 0, idle_ps = 0, waiting_ps = 0, end_ps = 0, time_ps = 0;
};

struct Summary {
  std::string trace_file;
  trace::Facts facts;
  Machine machine;
  std::vector<ProcessRow> processes;
  std::int64_t calls = 0, messages = 0, unreceived = 0;
  std::int64_t cut_processes = 0;  // whose records end before MPI_Finalize
  MetricTable metrics;             // regions, counters and timers
  network::Report network;         // if it is one of its own
  std::optional<performance::Diagnosis> diagnosis;
  std::vector<std::pair<std::string, std::vector<performance::Value>>> answers;  // to queries
  std::vector<std::string> warnings;
  int ranks = 1;
  double replay_seconds = 0;

  Total total;
  std::int64_t predicted_ps = 0;  // the last process ends
  std::int64_t recorded_ps = 0;
  std::int64_t serial_ps = 0;  // T_1 of one processor, if it was given; else the sum of computation is taken
  // 1 for an empty prediction.
  double speedup = 1;     // T_1 / predicted time
  double efficiency = 1;  // T_1 / (processes * predicted time)
  double busy_share = 1;  // 1 - idle / time

  void add_up();  // makes these of `processes`
  double calls_per_second() const {
    return replay_seconds > 0 ? static_cast<double>(calls) / replay_seconds : 0;
  }
};

/// What the ranks have to say of one of the machines, brought to rank 0: the summary's rows and counts, or
/// why there is none. Collective; throws SharedFailure where the replay failed or could not go on.
Summary gather(const engine::Outcome& outcome, std::size_t machine, const std::string& trace_file,
               const trace::Facts& facts, MPI_Comm comm);

std::string to_text(const Summary& summary);
std::string to_json(const Summary& summary);

}  // namespace simreplay::report
