#include "tests/support/replay_trace.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "common/mpi_session.hpp"
#include "common/trace/reader.hpp"
#include "replay/engine/replay.hpp"
#include "replay/network/models.hpp"
#include "replay/report/performance.hpp"

namespace simreplay::test {
namespace {

int rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

template <class T>
void share(std::vector<T>& values) {
  std::uint64_t n = values.size();
  MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  values.resize(n);
  MPI_Bcast(values.data(), static_cast<int>(n * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void share(std::string& text) {
  std::vector<char> bytes(text.begin(), text.end());
  share(bytes);
  text.assign(bytes.begin(), bytes.end());
}

}  // namespace

const observe::Row& Replayed::metric(std::int32_t process, std::int32_t number, std::int32_t counter) const {
  for (const observe::Row& row : metrics)
    if (row.process == process && row.metric == number && row.counter == counter) return row;
  throw std::out_of_range("no such row: " + failure);
}

std::string scratch_name() {
  static int count = 0;
  int id[2] = {static_cast<int>(getpid()), count++};
  MPI_Bcast(id, 2, MPI_INT, 0, MPI_COMM_WORLD);
  return (std::filesystem::temp_directory_path() /
          ("simreplay-test-" + std::to_string(id[0]) + "-" + std::to_string(id[1]) + ".h5"))
      .string();
}

Machine machine(const std::vector<std::pair<std::string, std::string>>& settings) {
  static const bool are_known = (network::register_models(), true);
  static_cast<void>(are_known);
  Machine m;
  for (const auto& [key, value] : settings) apply_setting(m, key, value, "test");
  return m;
}

Replayed replay(const SmallTrace& trace, const Machine& machine, const std::string& predicted) {
  const std::string path = scratch_name();
  if (rank() == 0) trace.write(path);
  MPI_Barrier(MPI_COMM_WORLD);
  Replayed result = replay_file(path, machine, predicted);
  if (rank() == 0) std::remove(path.c_str());
  return result;
}

performance::Run observed_run(const SmallTrace& trace, const Machine& machine) {
  const std::string path = scratch_name();
  if (rank() == 0) trace.write(path);
  MPI_Barrier(MPI_COMM_WORLD);
  const trace::Reader reader(path);
  const engine::Outcome outcome = engine::replay(reader, machine, MPI_COMM_WORLD, nullptr, {}, true);
  const report::Summary s = report::gather(outcome, 0, "t.h5", reader.facts(), MPI_COMM_WORLD);
  performance::Run run = report::gather_run(outcome, s, machine, MPI_COMM_WORLD);
  share(run.figures.tasks);
  share(run.figures.nodes);
  share(run.figures.channels);
  share(run.figures.channel_cells);
  std::vector<Duration> time{run.time};
  share(time);
  run.time = time[0];
  run.windows.resize(run.figures.tasks.size());
  for (performance::Windows& w : run.windows) share(w);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) std::remove(path.c_str());
  return run;
}

Replayed replay_file(const std::string& path, const Machine& machine, const std::string& predicted) {
  Replayed result;
  try {
    std::unique_ptr<trace::Reader> reader;
    together(MPI_COMM_WORLD, [&] { reader = std::make_unique<trace::Reader>(path); });
    std::unique_ptr<trace::Rewriter> rewriter;
    trace::Facts facts = reader->facts();
    facts.kind = "predicted";
    facts.tick_ps = 1;
    if (!predicted.empty())
      rewriter = std::make_unique<trace::Rewriter>(predicted, path, facts, MPI_COMM_WORLD);
    const engine::Outcome outcome = engine::replay(*reader, machine, MPI_COMM_WORLD, rewriter.get(), {});
    const report::Summary s = report::gather(outcome, 0, "t.h5", reader->facts(), MPI_COMM_WORLD);
    if (rewriter) rewriter->commit();
    result = {s.processes, s.calls, s.messages, s.unreceived, "", "", s.metrics.rows};
    for (const std::string& w : s.warnings) result.warnings += w;
  } catch (const SharedFailure& f) {
    result.failure = f.message;
    int who = f.message.empty() ? 0 : rank(), root = 0;
    MPI_Allreduce(&who, &root, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int length = static_cast<int>(result.failure.size());
    MPI_Bcast(&length, 1, MPI_INT, root, MPI_COMM_WORLD);
    result.failure.resize(static_cast<std::size_t>(length));
    MPI_Bcast(result.failure.data(), length, MPI_CHAR, root, MPI_COMM_WORLD);
    return result;
  }
  share(result.rows);
  share(result.warnings);
  share(result.metrics);
  return result;
}

}  // namespace simreplay::test
