// mpirun -np N simreplay traces.h5: load, build, run, report.

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "common/output.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "replay/diagnose.hpp"
#include "replay/engine/replay.hpp"
#include "replay/network/models.hpp"
#include "replay/options.hpp"
#include "replay/report/performance.hpp"
#include "replay/report/summary.hpp"
#include "replay/report/sweep.hpp"
#include "replay/sweep/passes.hpp"

namespace {

using namespace simreplay;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Progress of rank 0 on a terminal, once the run is longer than two seconds.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted)
      : wanted_(wanted && stderr_is_watched()), start_(Clock::now()), last_(start_) {}
  ~ProgressLine() { clear(); }
  void clear() {
    if (shown_) std::fprintf(stderr, "\r%*s\r", width, "");
    shown_ = false;
  }
  void operator()(double share, TimePoint now) {
    if (!wanted_ || seconds_since(last_) < 0.5 || seconds_since(start_) < 2) return;
    last_ = Clock::now();
    shown_ = true;
    const std::string line = fmt::format("simreplay: {:.0f} % of the calls, simulated {}", 100 * share,
                                         format_duration(now.time_since_epoch()));
    std::fprintf(stderr, "\r%-*s", width, line.c_str());
  }

 private:
  static constexpr int width = 70;
  bool wanted_, shown_ = false;
  Clock::time_point start_, last_;
};

trace::Facts predicted_facts(const trace::Reader& trace, const Machine& machine) {
  trace::Facts facts = trace.facts();
  facts.kind = "predicted";
  facts.machine = to_ini(machine);
  facts.tick_ps = 1;
  return facts;
}

void check_outputs(const ReplayOptions& o) {
  for (const std::string& path : {o.output, o.json, o.csv}) {
    if (path.empty()) continue;
    std::error_code ignored;
    if (std::filesystem::equivalent(path, o.trace, ignored))
      throw Error({.file = path, .expected = "another file than the trace", .found = "the trace itself"});
    check_output(path, o.force);
  }
}

/// Traces of more calls are not replayed a second time unasked.
constexpr std::int64_t calls_diagnosed_unasked = 5'000'000;

/// Queries and diagnosis: asked for, or because the program is not efficient.
void manage_performance(const trace::Reader& trace, const ReplayOptions& options, engine::Outcome outcome,
                        report::Summary& summary) {
  int is_wanted =
      options.diagnose || (!options.machine.as_recorded && summary.efficiency < options.criteria.efficient &&
                           summary.calls <= calls_diagnosed_unasked)
          ? 1
          : 0;
  MPI_Bcast(&is_wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is_wanted == 0 && options.queries.empty()) return;
  if (!outcome.is_observed)
    outcome = engine::replay(trace, options.machine, MPI_COMM_WORLD, nullptr, {}, true);
  const performance::Run run = report::gather_run(outcome, summary, options.machine, MPI_COMM_WORLD);
  if (is_wanted != 0)
    summary.diagnosis = diagnose(trace, options.machine, run, options.criteria, MPI_COMM_WORLD);
  together(MPI_COMM_WORLD, [&] {
    if (rank_in(MPI_COMM_WORLD) != 0) return;
    for (const performance::Query& q : options.queries) try {
        summary.answers.push_back({performance::to_text(q), performance::answer(run.figures, q)});
      } catch (const std::invalid_argument& e) {
        throw Error({.operation = "query", .problem = e.what()});
      }
  });
}

int replay(const ReplayOptions& options, const MpiSession& mpi) {
  const auto start = Clock::now();
  std::unique_ptr<trace::Reader> trace;
  std::unique_ptr<trace::Rewriter> predicted;
  ProgressLine progress(mpi.rank() == 0);
  together(MPI_COMM_WORLD, [&] {
    trace = std::make_unique<trace::Reader>(options.trace);
    check_outputs(options);
    if (!options.output.empty())
      check_space(options.output, trace::rewritten_bytes(trace->extent(), trace->facts().processes));
  });
  together(MPI_COMM_WORLD, [&] {
    if (!options.output.empty())
      predicted = std::make_unique<trace::Rewriter>(options.output, options.trace,
                                                    predicted_facts(*trace, options.machine), MPI_COMM_WORLD);
  });
  engine::Outcome outcome = engine::replay(*trace, options.machine, MPI_COMM_WORLD, predicted.get(),
                                           std::ref(progress), options.diagnose || !options.queries.empty());
  progress.clear();
  report::Summary summary = report::gather(outcome, 0, options.trace, trace->facts(), MPI_COMM_WORLD);
  together(MPI_COMM_WORLD, [&] {
    if (predicted) predicted->commit();
  });
  summary.machine = options.machine;
  summary.serial_ps = options.serial.count();
  summary.add_up();
  summary.replay_seconds = seconds_since(start);
  manage_performance(*trace, options, std::move(outcome), summary);
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() != 0) return;
    if (!options.json.empty()) write_file(options.json, report::to_json(summary));
    std::fputs(report::to_text(summary).c_str(), stdout);
  });
  return 0;
}

int replay_sweep(const ReplayOptions& options, const MpiSession& mpi) {
  const auto start = Clock::now();
  std::unique_ptr<trace::Reader> trace;
  sweep::Variants variants;
  ProgressLine progress(mpi.rank() == 0);
  together(MPI_COMM_WORLD, [&] {
    trace = std::make_unique<trace::Reader>(options.trace);
    check_outputs(options);
    variants = sweep::make_variants(options.machine, options.machines, options.sweeps);
  });
  sweep::Result result = sweep::run(*trace, variants.all, MPI_COMM_WORLD, std::ref(progress));
  progress.clear();
  report::Sweep s{variants.keys, {}, std::move(result.rows), result.passes, mpi.size(), seconds_since(start)};
  for (const sweep::Variant& v : variants.all) s.values.push_back(v.values);
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() != 0) return;
    if (!options.json.empty()) write_file(options.json, report::to_json(s));
    if (!options.csv.empty()) write_file(options.csv, report::to_csv(s));
    std::fputs(report::to_text(s).c_str(), stdout);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  simreplay::MpiSession mpi(&argc, &argv);
  try {
    ReplayOptions options;
    network::register_models();
    together(MPI_COMM_WORLD, [&] { options = parse_replay_options(argc, argv); });
    if (options.text.empty()) return options.is_sweep() ? replay_sweep(options, mpi) : replay(options, mpi);
    if (mpi.rank() == 0) std::fputs(options.text.c_str(), stdout);
    return 0;
  } catch (const SharedFailure& failure) {
    if (!failure.message.empty()) std::fprintf(stderr, "simreplay: %s\n", failure.message.c_str());
    return 1;
  }
}
