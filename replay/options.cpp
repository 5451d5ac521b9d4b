#include "replay/options.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <sstream>

#include "common/error.hpp"
#include "common/mpi_ops.hpp"
#include "replay/collectives/algorithms.hpp"
#include "replay/command_line.hpp"

namespace simreplay {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: mpirun -np N simreplay TRACE.h5 [options]\n\n"
    "Replays the recorded MPI program on the machine described and says how long it takes there. Any number\n"
    "of ranks gives the same prediction to the last bit.\n\n";

po::options_description own_options() {
  po::options_description o("Options");
  o.add_options()("machine,m", po::value<std::string>()->value_name("FILE|PRESET"),
                  "the machine to predict (default: ideal)")(
      "as-recorded", po::bool_switch(),
      "the machine that recorded: takes away the recorder's overhead, no more")(
      "sweep", po::value<std::vector<std::string>>()->composing()->value_name("KEY=V1,V2,..."),
      "many machines in one pass: values of a key, or KEY=FROM:TO:N[:log]; several make a grid")(
      "machines", po::value<std::vector<std::string>>()->composing()->value_name("A.ini,B.ini"),
      "many machines in one pass: these files or presets")(
      "output,o", po::value<std::string>()->value_name("FILE.h5"), "write the predicted trace")(
      "json,j", po::value<std::string>()->value_name("FILE.json"),
      "write the summary, or the sweep, as JSON")(
      "query,q", po::value<std::vector<std::string>>()->composing()->value_name("KIND:LEVEL:OBJECT:METRIC"),
      "metrics of channels, tasks or processors at a level, as channel:channel:*:queue-max; see --metrics")(
      "metrics", po::bool_switch(), "show all metrics and levels, and stop")(
      "diagnose,d", po::bool_switch(),
      "say what keeps the program from being faster (done by itself for short traces that are not "
      "efficient)")(
      "efficient", po::value<double>()->default_value(performance::Criteria{}.efficient)->value_name("SHARE"),
      "a program is efficient from this on")(
      "serial-time", po::value<std::string>()->value_name("TIME"),
      "of the program on one processor of the machine, for speedup and efficiency (default: the sum of "
      "computation)")("csv", po::value<std::string>()->value_name("FILE.csv"), "write the sweep as CSV")(
      "force", po::bool_switch(), "overwrite existing outputs")(
      "help,h", po::bool_switch(), "show this text")("version", po::bool_switch(),
                                                     "show the version and its libraries");
  return o;
}

std::string algorithm_list() {
  std::string text = "\nAlgorithms of --collectives.OPERATION (the first is the default):\n";
  for (const OpInfo& op : mpi_ops) {
    const auto valid = collectives::algorithms(op.op);
    if (valid.empty()) continue;
    std::string names;
    for (const auto& a : valid) names += (names.empty() ? "" : ", ") + std::string(a.name);
    text += fmt::format("  {:<26} {}\n", op.name, names);
  }
  return text;
}

std::string version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  return fmt::format("simreplay {}\nHDF5 {}.{}.{}\n{}\n", SIMREPLAY_VERSION, major, minor, release,
                     mpi.substr(0, mpi.find('\n')));
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) ? values[name].as<std::string>() : std::string();
}

std::vector<std::string> list_of(const po::variables_map& values, const char* name) {
  return values.count(name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

void check_sweep(const ReplayOptions& o, bool names_a_machine) {
  const auto refuse = [](const char* operation, const char* expected, const char* found) {
    throw Error({.operation = operation, .expected = expected, .found = found});
  };
  if (!o.csv.empty() && !o.is_sweep()) refuse("csv", "--sweep or --machines", "a single machine");
  if (!o.output.empty() && o.is_sweep()) refuse("output", "a single machine", "a sweep");
  if (o.machine.as_recorded && o.is_sweep()) refuse("as-recorded", "a single machine", "a sweep");
  if ((o.diagnose || !o.queries.empty()) && o.is_sweep())
    refuse(o.diagnose ? "diagnose" : "query", "a single machine", "a sweep");
  if ((o.diagnose || !o.queries.empty()) && o.machine.as_recorded)
    refuse(o.diagnose ? "diagnose" : "query", "a machine", "--as-recorded, of which waiting is not known");
  if (!o.machines.empty() && names_a_machine) refuse("machines", "no other --machine", "both");
}

void read_performance(const po::variables_map& values, ReplayOptions& o) {
  const auto parsed = [](const char* option, const std::string& text, auto&& parse) {
    try {
      return parse(text);
    } catch (const std::invalid_argument& e) {
      throw Error({.operation = option, .problem = e.what(), .remedy = "see simreplay --metrics"});
    }
  };
  for (const std::string& text : list_of(values, "query"))
    o.queries.push_back(parsed("query", text, performance::parse_query));
  if (const std::string text = text_of(values, "serial-time"); !text.empty())
    o.serial = parsed("serial-time", text, [](const std::string& t) { return parse_duration(t); });
  o.diagnose = values["diagnose"].as<bool>();
  o.criteria.efficient = values["efficient"].as<double>();
  if (!(o.criteria.efficient > 0 && o.criteria.efficient <= 1))
    throw Error({.operation = "efficient",
                 .expected = "a share above 0, up to 1",
                 .found = fmt::format("{}", o.criteria.efficient)});
}

/// Nothing can be said about it.
Machine machine_that_recorded(const Machine& given) {
  if (given.name != Machine{}.name || !given.settings.empty())
    throw Error({.operation = "as-recorded",
                 .expected = "no other machine",
                 .found = given.settings.empty() ? given.name : given.settings.begin()->first});
  Machine machine;
  machine.name = "as recorded";
  machine.as_recorded = true;
  return machine;
}

}  // namespace

ReplayOptions parse_replay_options(int argc, const char* const* argv) {
  po::options_description own = own_options(),
                          machine("Machine (keys of the machine file; the command line wins)"), hidden, all;
  add_machine_options(machine);
  hidden.add_options()("trace", po::value<std::vector<std::string>>());
  all.add(own).add(machine).add(hidden);
  const po::variables_map values =
      parse_command_line(argc, argv, all, po::positional_options_description().add("trace", -1), "simreplay");

  ReplayOptions options;
  if (values["help"].as<bool>()) {
    std::ostringstream text;
    text << usage << own << "\n" << machine << algorithm_list();
    options.text = text.str();
    return options;
  }
  if (values["version"].as<bool>()) {
    options.text = version();
    return options;
  }
  if (values["metrics"].as<bool>()) {
    options.text = performance::describe_metrics();
    return options;
  }
  const auto traces =
      values.count("trace") ? values["trace"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (traces.size() != 1)
    throw Error({.expected = "one trace file",
                 .found = traces.empty() ? "none" : fmt::format("{}", fmt::join(traces, " ")),
                 .remedy = "see simreplay --help"});
  options.trace = traces.front();
  options.output = text_of(values, "output");
  options.json = text_of(values, "json");
  options.force = values["force"].as<bool>();
  if (values.count("machine")) options.machine = read_machine(values["machine"].as<std::string>());
  for (const MachineKey& key : machine_keys()) {
    const std::string name(key.key);
    if (values.count(name))
      apply_setting(options.machine, name, values[name].as<std::string>(), "command line");
  }
  if (values["as-recorded"].as<bool>()) options.machine = machine_that_recorded(options.machine);
  read_performance(values, options);
  options.csv = text_of(values, "csv");
  options.sweeps = list_of(values, "sweep");
  options.machines = list_of(values, "machines");
  check_sweep(options, values.count("machine") > 0);
  return options;
}

}  // namespace simreplay
