#include "replay/simnet_options.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "common/error.hpp"
#include "common/machine.hpp"
#include "replay/command_line.hpp"
#include "replay/network/infiniband/generate.hpp"

namespace simreplay {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "usage: simnet --topology SPEC|FILE [options]\n\n"
    "Looks at an InfiniBand fabric: what it is made of, where its routing sends packets, whether all arrive, "
    "whether\n"
    "they can block each other for good, how many routes share a cable. Exit status 1 if a pair of hosts is "
    "not joined.\n"
    "With --messages, --traffic, --sizes or --serve it simulates packets, also under mpirun.\n\n";

struct OptionRow {
  const char *name, *value, *help;  // no value: a switch
};

constexpr OptionRow rows[] = {
    {"write-tables", "FILE", "write the tables in the form of OpenSM's dump"},
    {"write-fabric", "FILE", "write the fabric in our own text form"},
    {"messages,m", "FILE",
     "simulate the messages listed: TIME SOURCE DESTINATION BYTES [ID], or JSON, one a line"},
    {"traffic", "NAME", "simulate a pattern: uniform, permutation, incast, all-to-all"},
    {"bytes", "BYTES", "of each message of the pattern (default: 65536)"},
    {"count", "N", "messages of each host, or rounds (default: 10)"},
    {"interval", "TIME", "between messages of one host (default: 0)"},
    {"seed", "N", "of the pattern (default: 1)"},
    {"sizes", nullptr, "simulate one message of each size from 1 B to 256 MB between the first two hosts"},
    {"serve", nullptr, "take messages as JSON lines from standard input, answer with arrivals"},
    {"socket", "PATH", "the same at a Unix socket, for one client after the other"},
    {"json", "FILE", "results as JSON, to standard output with -"},
    {"links", "FILE", "figures of all links as JSON"},
    {"bin", "TIME", "with --links: utilisation of each link over time, in steps of this"},
    {"force", nullptr, "overwrite existing outputs"}};

/// Two of these options have a short name.
std::string with_letter(std::string_view key) {
  return fmt::format("{}{}", key, key == "topology" ? ",t" : key == "routing" ? ",r" : "");
}

po::options_description all_options() {
  po::options_description o("Options");
  for (const infiniband::SourceRow& r : infiniband::source_rows())
    o.add_options()(with_letter(r.key).c_str(), po::value<std::string>()->value_name(std::string(r.value)),
                    std::string(r.help).c_str());
  for (const OptionRow& r : rows) {
    if (r.value == nullptr) {
      o.add_options()(r.name, po::bool_switch(), r.help);
    } else {
      o.add_options()(r.name, po::value<std::string>()->value_name(r.value), r.help);
    }
  }
  o.add_options()("help,h", po::bool_switch(), "show this text");
  o.add_options()("version", po::bool_switch(), "show the version");
  return o;
}

po::options_description model_options() {
  const infiniband::Settings defaults;
  po::options_description o("The model of packets");
  for (const infiniband::SettingRow& r : infiniband::setting_rows())
    o.add_options()(fmt::format("infiniband.{}", r.key).c_str(),
                    po::value<std::string>()->value_name(std::string(r.value)),
                    fmt::format("{} (default: {})", r.help, r.show(defaults)).c_str());
  return o;
}

std::int64_t number(const char* name, const std::string& text, std::int64_t (*parse_text)(std::string_view)) {
  try {
    return parse_text(text);
  } catch (const std::invalid_argument& e) {
    throw Error({.operation = name, .problem = e.what()});
  }
}

std::int64_t picoseconds(std::string_view text) { return parse_duration(text).count(); }

NetTask task_of(const po::variables_map& values) {
  struct Row {
    bool wanted;
    NetTask task;
  };
  NetTask task = NetTask::look;
  for (const Row& r :
       {Row{values.count("messages") > 0, NetTask::messages},
        Row{values.count("traffic") > 0, NetTask::traffic}, Row{values["sizes"].as<bool>(), NetTask::sizes},
        Row{values["serve"].as<bool>() || values.count("socket") > 0, NetTask::serve}}) {
    if (!r.wanted) continue;
    if (task != NetTask::look)
      throw Error({.expected = "one of --messages, --traffic, --sizes, --serve", .found = "two"});
    task = r.task;
  }
  return task;
}

void take_source_options(const po::variables_map& values, infiniband::Source& source) {
  for (const infiniband::SourceRow& r : infiniband::source_rows()) {
    const std::string name(r.key);
    if (!values.count(name)) continue;
    try {
      r.set(source, values[name].as<std::string>());
    } catch (const std::invalid_argument& e) {
      throw Error({.operation = name, .problem = e.what()});
    }
  }
}

void take_run_options(const po::variables_map& values, NetOptions& options) {
  const auto take = [&values](const char* name, auto& to, std::int64_t (*parse_text)(std::string_view)) {
    if (values.count(name))
      to = std::remove_reference_t<decltype(to)>(number(name, values[name].as<std::string>(), parse_text));
  };
  options.task = task_of(values);
  take("bytes", options.bytes, parse_bytes);
  take("count", options.count, parse_count);
  take("seed", options.seed, parse_count);
  take("interval", options.interval, picoseconds);
  take("bin", options.settings.bin, picoseconds);
  for (const infiniband::SettingRow& r : infiniband::setting_rows()) {
    const std::string key = fmt::format("infiniband.{}", r.key);
    if (values.count(key)) infiniband::set(options.settings, key, values[key].as<std::string>());
  }
}

}  // namespace

NetOptions parse_net_options(int argc, const char* const* argv) {
  const po::options_description usual = all_options(), model = model_options();
  po::options_description all;
  all.add(usual).add(model);
  const po::variables_map values =
      parse_command_line(argc, argv, all, po::positional_options_description(), "simnet");
  NetOptions options;
  if (values["help"].as<bool>()) {
    std::ostringstream text;
    text << usage << usual << "\n" << model << "\nFabrics to be made:\n" << infiniband::spec_help();
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
  set("write-tables", options.tables);
  set("write-fabric", options.fabric);
  set("messages", options.messages);
  set("socket", options.socket);
  set("traffic", options.traffic);
  set("json", options.json);
  set("links", options.links);
  options.force = values["force"].as<bool>();
  take_source_options(values, options.source);
  take_run_options(values, options);
  if (options.source.topology.empty())
    throw Error({.expected = "--topology SPEC|FILE", .found = "none", .remedy = "see simnet --help"});
  return options;
}

}  // namespace simreplay
