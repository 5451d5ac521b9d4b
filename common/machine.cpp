#include "common/machine.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "common/error.hpp"
#include "common/mpi_ops.hpp"

namespace simreplay {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr std::string_view time_form = "TIME", per_byte_form = "TIME/B|RATE", ratio_form = "NUMBER",
                           algorithm_form = "ALGORITHM";

/// "0.2us, 4KiB: 1us": a value, and others from a size on.
template <class T, class Parse>
BySize<T> parse_by_size(std::string_view text, Parse&& parse) {
  std::optional<BySize<T>> result;
  std::int64_t previous = 0;
  while (!text.empty()) {
    const std::string_view step = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), step.size() + 1));
    const auto colon = step.find(':');
    if (!result) {
      if (colon != std::string_view::npos)
        throw std::invalid_argument(fmt::format("expected a value for all sizes first, found '{}'", step));
      result.emplace(parse(step));
      continue;
    }
    if (colon == std::string_view::npos)
      throw std::invalid_argument(fmt::format("expected SIZE: VALUE, found '{}'", step));
    const std::int64_t from = parse_bytes(step.substr(0, colon));
    if (from <= previous)
      throw std::invalid_argument(fmt::format("expected sizes that ascend, found '{}'", step));
    result->add(previous = from, parse(step.substr(colon + 1)));
  }
  if (!result) parse(text);  // says what is expected
  return *result;
}

constexpr std::string_view within_prefix = "within.";

/// One row serves two keys: `send.prolog` between nodes, `within.send.prolog` inside one.
struct MessageKey {
  std::string_view key, form, help;
  void (*set)(MessageCosts&, std::string_view);
};

template <BySize<Duration> MessageCosts::*member>
void set_time(MessageCosts& c, std::string_view text) {
  c.*member = parse_by_size<Duration>(text, parse_duration);
}
template <BySize<Ratio> MessageCosts::*member>
void set_per_byte(MessageCosts& c, std::string_view text) {
  c.*member = parse_by_size<Ratio>(text, parse_per_byte);
}

/// One of two words; true for the second.
bool parse_either(std::string_view text, std::string_view first, std::string_view second) {
  if (text != first && text != second)
    throw std::invalid_argument(fmt::format("expected {} or {}, found '{}'", first, second, text));
  return text == second;
}

void set_duplex(MessageCosts& c, std::string_view text) {
  c.half_duplex = parse_either(text, "full", "half");
}

// clang-format off
constexpr std::array message_keys{
    MessageKey{"send.prolog", time_form, "A [o]: of a send before the message leaves", set_time<&MessageCosts::send_prolog>},
    MessageKey{"send.per-byte", per_byte_form, "B [O]: of a send per byte", set_per_byte<&MessageCosts::send_per_byte>},
    MessageKey{"send.epilog", time_form, "C: of a send after the message left", set_time<&MessageCosts::send_epilog>},
    MessageKey{"receive.prolog", time_form, "E: of a receive before it asks", set_time<&MessageCosts::receive_prolog>},
    MessageKey{"receive.per-byte", per_byte_form, "G [O]: of a receive per byte", set_per_byte<&MessageCosts::receive_per_byte>},
    MessageKey{"receive.epilog", time_form, "H [o]: of a receive after the message came", set_time<&MessageCosts::receive_epilog>},
    MessageKey{"network.latency", time_form, "[L]: from leaving the sender to arriving", set_time<&MessageCosts::latency>},
    MessageKey{"network.per-byte", per_byte_form, "of the way per byte", set_per_byte<&MessageCosts::per_byte>},
    MessageKey{"network.gap", time_form, "[g]: between messages of one process", set_time<&MessageCosts::gap>},
    MessageKey{"network.gap-per-byte", per_byte_form, "[G]: the same per byte", set_per_byte<&MessageCosts::gap_per_byte>},
    MessageKey{"network.eager-limit", "SIZE", "[S]: larger messages wait for their receive",
               [](MessageCosts& c, std::string_view text) { c.eager_limit = parse_bytes(text); }},
    MessageKey{"network.duplex", "full|half", "half: an adapter sends or receives, not both at a time", set_duplex},
};

