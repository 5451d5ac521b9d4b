#include "capture/pack/traces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "capture/pack/packer.hpp"
#include "common/output.hpp"
#include "common/units.hpp"

namespace simreplay::pack {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& path, std::size_t world) {
  if (world == 0) return path;
  const fs::path p(path);
  return (p.parent_path() / fmt::format("{}.{}{}", p.stem().string(), world + 1, p.extension().string()))
      .string();
}

void report(const std::string& output, const Summary& summary, const Say& say) {
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

}  // namespace

void pack_all(const std::vector<World>& worlds, const Job& job, const Say& say, const Team& team) {
  team.together([&] {
    if (team.is_first())
      for (std::size_t i = 0; i < worlds.size(); i++) check_output(output_of(job.output, i), job.force);
  });
  if (worlds.size() > 1 && team.is_first())
    say(fmt::format("{} MPI programs were run; each has a trace of its own", worlds.size()));
  for (std::size_t i = 0; i < worlds.size(); i++) {
    const std::string output = output_of(job.output, i);
    const Summary summary = pack(worlds[i], job.command, output, team);
    if (team.is_first()) report(output, summary, say);
  }
}

}  // namespace simreplay::pack
