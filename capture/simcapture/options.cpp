#include "capture/simcapture/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include "capture/simcapture/mpi_kind.hpp"
#include "common/units.hpp"

namespace simreplay::simcapture {
namespace po = boost::program_options;
namespace {

po::options_description describe(Options& options) {
  po::options_description d("Options");
  auto option = d.add_options();
  option("output,o", po::value(&options.output)->value_name("FILE")->default_value(options.output),
         "the trace to write");
  option("force", po::bool_switch(&options.force), "overwrite the trace if it exists");
  option(
      "spool-dir", po::value(&options.spool_dir)->value_name("DIR"),
      "folder for what the recorder leaves, may be local to each host (default: a new one, FILE.spool-...)");
  option("keep-spool", po::bool_switch(&options.keep_spool), "keep what the recorder left");
  option("no-pack", po::bool_switch(&options.no_pack), "keep it and write no trace; say how to, later");
  option("mpi", po::value(&options.mpi)->value_name("KIND"),
         "the program's MPI library: openmpi, or mpich for its relatives, too (default: ask the launcher, or "
         "see what "
         "the program loads)");
  option("clock", po::value(&options.clock)->value_name("CLOCK")->default_value(options.clock),
         "of computation: wall; cpu, the processor time of the calling thread, for processes that share "
         "processors; "
         "process-cpu, that of all threads of the process");
  option("from", po::value(&options.from)->value_name("TIME"),
         "record from this time after MPI_Init on, as 90s");
  option("for", po::value(&options.length)->value_name("TIME"), "record no longer than this");
  option("paused", po::bool_switch(&options.paused),
         "record nothing before the program calls MPI_Pcontrol(1)");
  option("processes", po::value(&options.processes)->value_name("LIST"), "record these alone, as 0-3,7");
  option("size", po::value(&options.size)->value_name("SIZE"),
         "let what a process leaves grow to this size at most, as 100MiB; then its recording ends");
  option("help,h", "show this help");
  option("version", "show the version");
  return d;
}

void show_help(const po::options_description& options) {
  std::cout
      << "Usage: simcapture [options] -- command...\n\n"
         "Runs an MPI program, records the MPI calls of every process and writes them to one trace file.\n"
         "The program needs no change; its output and its exit status stay what they are.\n\n"
         "  simcapture -o traces.h5 -- mpirun -np 4 ./app arguments\n\n"
      << options;
}

bool is_list_of_ranks(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.back())) == 0) return false;
  const auto fits = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ',';
  };
  return std::ranges::all_of(text, fits) && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

/// Rewrites what people write as the recorder reads it.
void translate(Options& o) {
  const auto seconds = [](std::string& text) {
    if (!text.empty()) text = std::to_string(static_cast<double>(parse_duration(text).count()) * 1e-12);
  };
  seconds(o.from);
  seconds(o.length);
  if (!o.size.empty()) o.size = std::to_string(parse_bytes(o.size));
  if (!o.processes.empty() && !is_list_of_ranks(o.processes))
    throw std::invalid_argument("expected --processes as 0-3,7, found '" + o.processes + "'");
  if (!o.mpi.empty() && !is_mpi_kind(o.mpi))
    throw std::invalid_argument("expected --mpi openmpi or mpich, found '" + o.mpi + "'");
  const auto clocks = {"wall", "cpu", "process-cpu"};
  if (std::ranges::find(clocks, o.clock) == clocks.end())
    throw std::invalid_argument("expected --clock wall, cpu or process-cpu, found '" + o.clock + "'");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> wishes(const Options& o) {
  const std::pair<const char*, std::string> all[] = {
      {"SIMCAPTURE_CLOCK", o.clock},         {"SIMCAPTURE_FROM", o.from},
      {"SIMCAPTURE_FOR", o.length},          {"SIMCAPTURE_PAUSED", o.paused ? "1" : ""},
      {"SIMCAPTURE_PROCESSES", o.processes}, {"SIMCAPTURE_LIMIT", o.size}};
  std::vector<std::pair<std::string, std::string>> chosen;
  for (const auto& [name, value] : all)
    if (!value.empty()) chosen.emplace_back(name, value);
  return chosen;
}

Options parse_options(int argc, char** argv) {
  Options options;
  const po::options_description description = describe(options);
  char** const end = argv + argc;
  char** const separator = std::find(argv + 1, end, std::string_view("--"));

  // Words that are no options are let through here, to say below what is wrong with them.
  po::options_description all = description;
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description words;
  words.add("words", -1);
  po::variables_map values;
  po::store(
      po::command_line_parser(static_cast<int>(separator - argv), argv).options(all).positional(words).run(),
      values);
  if (values.count("help") != 0) {
    show_help(description);
    return options;
  }
  if (values.count("version") != 0) {
    std::cout << "simcapture " SIMREPLAY_VERSION "\n";
    return options;
  }
  po::notify(values);
  translate(options);
  if (values.count("words") != 0)
    throw std::invalid_argument("the command must follow '--': simcapture [options] -- " +
                                values["words"].as<std::vector<std::string>>().front() + " ...");
  if (end - separator < 2)
    throw std::invalid_argument("no command to run; usage: simcapture [options] -- command...");
  options.command.assign(separator + 1, end);
  return options;
}

}  // namespace simreplay::simcapture