/// What register_network_model() has been told.
struct NetworkModels {
  std::vector<std::string> names;
  std::vector<NetworkKey> keys;
};
NetworkModels& network_models() {
  static NetworkModels models;
  return models;
}

void set_model(Machine& m, std::string_view text) {
  const std::vector<std::string>& networks = network_models().names;
  m.model = text == "loggops" ? Machine::Model::loggops : Machine::Model::base;
  m.network.clear();
  if (text == "base" || text == "loggops") return;
  if (std::ranges::find(networks, text) == networks.end())
    throw std::invalid_argument(fmt::format("expected base, loggops{}{}, found '{}'", networks.empty() ? "" : ", ", fmt::join(networks, ", "), text));
  m.network = text;
}

void set_noise(Machine& m, std::string_view text) {
  m.noise = text == "0" ? Ratio{0, 1} : parse_ratio(text);
  if (m.noise.value() > 0.25) throw std::invalid_argument(fmt::format("expected a deviation of at most 0.25, found '{}'", text));
}

void set_processes_per_node(Machine& m, std::string_view text) {
  m.processes_per_node = parse_count(text);
  if (m.processes_per_node < 1) throw std::invalid_argument("expected at least 1 process per node, found '0'");
}

constexpr std::array machine_only_keys{
    MachineKey{"cpu.speedup", ratio_form, "speed of its processors over those that recorded",
               [](Machine& m, std::string_view text) { m.cpu_speedup = parse_ratio(text); }},
    MachineKey{"cpu.speedups", "FILE",
               "of single ones: lines `process N SPEEDUP`, `node N SPEEDUP`, `region NAME SPEEDUP`",
               [](Machine& m, std::string_view text) { m.speedups = text; }},
    MachineKey{"io.speedup", ratio_form, "speed of its files over those that were recorded",
               [](Machine& m, std::string_view text) { m.io_speedup = parse_ratio(text); }},
    MachineKey{"noise.deviation", ratio_form, "of computation, relative standard deviation", set_noise},
    MachineKey{"noise.profile", "FILE", "of computation, detours as recorded by simcalibrate --noise",
               [](Machine& m, std::string_view text) { m.noise_profile = text; }},
    MachineKey{"noise.seed", "COUNT", "of the noise",
               [](Machine& m, std::string_view text) { m.noise_seed = parse_count(text); }},
    MachineKey{"barrier.overhead", time_form, "J: of a barrier after its latest request",
               [](Machine& m, std::string_view text) { m.barrier_overhead = parse_duration(text); }},
    MachineKey{"network.model", "MODEL", "how these costs add up (base, loggops), or a network in which messages disturb each other", set_model},
    MachineKey{"network.receive-gap", "program|arrival", "messages pass the receiving adapter as the program takes them, or as they arrive",
               [](Machine& m, std::string_view text) { m.gap_by_arrival = parse_either(text, "program", "arrival"); }},
    MachineKey{"matching", "recorded|simulated", "wildcard receives and probes take the message that they took, or that arrives first",
               [](Machine& m, std::string_view text) { m.matching_is_simulated = parse_either(text, "recorded", "simulated"); }},
    MachineKey{"placement.scheme", "one-per-node|block|cyclic|FILE", "processes on nodes; a file has a node number per process",
               [](Machine& m, std::string_view text) { m.placement = text; }},
    MachineKey{"placement.processes-per-node", "COUNT", "of block and cyclic", set_processes_per_node},
};
// clang-format on

constexpr std::string_view collectives_prefix = "collectives.";

/// "MPI_Allreduce" -> "allreduce"
std::string short_name(const OpInfo& op) {
  std::string name(op.name.substr(4));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ranges::replace(name, '_', '-');
  return name;
}

