// simcapture: runs an MPI program with the recorder in every process, then packs one trace.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "capture/pack/traces.hpp"
#include "capture/simcapture/launch.hpp"
#include "capture/simcapture/options.hpp"
#include "capture/simcapture/shell.hpp"
#include "capture/simcapture/spool_folder.hpp"
#include "common/error.hpp"
#include "common/output.hpp"

namespace {

using namespace simreplay;
using simcapture::joined;
using simcapture::Options;
using simcapture::SpoolFolder;
using Worlds = std::vector<pack::World>;

void say(const std::string& text) { std::fprintf(stderr, "simcapture: %s\n", text.c_str()); }

std::string new_run_id() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), getpid());
}

Worlds find_worlds(const std::string& folder, const std::string& run) {
  std::vector<std::string> remarks;
  Worlds worlds = pack::find_worlds(folder, run, remarks);
  for (const std::string& remark : remarks) say(remark);
  return worlds;
}

/// How to pack later, or where more of the spools can be seen.
std::vector<std::string> pack_command(const Options& options, const simcapture::Preload& preload) {
  return {"simtrace", "pack", preload.folder, "--run", preload.run, "-o", options.output};
}

std::string collect_command(const Options& options, const simcapture::Preload& preload) {
  std::vector<std::string> words = {"mpirun", "--map-by", "ppr:1:node"};
  for (std::string& word : pack_command(options, preload)) words.push_back(std::move(word));
  words.insert(words.end(), {"--command", joined(options.command)});  // the note may be on no host of those
  return joined(words);
}

/// What is not here, in words; empty if all is.
std::string missing(const Worlds& worlds) {
  if (worlds.empty()) return "no spools";
  std::size_t processes = 0, spools = 0;
  for (const pack::World& world : worlds) {
    processes += world.spools.size();
    spools +=
        static_cast<std::size_t>(std::ranges::count_if(world.spools, [](auto& s) { return !s.empty(); }));
  }
  return spools == processes ? "" : fmt::format("spools of only {} of {} processes", spools, processes);
}

/// Turns what the recorders left into traces, or says how to do it. Returns the exit status.
int conclude(const Options& options, const simcapture::Preload& preload, const SpoolFolder& folder,
             int status) {
  const Worlds worlds = find_worlds(preload.folder, preload.run);
  if (worlds.empty() && options.spool_dir.empty()) {
    say("no MPI call was seen; nothing is recorded (is the program linked statically, or loads its MPI "
        "library itself? do all hosts see " +
        preload.folder + "?)");
    folder.clear(worlds);
    return status != 0 ? status : EXIT_FAILURE;
  }
  // Only a folder that the user chose may be another one on each host.
  if (const std::string what = missing(worlds); !what.empty() && !options.spool_dir.empty()) {
    say(fmt::format("{} in {} of this host; to collect them from all: {}", what, preload.folder,
                    collect_command(options, preload)));
    return status;
  }
  if (options.no_pack) {
    say("recorded, not packed; to do so: " + joined(pack_command(options, preload)));
    return status;
  }
  pack::pack_all(worlds, {joined(options.command), options.output, options.force}, say);
  if (!options.keep_spool) folder.clear(worlds);
  return status;
}

/// Of the program to be recorded: what the user says, else the launcher, else what the program loads.
simcapture::MpiKind mpi_kind(const Options& options, const simcapture::MpiKind& launcher) {
  if (!options.mpi.empty()) return options.mpi;
  return !launcher.empty() ? launcher : simcapture::kind_of_program(options.command);
}

int capture(const Options& options) {
  check_output(options.output, options.force);
  simcapture::Preload preload;
  preload.launcher = simcapture::kind_of_launcher(options.command[0]);
  preload.recorder = simcapture::find_recorder(mpi_kind(options, preload.launcher));
  preload.run = new_run_id();
  preload.wishes = wishes(options);
  SpoolFolder folder = options.spool_dir.empty() ? SpoolFolder::made_for(options.output, preload.run)
                                                 : SpoolFolder::shared(options.spool_dir);
  preload.folder = folder.path();
  folder.note_command(preload.run, joined(options.command));

  int status = 0;
  try {
    status = simcapture::run(options.command, preload);
  } catch (const Error&) {
    folder.clear({});
    throw;
  }
  try {
    return conclude(options, preload, folder, status);
  } catch (const std::exception& error) {
    say(error.what());
    say("what was recorded is kept in " + preload.folder);
    return status != 0 ? status : EXIT_FAILURE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = simcapture::parse_options(argc, argv);
    return options.command.empty() ? EXIT_SUCCESS : capture(options);
  } catch (const std::exception& error) {
    say(error.what());
    return EXIT_FAILURE;
  }
}
