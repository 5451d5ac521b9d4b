// simnet --topology SPEC|FILE: load or make a fabric, route it; check and report, or simulate its packets.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>

#include "common/error.hpp"
#include "common/output.hpp"
#include "replay/network/infiniband/lft_dump.hpp"
#include "replay/network/infiniband/source.hpp"
#include "replay/network/infiniband/text_form.hpp"
#include "replay/simnet_options.hpp"
#include "replay/simnet_runs.hpp"

namespace {

using namespace simreplay;
using namespace simreplay::infiniband;

void print_line(std::string_view label, const std::string& text) { fmt::print("{:<12}{}\n", label, text); }

void print_fabric(const std::string& name, const Fabric& f) {
  print_line("fabric", name);
  print_line(
      "", fmt::format("{} hosts, {} switches, {} cables", format_count(f.hosts()), format_count(f.switches()),
                      format_count(static_cast<std::int64_t>(f.cables().size()))));
  std::map<std::string, std::int64_t> to_hosts, between;
  for (const Cable& c : f.cables())
    (f.is_switch(f.node_of(c.a)) && f.is_switch(f.node_of(c.b)) ? between : to_hosts)[to_string(c.rate)]++;
  for (const auto& [rate, n] : to_hosts) print_line("", fmt::format("{} {} to hosts", format_count(n), rate));
  for (const auto& [rate, n] : between)
    print_line("", fmt::format("{} {} between switches", format_count(n), rate));
}

void print_check(const std::string& routing, const Fabric& f, const Check& c) {
  print_line("routing", routing);
  print_line("arrival", c.arrives() ? fmt::format("all {} pairs of hosts", format_count(c.pairs))
                                    : fmt::format("{} of {} pairs of hosts do not arrive",
                                                  format_count(c.lost), format_count(c.pairs)));
  for (const LostPair& pair : c.some_lost) print_line("", to_string(f, pair));
  print_line("way", fmt::format("{:.3f} switches, at most {}; {} pairs pass more than needed",
                                c.mean_switches(), c.longest, format_count(c.detours)));
  print_line("lanes", fmt::format("{} service levels, {} lanes", c.levels, c.lanes));
  print_line("deadlock", c.acyclic()
                             ? "cannot be"
                             : fmt::format("can be: {} channels wait for each other", c.cycle.size()));
  if (!c.acyclic()) print_line("", cycle_to_string(f, c.cycle));
  if (c.used + c.unused > 0)
    print_line("loads",
               fmt::format("{} to {} routes in each direction of a cable between switches; {} of {} unused",
                           format_count(c.fewest_routes), format_count(c.most_routes), format_count(c.unused),
                           format_count(c.used + c.unused)));
}

void check_outputs(const NetOptions& options) {
  for (const std::string& path : {options.tables, options.fabric, options.json, options.links})
    if (!path.empty() && path != "-") check_output(path, options.force);
}

int look(const NetOptions& options) {
  check_outputs(options);
  const Fabric fabric = load_fabric(options.source);
  std::vector<std::string> notes = fabric.notes();
  const Tables tables = load_tables(options.source, fabric, notes);
  const Check result = check(fabric, tables);
  if (!options.fabric.empty()) write_file(options.fabric, write_text_form(fabric));
  if (!options.tables.empty()) write_file(options.tables, write_lft_dump(tables, fabric));
  print_fabric(options.source.topology, fabric);
  for (const std::string& note : notes) print_line("note", note);
  print_check(options.source.routing, fabric, result);
  return result.arrives() ? 0 : 1;
}

void check_ranks(const MpiSession& mpi, const Fabric& fabric) {
  if (mpi.size() > fabric.hosts())
    throw Error(
        {.expected = fmt::format("at most as many processes as the fabric has hosts ({})", fabric.hosts()),
         .found = fmt::format("{}", mpi.size()),
         .remedy = "start fewer processes"});
}

int simulate(const NetOptions& options) {
  using Run = void (*)(const NetOptions&, const Fabric&, const Tables&, const MpiSession&);
  constexpr std::array<Run, 5> runs{nullptr, run_messages, run_traffic, run_sizes, serve};
  const MpiSession mpi(nullptr, nullptr);
  try {
    std::unique_ptr<Fabric> fabric;
    std::unique_ptr<Tables> tables;
    together(MPI_COMM_WORLD, [&] {
      if (mpi.rank() == 0) check_outputs(options);
      fabric = std::make_unique<Fabric>(load_fabric(options.source));
      std::vector<std::string> notes;
      tables = std::make_unique<Tables>(load_tables(options.source, *fabric, notes));
      check_ranks(mpi, *fabric);
    });
    runs[static_cast<std::size_t>(options.task)](options, *fabric, *tables, mpi);
    return 0;
  } catch (const SharedFailure& failure) {
    if (!failure.message.empty()) fmt::print(stderr, "simnet: {}\n", failure.message);
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const NetOptions options = parse_net_options(argc, argv);
    if (options.text.empty()) return options.task == NetTask::look ? look(options) : simulate(options);
    std::fputs(options.text.c_str(), stdout);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "simnet: {}\n", e.what());
    return 1;
  }
}
