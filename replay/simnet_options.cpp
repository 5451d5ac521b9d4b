#include "replay/simnet_options.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <sstream>

#include "common/error.hpp"
#include "common/machine.hpp"
#include "replay/network/infiniband/generate.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: simnet --topology SPEC|FILE [options]\n\n"
    "Looks at an InfiniBand fabric: what it is made of, where its routing sends packets, whether all arrive, "
    "whether\n"
    "they can block each other for good, how many routes share a cable. Exit status 1 if a pair of hosts is "
    "not joined.\n\n";

po::options_description all_options() {
  po::options_description o("Options");
  o.add_options()("topology,t", po::value<std::string>()->value_name("SPEC|FILE"),
                  "a fabric to be made (see below), or a file: output of ibnetdiscover, a netlist of ibsim, "
                  "our own text form")("routing,r", po::value<std::string>()->value_name("NAME|FILE"),
                                       fmt::format("{} (default: minhop), or tables dumped by OpenSM",
                                                   fmt::join(infiniband::engine_names(), ", "))
                                           .c_str())("roots", po::value<std::string>()->value_name("FILE"),
                                                     "GUIDs of root switches, one a line (updn, ftree)")(
      "torus-config", po::value<std::string>()->value_name("FILE"),
      "OpenSM's torus-2QoS.conf, for a torus from a file")("max-lanes", po::value<int>()->value_name("N"),
                                                           "lanes that lash may use, 1 to 15 (default: 8)")(
      "write-tables", po::value<std::string>()->value_name("FILE"),
      "write the tables in the form of OpenSM's dump")(
      "write-fabric", po::value<std::string>()->value_name("FILE"), "write the fabric in our own text form")(
      "force", po::bool_switch(), "overwrite existing outputs")(
      "help,h", po::bool_switch(), "show this text")("version", po::bool_switch(), "show the version");
  return o;
}

po::variables_map parse(int argc, const char* const* argv, const po::options_description& all) {
  po::variables_map values;
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  try {
    po::store(po::command_line_parser(argc, argv).options(all).positional({}).style(style).run(), values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : all.options()) names.push_back("--" + option->long_name());
    const std::string near = nearest(e.get_option_name(), names);
    throw Error({.operation = e.get_option_name(),
                 .problem = "unknown option",
                 .remedy = near.empty() ? "see simnet --help" : "did you mean " + near + "?"});
  } catch (const po::error& e) {
    throw Error({.problem = e.what(), .remedy = "see simnet --help"});
  }
  return values;
}

}  // namespace

NetOptions parse_net_options(int argc, const char* const* argv) {
  const po::options_description all = all_options();
  const po::variables_map values = parse(argc, argv, all);
  NetOptions options;
  if (values["help"].as<bool>()) {
    std::ostringstream text;
    text << usage << all << "\nFabrics to be made:\n" << infiniband::spec_help();
    options.text = text.str();
    return options;
  }
  if (values["version"].as<bool>()) {
    options.text = fmt::format("simnet {}\n", SIMREPLAY_VERSION);
    return options;
  }
  const auto set = [&values](const char* name, std::string& to) {
    if (values.count(name)) to = values[name].as<std::string>();
  };
  set("topology", options.topology);
  set("routing", options.routing);
  set("roots", options.roots);
  set("torus-config", options.torus_config);
  set("write-tables", options.tables);
  set("write-fabric", options.fabric);
  options.force = values["force"].as<bool>();
  if (values.count("max-lanes")) options.max_lanes = values["max-lanes"].as<int>();
  if (options.max_lanes < 1 || options.max_lanes > 15)
    throw Error(
        {.operation = "max-lanes", .expected = "1 to 15", .found = fmt::format("{}", options.max_lanes)});
  if (options.topology.empty())
    throw Error({.expected = "--topology SPEC|FILE", .found = "none", .remedy = "see simnet --help"});
  return options;
}

}  // namespace simreplay
