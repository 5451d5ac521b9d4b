// simcapture: runs an MPI program with the recorder in every process, then packs one trace.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/pack/packer.hpp"
#include "capture/simcapture/launch.hpp"
#include "capture/simcapture/options.hpp"
#include "common/error.hpp"
#include "common/output.hpp"
#include "common/units.hpp"

namespace {

using namespace simreplay;
namespace fs = std::filesystem;

void say(const std::string& text) { std::fprintf(stderr, "simcapture: %s\n", text.c_str()); }

std::string new_run_id() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), getpid());
}

/// For people, and fit for a shell where that is simple.
std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?`") == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return text;
}

/// traces.h5, then traces.2.h5, ... for further MPI programs that the same command ran.
std::string output_of(const std::string& path, std::size_t world) {
  if (world == 0) return path;
  const fs::path p(path);
  return (p.parent_path() / fmt::format("{}.{}{}", p.stem().string(), world + 1, p.extension().string()))
      .string();
}

void report(const std::string& output, const pack::Summary& summary) {
  for (const std::string& remark : summary.remarks) say(remark);
  if (!summary.incomplete.empty())
    say(fmt::format("{} {} did not reach the end of MPI_Finalize; the trace is marked incomplete there",
                    summary.incomplete.size() == 1 ? "process" : "processes",
                    fmt::join(summary.incomplete, ", ")));
  const auto bytes = static_cast<double>(fs::file_size(output));
  say(fmt::format("{}: {} {}, {} calls, {:.3g} s recorded, {:.1f} bytes per call", output, summary.processes,
                  summary.processes == 1 ? "process" : "processes",
                  format_count(static_cast<std::int64_t>(summary.calls)), summary.seconds,
                  bytes / static_cast<double>(std::max<std::uint64_t>(summary.calls, 1))));
}

/// Turns what the recorders left into traces. False if there was nothing.
bool pack_all(const simcapture::Options& options, const simcapture::Preload& preload) {
  std::vector<std::string> remarks;
  const std::vector<pack::World> worlds = pack::find_worlds(preload.folder, preload.run, remarks);
  for (const std::string& remark : remarks) say(remark);
  if (worlds.size() > 1)
    say(fmt::format("{} MPI programs were run; each has a trace of its own", worlds.size()));
  for (std::size_t i = 0; i < worlds.size(); i++) {
    const std::string output = output_of(options.output, i);
    if (i > 0) check_output(output, options.force);
    report(output, pack::pack(worlds[i], joined(options.command), output));
  }
  return !worlds.empty();
}

int capture(const simcapture::Options& options) {
  check_output(options.output, options.force);
  simcapture::Preload preload;
  preload.library = simcapture::find_recorder();
  preload.run = new_run_id();
  preload.folder = fs::absolute(options.output + ".spool-" + preload.run).string();
  fs::create_directory(preload.folder);

  int status = 0;
  try {
    status = simcapture::run(options.command, preload);
  } catch (const Error&) {
    fs::remove_all(preload.folder);
    throw;
  }
  try {
    if (!pack_all(options, preload)) {
      say("no MPI call was seen; nothing is recorded (is the program linked statically, or loads its MPI "
          "library "
          "itself? do all hosts see " +
          preload.folder + "?)");
      status = status != 0 ? status : EXIT_FAILURE;
    }
  } catch (const std::exception& error) {
    say(error.what());
    say("what was recorded is kept in " + preload.folder);
    return status != 0 ? status : EXIT_FAILURE;
  }
  if (!options.keep_spool) fs::remove_all(preload.folder);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const simcapture::Options options = simcapture::parse_options(argc, argv);
    return options.command.empty() ? EXIT_SUCCESS : capture(options);
  } catch (const std::exception& error) {
    say(error.what());
    return EXIT_FAILURE;
  }
}
