#pragma once
// The computer to predict. A machine file is INI; every key is also a command line option of the same
// name, and one table drives reading, checking, help and documentation.

#include <boost/program_options.hpp>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "common/units.hpp"

namespace simreplay {

/// Parameters of the base model (docs/models/base.md); letters are those of patent JP3348445B2.
struct Machine {
  std::string name = "ideal";    // of the preset or file, for people
  Ratio cpu_speedup{1, 1};       // target over recording machine
  Duration send_prolog{};        // A
  Ratio send_per_byte{};         // B, ps/B
  Duration send_epilog{};        // C
  Duration receive_prolog{};     // E
  Ratio receive_per_byte{};      // G, ps/B
  Duration receive_epilog{};     // H
  Duration barrier_overhead{};   // J
  Duration network_latency{};    // from the send time to the arrival of an empty message
  Ratio network_per_byte{};      // ps/B of the way, occupies neither sender nor receiver
  std::map<std::string, std::string> collectives;  // operation ("allreduce") -> algorithm

  /// What was set, as given: key -> text. Together with the defaults this is the machine.
  std::map<std::string, std::string> settings;
};

/// One key of the machine file.
struct MachineKey {
  std::string_view key;
  std::string_view form;  // how a value looks
  std::string_view help;
  void (*set)(Machine&, std::string_view);
};
std::span<const MachineKey> machine_keys();

/// Adds `--KEY VALUE` for every key.
void add_machine_options(boost::program_options::options_description& options);

/// `name` is a file, or the name of a preset that ships with the program (any `NAME.ini` in the preset
/// folders). Throws Error: file, line, key, what was expected; unknown keys with the nearest valid one.
Machine read_machine(const std::string& name);
/// The command line wins over the file. `where` names it in messages.
void apply_setting(Machine& machine, const std::string& key, const std::string& value, const std::string& where);

/// As a machine file that gives this machine again.
std::string to_ini(const Machine& machine);

/// The word of `words` that is nearest to `word` by edit distance; empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace simreplay
