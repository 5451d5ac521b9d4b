#include "common/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

template <Duration Machine::*member>
void set_duration(Machine& m, std::string_view text) { m.*member = parse_duration(text); }
template <Ratio Machine::*member>
void set_per_byte(Machine& m, std::string_view text) { m.*member = parse_per_byte(text); }

// clang-format off
constexpr std::array fixed_keys{
    MachineKey{"cpu.speedup", ratio_form, "speed of its processors over those that recorded",
               [](Machine& m, std::string_view text) { m.cpu_speedup = parse_ratio(text); }},
    MachineKey{"send.prolog", time_form, "A: cost of a send before the message leaves", set_duration<&Machine::send_prolog>},
    MachineKey{"send.per-byte", per_byte_form, "B: cost of a send per byte", set_per_byte<&Machine::send_per_byte>},
    MachineKey{"send.epilog", time_form, "C: cost of a send after the message left", set_duration<&Machine::send_epilog>},
    MachineKey{"receive.prolog", time_form, "E: cost of a receive before it asks", set_duration<&Machine::receive_prolog>},
    MachineKey{"receive.per-byte", per_byte_form, "G: cost of a receive per byte", set_per_byte<&Machine::receive_per_byte>},
    MachineKey{"receive.epilog", time_form, "H: cost of a receive after the message came", set_duration<&Machine::receive_epilog>},
    MachineKey{"barrier.overhead", time_form, "J: cost of a barrier after its latest request", set_duration<&Machine::barrier_overhead>},
    MachineKey{"network.latency", time_form, "time from leaving the sender to arriving", set_duration<&Machine::network_latency>},
    MachineKey{"network.per-byte", per_byte_form, "time of the way per byte", set_per_byte<&Machine::network_per_byte>},
};
// clang-format on

constexpr std::string_view collectives_prefix = "collectives.";

/// "MPI_Allreduce" -> "allreduce"
std::string short_name(const OpInfo& op) {
  std::string name(op.name.substr(4));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ranges::replace(name, '_', '-');
  return name;
}

struct CollectiveKeys {
  std::vector<std::string> names;  // what MachineKey::key points to
  std::vector<std::string> operations;
};

const CollectiveKeys& collective_keys() {
  static const CollectiveKeys keys = [] {
    CollectiveKeys k;
    for (const OpInfo& op : mpi_ops)
      if (op.verb == Verb::collective) {
        k.operations.push_back(short_name(op));
        k.names.push_back(std::string(collectives_prefix) + k.operations.back());
      }
    return k;
  }();
  return keys;
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
  throw Error({.file = name,
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

void set(Machine& machine, const std::string& key, const std::string& value, Fault where) {
  const auto keys = machine_keys();
  const auto it = std::ranges::find(keys, key, &MachineKey::key);
  where.operation = key;
  if (it == keys.end()) {
    const std::string near = nearest(key, key_names());
    where.problem = "unknown key";
    where.remedy = near.empty() ? "see --help for the valid ones" : "did you mean " + near + "?";
    throw Error(where);
  }
  try {
    it->set(machine, value);
  } catch (const std::exception& e) {
    where.problem = e.what();
    throw Error(where);
  }
  if (key.starts_with(collectives_prefix)) machine.collectives[key.substr(collectives_prefix.size())] = value;
  machine.settings[key] = value;
}

}  // namespace

std::span<const MachineKey> machine_keys() {
  static const std::vector<MachineKey> keys = [] {
    std::vector<MachineKey> all(fixed_keys.begin(), fixed_keys.end());
    for (const std::string& name : collective_keys().names)
      all.push_back({name, algorithm_form, "its algorithm", [](Machine&, std::string_view) {}});
    return all;
  }();
  return keys;
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
    options.add_options()(std::string(k.key).c_str(), po::value<std::string>()->value_name(std::string(k.form)),
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
    throw Error({.file = path.string(), .line = odd_line(text.str()), .expected = "[section] or key = value", .found = e.what()});
  }
  for (const auto& option : parsed.options) {
    const std::string value = option.value.empty() ? "" : option.value.front();
    set(machine, option.string_key, value, {.file = path.string(), .line = line_of(text.str(), option.string_key)});
  }
  return machine;
}

void apply_setting(Machine& machine, const std::string& key, const std::string& value, const std::string& where) {
  set(machine, key, value, {.file = where});
}

std::string to_ini(const Machine& machine) {
  std::string text = "# " + machine.name + "\n", section;
  for (const auto& [key, value] : machine.settings) {
    const auto point = key.find('.');
    if (key.substr(0, point) != section) text += "[" + (section = key.substr(0, point)) + "]\n";
    text += key.substr(point + 1) + " = " + value + "\n";
  }
  return text;
}

}  // namespace simreplay
