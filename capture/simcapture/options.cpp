#include "capture/simcapture/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <stdexcept>
#include <string_view>


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
  option("clock", po::value(&options.clock)->value_name("CLOCK")->default_value(options.clock),
         "of computation: wall; cpu, the processor time of the calling thread, for processes that share processors; "
         "process-cpu, that of all threads of the process");
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

}  // namespace

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
  if (const auto clocks = {"wall", "cpu", "process-cpu"}; std::ranges::find(clocks, options.clock) == clocks.end())
    throw std::invalid_argument("expected --clock wall, cpu or process-cpu, found '" + options.clock + "'");
  if (values.count("words") != 0)
    throw std::invalid_argument("the command must follow '--': simcapture [options] -- " +
                                values["words"].as<std::vector<std::string>>().front() + " ...");
  if (end - separator < 2)
    throw std::invalid_argument("no command to run; usage: simcapture [options] -- command...");
  options.command.assign(separator + 1, end);
  return options;
}

}  // namespace simreplay::simcapture
