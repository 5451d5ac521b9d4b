#include "capture/simtrace/generate.hpp"

#include <fmt/format.h>

#include <optional>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "common/output.hpp"
#include "common/trace/writer.hpp"

namespace simreplay::simtrace {
namespace {

namespace po = boost::program_options;

struct Block {
  std::int32_t first, end;
};

Block own_block(std::int32_t processes, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto bound = [&](int r) { return static_cast<std::int32_t>(std::int64_t{processes} * r / ranks); };
  return {bound(rank), bound(rank + 1)};
}

trace::Extent measure(const Job& job, Block block) {
  trace::Nowhere nowhere;
  trace::Encoder encoder(nowhere);
  for (std::int32_t p = block.first; p < block.end; p++) run_process(job, encoder, p);
  return encoder.extent();
}

void write(const Job& job, Block block, trace::Writer& writer) {
  trace::Encoder encoder(writer);
  for (std::int32_t p = block.first; p < block.end; p++) {
    writer.begin_process(p);
    run_process(job, encoder, p);
    writer.end_process({});
  }
}

/// All that decides what is in the trace, and nothing else.
std::string canonical_command(const Job& job) {
  return fmt::format(
      "simtrace generate {} --processes {} --steps {} --bytes {} --compute {}ps --imbalance {} --seed {}",
      job.pattern->name, job.processes, job.steps, job.bytes, job.compute.count(), job.imbalance, job.seed);
}

// ---- command line ----

std::string pattern_names() {
  std::string names;
  for (const Pattern& p : patterns()) names += (names.empty() ? "" : ", ") + std::string(p.name);
  return names;
}

std::string pattern_help() {
  std::string text = "patterns:\n";
  for (const Pattern& p : patterns()) text += fmt::format("  {:<16} {}\n", p.name, p.help);
  return text;
}

CommandLine options() {
  CommandLine line(
      "generate PATTERN --processes P --steps S [options] -o FILE",
      "Writes a synthetic trace. Under mpirun all ranks write parts of one file, with the same result.",
      {"PATTERN"});
  const auto text = [] { return po::value<std::string>(); };
  auto add = line.add_options();
  add("processes", text()->required(), "number of processes");
  add("steps", text()->required(), "number of steps that each process makes");
  add("bytes", text()->default_value("8KiB"), "size of a message, or of a block of a collective operation");
  add("compute", text()->default_value("100us"), "computation of a process in each step");
  add("imbalance", text()->default_value("0.05"), "greatest relative deviation of the computation");
  add("seed", text()->default_value("1"), "makes another trace of the same kind");
  add("output,o", text()->required(), "file to write");
  add("force", "overwrite an existing file");
  line.add_help(pattern_help());
  return line;
}

template <class Parse>
auto value(const CommandLine& line, const char* option, Parse parse) {
  try {
    return parse(line.text(option));
  } catch (const std::exception& e) {
    throw UsageError(fmt::format("generate: --{}: {}", option, e.what()));
  }
}

std::int64_t count_from(const CommandLine& line, const char* option, std::int64_t least, std::int64_t most) {
  const std::int64_t n = value(line, option, parse_count);
  if (n < least || n > most)
    throw UsageError(fmt::format("generate: --{}: expected {} to {}, found {}", option, least, most, n));
  return n;
}

double parse_imbalance(const std::string& text) {
  if (text == "0") return 0;
  const double imbalance = parse_ratio(text).value();
  if (imbalance > 1) throw std::invalid_argument("expected at most 1, found " + text);
  return imbalance;
}

Job job_from(const CommandLine& line) {
  Job job;
  job.pattern = find_pattern(line.text("PATTERN"));
  if (!job.pattern)
    throw UsageError(
        fmt::format("generate: unknown pattern '{}'; patterns: {}", line.text("PATTERN"), pattern_names()));
  job.processes = static_cast<std::int32_t>(count_from(line, "processes", 1, INT32_MAX));
  if (job.processes < job.pattern->least_processes)
    throw UsageError(fmt::format("generate: {} needs at least {} processes, found {}", job.pattern->name,
                                 job.pattern->least_processes, job.processes));
  job.steps = count_from(line, "steps", 1, std::int64_t{1} << 40);
  job.bytes = value(line, "bytes", parse_bytes);
  job.compute = value(line, "compute", parse_duration);
  job.imbalance = value(line, "imbalance", parse_imbalance);
  job.seed = static_cast<std::uint64_t>(value(line, "seed", parse_count));
  return job;
}

}  // namespace

void generate(Job job, const std::string& path, MPI_Comm comm) {
  prepare(job);
  const Block block = own_block(job.processes, comm);
  const std::vector<trace::Part> part = {{block.first, measure(job, block)}};
  trace::Facts facts;
  facts.kind = "generated";
  facts.command = canonical_command(job);
  facts.clock = "none";
  facts.processes = job.processes;
  trace::Writer writer(path, facts, trace::place(comm, part));
  write(job, block, writer);
  writer.commit(communicators_of(job));
}

Exit generate_command(const Arguments& arguments) {
  const MpiSession mpi(nullptr, nullptr);
  std::optional<Job> job;
  CommandLine line = options();
  // Every rank finds the same faults of the command line; they are said once.
  const Exit usable = guarded(mpi.rank() == 0, [&] {
    if (line.parse(arguments, mpi.rank() == 0)) job = job_from(line);
    return Exit::success;
  });
  if (!job) return usable;
  try {
    together(MPI_COMM_WORLD, [&] {
      if (mpi.rank() == 0) check_output(line.text("output"), line.has("force"));
    });
    return on_all_ranks(mpi.size(), [&] { generate(*job, line.text("output"), MPI_COMM_WORLD); });
  } catch (const SharedFailure& failure) {
    return report(failure.message, Exit::fault);
  }
}

}  // namespace simreplay::simtrace
