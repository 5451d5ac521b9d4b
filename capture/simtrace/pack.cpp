#include "capture/simtrace/pack.hpp"

#include <mpi.h>

#include "capture/pack/command_file.hpp"
#include "capture/pack/traces.hpp"
#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "common/output.hpp"

namespace simreplay::simtrace {
namespace {

namespace po = boost::program_options;
using pack::Team;

CommandLine options() {
  CommandLine line(
      "pack DIR [options] -o FILE",
      "Writes the trace of a program from the spools that simcapture left in DIR. Under mpirun the "
      "ranks share\nthe work, with the same result. DIR may be another folder on each host: what one "
      "rank sees is enough.",
      {"DIR"});
  const auto text = [] { return po::value<std::string>(); };
  auto add = line.add_options();
  add("output,o", text()->default_value("traces.h5"), "file to write");
  add("run", text()->default_value(""), "id of the run, where DIR holds several");
  add("command", text()->default_value(""), "that was recorded, if DIR does not tell");
  add("force", "overwrite an existing file");
  return line;
}

/// Ranks may have been started with other arguments. False if help was wanted, and printed.
bool parse_on_all(CommandLine& line, const Arguments& arguments, const Team& team) {
  int goes_on = 1;
  together(team.comm(), [&] { goes_on = line.parse(arguments, team.is_first()) ? 1 : 0; });
  MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_MIN, team.comm());
  return goes_on != 0;
}

std::vector<pack::World> find(const std::string& folder, const std::string& run, const pack::Say& say,
                              const Team& team) {
  std::vector<std::string> remarks;
  std::vector<pack::World> worlds = pack::find_worlds(folder, run, remarks, team);
  for (const std::string& remark : remarks) say(remark);
  team.together([&] {
    if (worlds.empty() && team.is_first())
      throw Error(
          {.file = folder, .expected = run.empty() ? "spools" : "spools of run " + run, .found = "none"});
  });
  return worlds;
}

/// The folder is each rank's own; other options are those of rank 0.
void pack_folder(const CommandLine& line, const Team& team) {
  const pack::Say say = [](const std::string& text) { report(text, Exit::success); };
  pack::Job job{line.text("command"), line.text("output"), line.has("force")};
  team.broadcast(job.output);
  team.broadcast(job.command);
  team.together([&] {
    if (team.is_first()) check_output(job.output, job.force);
  });
  const std::string& folder = line.text("DIR");
  const std::vector<pack::World> worlds = find(folder, line.text("run"), say, team);
  if (job.command.empty()) job.command = pack::read_command(folder, worlds.front().run, team);
  pack::pack_all(worlds, job, say, team);
}

}  // namespace

Exit pack_command(const Arguments& arguments) {
  const MpiSession mpi(nullptr, nullptr);
  const Team team(MPI_COMM_WORLD);
  CommandLine line = options();
  try {
    if (!parse_on_all(line, arguments, team)) return Exit::success;
  } catch (const SharedFailure& failure) {
    return report(failure.message, Exit::usage);
  }
  try {
    return on_all_ranks(mpi.size(), [&] { pack_folder(line, team); });
  } catch (const SharedFailure& failure) {
    return report(failure.message, Exit::fault);
  }
}

}  // namespace simreplay::simtrace