/// Keys whose names are put together: what MachineKey::key points to.
const std::vector<std::string>& composed_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const MessageKey& k : message_keys) all.push_back(std::string(within_prefix) + std::string(k.key));
    all.push_back(std::string(collectives_prefix) + std::string(all_collectives));
    for (const OpInfo& op : mpi_ops)
      if (op.verb == Verb::collective) all.push_back(std::string(collectives_prefix) + short_name(op));
    return all;
  }();
  return names;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const MachineKey& k : machine_keys()) names.emplace_back(k.key);
  return names;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); i++) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Folders that hold presets, first match wins: the user's, beside the program, the source tree.
std::vector<fs::path> preset_folders() {
  std::vector<fs::path> folders;
  if (const char* user = std::getenv("SIMREPLAY_MACHINES")) folders.emplace_back(user);
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  for (fs::path at = self.parent_path(); !failure && at.has_relative_path(); at = at.parent_path()) {
    folders.push_back(at / "share/simreplay/machines");
    if (at == at.parent_path()) break;
  }
  return folders;
}

fs::path find_machine(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  std::vector<std::string> presets;
  if (name.find('/') == std::string::npos)
    for (const fs::path& folder : preset_folders())
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".ini") continue;
        if (entry.path().stem() == name || entry.path().filename() == name) return entry.path();
        presets.push_back(entry.path().stem());
      }
  std::ranges::sort(presets);
  presets.erase(std::unique(presets.begin(), presets.end()), presets.end());
  throw Error(
      {.file = name,
       .expected = "a machine file or one of the presets " + fmt::format("{}", fmt::join(presets, " ")),
       .found = "neither"});
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : s.substr(first, last - first + 1);
}

/// Line on which `key` is set, for messages: Boost's reader gives values but no places.
std::optional<std::int64_t> line_of(const std::string& text, std::string_view key) {
  std::istringstream in(text);
  std::string line, section;
  for (std::int64_t number = 1; std::getline(in, line); number++) {
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.starts_with('[') && content.ends_with(']')) {
      section = std::string(content.substr(1, content.size() - 2)) + ".";
    } else if (const auto equals = content.find('='); equals != std::string_view::npos) {
      if (section + std::string(trimmed(content.substr(0, equals))) == key) return number;
    }
  }
  return std::nullopt;
}

/// First line that is neither blank, comment, section nor key = value.
std::optional<std::int64_t> odd_line(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); number++) {
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    const bool section = content.starts_with('[') && content.ends_with(']');
    if (!content.empty() && !section && content.find('=') == std::string_view::npos) return number;
  }
  return std::nullopt;
}

const MessageKey* find_message_key(std::string_view key) {
  const auto it = std::ranges::find(message_keys, key, &MessageKey::key);
  return it == message_keys.end() ? nullptr : &*it;
}

/// Gives the value to what the key names; false for an unknown key.
bool give(Machine& machine, std::string_view key, const std::string& value) {
  if (const MessageKey* k = find_message_key(key)) {
    k->set(machine.between, value);
    // Within a node the same holds until something else is said.
    if (!machine.settings.contains(std::string(within_prefix) + std::string(key)))
      k->set(machine.within, value);
    return true;
  }
  if (key.starts_with(within_prefix))
    if (const MessageKey* k = find_message_key(key.substr(within_prefix.size()))) {
      k->set(machine.within, value);
      return true;
    }
  const auto& names = composed_names();
  if (key.starts_with(collectives_prefix) && std::ranges::find(names, key) != names.end()) {
    machine.collectives[std::string(key.substr(collectives_prefix.size()))] = value;
    return true;
  }
  if (const auto it = std::ranges::find(machine_only_keys, key, &MachineKey::key);
      it != machine_only_keys.end()) {
    it->set(machine, value);
    return true;
  }
  const std::vector<NetworkKey>& of_networks = network_models().keys;
  const auto it = std::ranges::find(of_networks, key, &NetworkKey::key);
  if (it == of_networks.end()) return false;
  it->check(value);
  machine.network_settings[it->key] = value;
  return true;
}

