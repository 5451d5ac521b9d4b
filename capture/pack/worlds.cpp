#include "capture/pack/worlds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "capture/pack/deal.hpp"
#include "capture/pack/spool_reader.hpp"
#include "capture/pack/spool_search.hpp"
#include "common/error.hpp"

namespace simreplay::pack {
namespace {

using Remarks = std::vector<std::string>;

/// What rank 0 finds out, as it tells the others.
struct WorldRow {
  std::int32_t processes, first;  // first: lowest process that left a spool
  std::int64_t started_ns;
  std::uint32_t clock, chosen;
  decltype(FoundSpool::run) run;
  decltype(FoundSpool::world) name;
};
struct SpoolRow {
  std::int32_t world, process, owner, file;
};
struct Plan {
  std::vector<WorldRow> worlds;
  std::vector<SpoolRow> spools;  // by world and process
};

std::string only_run(const std::vector<FoundSpool>& spools, const std::string& folder) {
  std::set<std::string> runs;
  for (const FoundSpool& s : spools) runs.insert(s.run);
  if (runs.size() > 1)
    throw Error({.file = folder,
                 .problem = fmt::format("holds spools of several runs: {}", fmt::join(runs, ", ")),
                 .remedy = "--run chooses one"});
  return runs.empty() ? "" : *runs.begin();
}

void leave_out_other_runs(std::vector<FoundSpool>& spools, const std::string& run, const std::string& folder,
                          Remarks& remarks) {
  std::set<std::string> others;
  for (const FoundSpool& s : spools)
    if (s.run != run) others.insert(s.run);
  const std::size_t left_out = std::erase_if(spools, [&](const FoundSpool& s) { return s.run != run; });
  if (left_out > 0)
    remarks.push_back(fmt::format("{}: {} of other runs ({}) left out", folder,
                                  left_out == 1 ? "a spool" : fmt::format("{} spools", left_out),
                                  fmt::join(others, ", ")));
}

bool is_same_file(const FoundSpool& a, const FoundSpool& b) {
  return a.view != b.view && a.pid == b.pid && a.loaded_ns == b.loaded_ns;
}

/// One spool of each process of a program, in the order of processes.
std::vector<FoundSpool> one_of_each(const std::vector<FoundSpool>& spools, Remarks& remarks) {
  std::vector<FoundSpool> kept;
  for (const FoundSpool& s : spools) {
    if (!kept.empty() && s.processes != kept[0].processes)
      remarks.push_back(
          fmt::format("process {} with pid {} is of a program with {} processes, others have {}; left out",
                      s.process, s.pid, s.processes, kept[0].processes));
    else if (kept.empty() || s.process != kept.back().process)
      kept.push_back(s);
    else if (!is_same_file(s, kept.back()))
      remarks.push_back(
          fmt::format("process {}: there is another spool (of pid {}); left out", s.process, s.pid));
  }
  return kept;
}

std::int64_t started_ns(const std::vector<FoundSpool>& program) {
  return std::ranges::min(program, {}, &FoundSpool::started_ns).started_ns;
}

/// Programs in the order of their start.
std::vector<std::vector<FoundSpool>> programs_of(std::vector<FoundSpool> spools, Remarks& remarks) {
  std::ranges::sort(spools, {}, [](const FoundSpool& s) { return std::tuple(s.process, s.view, s.file); });
  std::map<std::string, std::vector<FoundSpool>> by_name;
  for (const FoundSpool& s : spools) by_name[s.world].push_back(s);
  std::vector<std::vector<FoundSpool>> programs;
  programs.reserve(by_name.size());
  for (const auto& [name, all] : by_name) programs.push_back(one_of_each(all, remarks));
  std::ranges::stable_sort(programs, {}, started_ns);
  return programs;
}

WorldRow row_of(const std::vector<FoundSpool>& program) {
  WorldRow row{};
  row.processes = program[0].processes;
  row.first = program[0].process;
  row.started_ns = started_ns(program);
  row.clock = program[0].clock;
  row.chosen = program[0].chosen;
  std::memcpy(row.run, program[0].run, sizeof row.run);
  std::memcpy(row.name, program[0].world, sizeof row.name);
  return row;
}

/// Each view's ranks share the spools that they see. Blocks of neighbours, for these are written together.
std::vector<int> owners_of(const std::vector<FoundSpool>& program, const std::vector<int>& views) {
  std::map<int, std::vector<std::size_t>> by_view;
  for (std::size_t i = 0; i < program.size(); i++) by_view[program[i].view].push_back(i);
  std::vector<int> owners(program.size());
  for (const auto& [view, spools] : by_view) {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < views.size(); r++)
      if (views[r] == view) ranks.push_back(static_cast<int>(r));
    std::vector<std::uint64_t> sizes;
    for (const std::size_t i : spools) sizes.push_back(program[i].bytes);
    const std::vector<int> block = deal(sizes, static_cast<int>(ranks.size()));
    for (std::size_t k = 0; k < spools.size(); k++)
      owners[spools[k]] = ranks[static_cast<std::size_t>(block[k])];
  }
  return owners;
}

Plan plan(const SpoolSearch& found, const std::string& folder, const std::string& run, Remarks& remarks) {
  std::vector<FoundSpool> spools = found.spools;
  leave_out_other_runs(spools, run.empty() ? only_run(spools, folder) : run, folder, remarks);
  Plan plan;
  for (const std::vector<FoundSpool>& program : programs_of(std::move(spools), remarks)) {
    const std::vector<int> owners = owners_of(program, found.views);
    for (std::size_t i = 0; i < program.size(); i++)
      plan.spools.push_back(
          {static_cast<std::int32_t>(plan.worlds.size()), program[i].process, owners[i], program[i].file});
    plan.worlds.push_back(row_of(program));
  }
  return plan;
}

World world_of(const WorldRow& row) {
  World world;
  world.run = row.run;
  world.name = row.name;
  world.started_ns = row.started_ns;
  world.clock = row.clock;
  world.chosen = row.chosen != 0;
  world.owners.resize(static_cast<std::size_t>(row.processes));
  world.spools.resize(static_cast<std::size_t>(row.processes));
  return world;
}

/// Only its owner can read the spool.
std::string mpi_library(const Team& team, const World& world, std::size_t process) {
  std::string text;
  team.together([&] {
    if (!world.spools[process].empty()) text = SpoolReader(world.spools[process]).header().mpi_library;
  });
  team.broadcast(text, world.owners[process]);
  return text;
}

}  // namespace

std::vector<World> find_worlds(const std::string& folder, const std::string& run, Remarks& remarks,
                               const Team& team) {
  const SpoolSearch found = search(team, folder, remarks);
  Plan shared;
  team.together([&] {
    if (team.is_first()) shared = plan(found, folder, run, remarks);
  });
  team.broadcast(shared.worlds);
  team.broadcast(shared.spools);

  std::vector<World> worlds;
  for (const WorldRow& row : shared.worlds) worlds.push_back(world_of(row));
  for (const SpoolRow& row : shared.spools) {
    World& world = worlds[static_cast<std::size_t>(row.world)];
    const auto process = static_cast<std::size_t>(row.process);
    world.owners[process] = row.owner;
    if (row.owner == team.rank()) world.spools[process] = found.paths[static_cast<std::size_t>(row.file)];
  }
  for (std::size_t i = 0; i < worlds.size(); i++)
    worlds[i].mpi_library = mpi_library(team, worlds[i], static_cast<std::size_t>(shared.worlds[i].first));
  return worlds;
}

}  // namespace simreplay::pack
