#include "capture/pack/packer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "capture/pack/process_packer.hpp"
#include "capture/pack/survey.hpp"
#include "common/error.hpp"
#include "common/trace/writer.hpp"

namespace simreplay::pack {
namespace {

std::vector<std::string> spool_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == spool::extension) paths.push_back(entry.path().string());
  std::ranges::sort(paths);  // by rank
  return paths;
}

std::string iso_8601(std::int64_t ns_since_1970) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(ns_since_1970 / 1'000'000'000)));
}

class Packer {
 public:
  Packer(const World& world, const std::string& command, const std::string& output)
      : world_(world),
        size_(static_cast<std::int32_t>(world.spools.size())),
        ids_(size_),
        writer_(output, facts(command)),
        encoder_(writer_) {
    summary_.processes = size_;
  }

  /// Communicators get their ids from all processes before the calls of the first are written.
  Summary run() {
    std::vector<Survey> surveys;
    for (std::int32_t p = 0; p < size_; p++) {
      surveys.push_back(survey_of(p));
      ids_.assign(surveys.back().communicators);
    }
    for (std::int32_t p = 0; p < size_; p++) write(p, surveys[static_cast<std::size_t>(p)]);
    writer_.commit(ids_.members());
    summary_.calls = encoder_.extent().calls;
    return std::move(summary_);
  }

 private:
  trace::Facts facts(const std::string& command) const {
    trace::Facts facts;
    facts.command = command;
    facts.mpi_library = world_.mpi_library.substr(0, world_.mpi_library.find('\n'));
    facts.started = iso_8601(world_.started_ns);
    facts.processes = size_;
    return facts;
  }

  const std::string& path(std::int32_t process) const {
    return world_.spools[static_cast<std::size_t>(process)];
  }

  Survey survey_of(std::int32_t process) {
    if (path(process).empty()) return {};
    SpoolReader spool(path(process));
    return survey(spool);
  }

  void write(std::int32_t process, const Survey& survey) {
    writer_.begin_process();
    encoder_.begin(process);
    trace::Process row;
    row.complete = false;
    if (path(process).empty())
      summary_.remarks.push_back(fmt::format("process {} left nothing behind", process));
    else
      row = write_calls(process, survey);
    encoder_.end();
    writer_.end_process(row);
    if (!row.complete) summary_.incomplete.push_back(process);
  }

  trace::Process write_calls(std::int32_t process, const Survey& survey) {
    SpoolReader spool(path(process));
    const spool::Header& header = spool.header();
    const Ranks ranks(process, size_, survey.communicators);
    ProcessPacker packer(encoder_, ranks, header.loaded_ns);
    spool.each(
        [&](const spool::Record& record, std::span<const std::int64_t> items) { packer.add(record, items); });

    const bool whole = survey.is_whole && packer.is_sound();
    if (!whole)
      summary_.remarks.push_back(fmt::format("process {}: {} is damaged; its first {} calls are kept",
                                             process, spool.path(), packer.calls()));
    else if (header.stopped != 0)
      summary_.remarks.push_back(
          fmt::format("process {}: recording stopped after {} calls", process, packer.calls()));
    const bool complete = whole && header.finalized != 0 && header.stopped == 0;
    if (complete && header.exited_ns != 0) packer.exit(header.exited_ns);
    summary_.seconds = std::max(summary_.seconds, static_cast<double>(packer.elapsed_ns()) * 1e-9);
    return {packer.calls(), complete, header.overhead_ps, header.host};
  }

  const World& world_;
  std::int32_t size_;
  CommunicatorIds ids_;
  trace::Writer writer_;
  trace::Encoder encoder_;
  Summary summary_;
};

/// Adds a spool to its world.
void add(World& world, const spool::Header& header, const std::string& path,
         std::vector<std::string>& remarks) {
  const auto size = static_cast<std::size_t>(header.size), rank = static_cast<std::size_t>(header.rank);
  if (world.spools.empty()) {
    world.name = header.world;
    world.started_ns = header.started_ns;
    world.mpi_library = header.mpi_library;
    world.spools.resize(size);
  }
  if (size != world.spools.size()) {
    remarks.push_back(fmt::format("{}: is of a program with {} processes, others have {}; left out", path,
                                  size, world.spools.size()));
  } else if (!world.spools[rank].empty()) {
    remarks.push_back(fmt::format("{}: there is another spool of process {}; left out", path, rank));
  } else {
    world.spools[rank] = path;
    world.started_ns = std::min(world.started_ns, header.started_ns);
  }
}

}  // namespace

std::vector<World> find_worlds(const std::string& folder, const std::string& run,
                               std::vector<std::string>& remarks) {
  std::map<std::string, World> by_name;
  for (const std::string& path : spool_files(folder)) {
    try {
      const SpoolReader spool(path);
      if (run != spool.header().run)
        remarks.push_back(fmt::format("{}: is of another run ({}); left out", path, spool.header().run));
      else
        add(by_name[spool.header().world], spool.header(), path, remarks);
    } catch (const Error& error) {
      remarks.push_back(std::string(error.what()) + "; left out");
    }
  }
  std::vector<World> worlds;
  for (auto& [name, world] : by_name) worlds.push_back(std::move(world));
  std::ranges::stable_sort(worlds, {}, &World::started_ns);
  return worlds;
}

Summary pack(const World& world, const std::string& command, const std::string& output) {
  return Packer(world, command, output).run();
}

}  // namespace simreplay::pack
