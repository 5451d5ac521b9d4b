// A trace that many ranks write is the one that a single rank writes, whoever has which process.

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "capture/simtrace/patterns.hpp"
#include "common/mpi_lists.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/replay_trace.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;

namespace {

constexpr std::int32_t processes = 13;

using Owner = std::function<int(std::int32_t)>;

trace::Extent extent_of(const simtrace::Job& job, std::int32_t process) {
  trace::Nowhere nowhere;
  trace::Encoder encoder(nowhere);
  run_process(job, encoder, process);
  return encoder.extent();
}

void write(const simtrace::Job& job, const std::string& path, MPI_Comm comm, const Owner& owner) {
  const int rank = rank_in(comm);
  std::vector<trace::Part> parts;
  for (std::int32_t p = 0; p < processes; p++)
    if (owner(p) == rank) parts.push_back({p, extent_of(job, p)});
  trace::Facts facts;
  facts.processes = processes;
  trace::Writer writer(path, facts, trace::place(comm, parts));
  trace::Encoder encoder(writer);
  for (const trace::Part& part : parts) {
    writer.begin_process(part.process);
    run_process(job, encoder, part.process);
    writer.end_process({.record = part.process % 3 != 0 ? trace::Record::complete : trace::Record::cut,
                        .host = "host" + std::to_string(part.process % 5)});
  }
  writer.commit(rank == 0 ? communicators_of(job) : std::vector<trace::Members>{});
}

}  // namespace

TEST_CASE("a trace has the same bits whoever has which process") {
  const int size = size_of(MPI_COMM_WORLD);
  const simtrace::Job job = test::job_of("random", processes, 30);
  const std::string alone = test::scratch_name() + ".alone", together = test::scratch_name();
  const Owner owners[] = {
      [&](std::int32_t p) { return p * size / processes; },  // blocks
      [&](std::int32_t p) { return p % size; },              // round robin
      [&](std::int32_t p) { return size - 1 - p * size / processes; },
      [&](std::int32_t) { return size - 1; },
  };
  if (rank_in(MPI_COMM_WORLD) == 0) write(job, alone, MPI_COMM_SELF, [](std::int32_t) { return 0; });
  for (const Owner& owner : owners) {
    write(job, together, MPI_COMM_WORLD, owner);
    if (rank_in(MPI_COMM_WORLD) == 0) {
      CHECK((test::content_of(together) == test::content_of(alone)));
      const trace::Reader reader(together);
      CHECK(reader.processes(12, 1)[0].host == "host2");
      CHECK(reader.processes(12, 1)[0].record == trace::Record::cut);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::filesystem::remove(together);
    std::filesystem::remove(alone);
  }
}

TEST_CASE("lists of uneven length go to the first rank and come back") {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const std::vector<int> own(static_cast<std::size_t>(rank), rank);
  const std::vector<int> all = gather(MPI_COMM_WORLD, std::span(own));
  std::vector<int> expected;
  for (int r = 0; r < size && rank == 0; r++) expected.insert(expected.end(), static_cast<std::size_t>(r), r);
  CHECK(all == expected);
  CHECK(scatter(MPI_COMM_WORLD, std::span(all), own.size()) == own);
  std::string text = rank == size - 1 ? "from the last" : "";
  broadcast(MPI_COMM_WORLD, text, size - 1);
  CHECK(text == "from the last");
}