void set(Machine& machine, const std::string& key, const std::string& value, Fault where) {
  where.operation = key;
  try {
    if (!give(machine, key, value)) {
      const std::string near = nearest(key, key_names());
      where.problem = "unknown key";
      where.remedy = near.empty() ? "see --help for the valid ones" : "did you mean " + near + "?";
      throw Error(where);
    }
  } catch (const std::invalid_argument& e) {
    where.problem = e.what();
    throw Error(where);
  }
  machine.settings[key] = value;
}

}  // namespace

std::span<const MachineKey> machine_keys() {
  static const std::vector<MachineKey> keys = [] {
    std::vector<MachineKey> all(machine_only_keys.begin(), machine_only_keys.end());
    for (const MessageKey& k : message_keys) all.push_back({k.key, k.form, k.help, nullptr});
    for (const std::string_view name : composed_names()) {
      if (name.starts_with(within_prefix)) {
        const MessageKey* plain = find_message_key(name.substr(within_prefix.size()));
        all.push_back({name, plain->form, "the same within a node", nullptr});
      } else {
        const bool of_all = name.substr(collectives_prefix.size()) == all_collectives;
        all.push_back({name, algorithm_form,
                       of_all ? "of operations without one of their own" : "its algorithm", nullptr});
      }
    }
    for (const NetworkKey& k : network_models().keys) all.push_back({k.key, k.form, k.help, nullptr});
    return all;
  }();
  return keys;
}

void register_network_model(const std::string& name, std::vector<NetworkKey> keys) {
  network_models().names.push_back(name);
  for (NetworkKey& k : keys) network_models().keys.push_back(std::move(k));
}

std::string nearest(std::string_view word, std::span<const std::string> words) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : words)
    if (const std::size_t d = edit_distance(word, candidate); d < least) {
      least = d;
      best = candidate;
    }
  return best;
}

void add_machine_options(po::options_description& options) {
  for (const MachineKey& k : machine_keys())
    options.add_options()(std::string(k.key).c_str(),
                          po::value<std::string>()->value_name(std::string(k.form)),
                          std::string(k.help).c_str());
}

Machine read_machine(const std::string& name) {
  const fs::path path = find_machine(name);
  std::ifstream in(path);
  std::stringstream text;
  if (!in || fs::is_directory(path) || !(text << in.rdbuf()))
    throw Error({.file = path.string(), .expected = "a machine file", .found = "none that can be read"});
  Machine machine;
  machine.name = path.stem().string();
  po::parsed_options parsed(nullptr);
  try {
    parsed = po::parse_config_file(text, po::options_description(), true);
  } catch (const po::error& e) {
    throw Error({.file = path.string(),
                 .line = odd_line(text.str()),
                 .expected = "[section] or key = value",
                 .found = e.what()});
  }
  for (const auto& option : parsed.options) {
    const std::string value = option.value.empty() ? "" : option.value.front();
    set(machine, option.string_key, value,
        {.file = path.string(), .line = line_of(text.str(), option.string_key)});
  }
  return machine;
}

void apply_setting(Machine& machine, const std::string& key, const std::string& value,
                   const std::string& where) {
  set(machine, key, value, {.file = where});
}

std::string to_ini(const Machine& machine) {
  std::string text = "# " + machine.name + "\n", section;
  constexpr auto nowhere = std::string::npos;
  for (const auto& [key, value] : machine.settings)  // before any section
    if (key.find('.') == nowhere) text += key + " = " + value + "\n";
  for (const auto& [key, value] : machine.settings) {
    const auto point = key.find('.');
    if (point == nowhere) continue;
    if (key.substr(0, point) != section) text += "[" + (section = key.substr(0, point)) + "]\n";
    text += key.substr(point + 1) + " = " + value + "\n";
  }
  return text;
}

}  // namespace simreplay
