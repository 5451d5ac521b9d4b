#pragma once
// The computer to predict. A machine file is INI; every key is also a command line option of the same
// name, and one table drives reading, checking, help and documentation.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"

namespace boost::program_options {
class options_description;
}

namespace simreplay {

/// A parameter that depends on the size of the message: a list of values, each from a size on.
template <class T>
class BySize {
 public:
  explicit BySize(T value = T{}) { add(0, value); }
  void add(std::int64_t from_bytes, T value) { steps_.push_back({from_bytes, value}); }

  const T& at(std::int64_t bytes) const {
    std::size_t i = steps_.size() - 1;
    while (i > 0 && steps_[i].from_bytes > bytes) i--;
    return steps_[i].value;
  }
  bool is_constant() const { return steps_.size() == 1; }
  T least() const {
    return std::min_element(steps_.begin(), steps_.end(),
                            [](const Step& a, const Step& b) { return a.value < b.value; })
        ->value;
  }

 private:
  struct Step {
    std::int64_t from_bytes;
    T value;
  };
  std::vector<Step> steps_;  // ascending, the first from 0
};

/// What messages cost on one kind of way: between nodes, or within one. Letters are those of patent
/// JP3348445B2 and, in brackets, of LogGOPS (docs/models/costs.md).
struct MessageCosts {
  BySize<Duration> send_prolog{};        // A [o]
  BySize<Ratio> send_per_byte{};         // B [O], ps/B
  BySize<Duration> send_epilog{};        // C
  BySize<Duration> receive_prolog{};     // E
  BySize<Ratio> receive_per_byte{};      // G [O], ps/B
  BySize<Duration> receive_epilog{};     // H [o]
  BySize<Duration> latency{};            // [L] from the send time to the arrival of an empty message
  BySize<Ratio> per_byte{};              // ps/B of the way, occupies neither sender nor receiver
  BySize<Duration> gap{};                // [g] between messages of one process
  BySize<Ratio> gap_per_byte{};          // [G], ps/B
  std::int64_t eager_limit = INT64_MAX;  // [S] larger messages wait for their receive
  bool half_duplex = false;              // an adapter sends or receives, not both at a time
};

/// Key of the algorithm of all operations that name none of their own.
inline constexpr std::string_view all_collectives = "all";

struct Machine {
  enum class Model : std::uint8_t { base, loggops };

  std::string name = "ideal";  // of the preset or file, for people
  Model model = Model::base;
  std::string network;  // the model in which messages disturb each other; empty: they do not
  std::map<std::string, std::string> network_settings;  // keys of such models, as given
  bool matching_is_simulated = false;  // wildcards take what arrives first here, not what they took
  bool gap_by_arrival = false;         // messages pass the adapter that receives as they arrive, not as they
                                       // are received
  bool as_recorded = false;            // the one that recorded: only the recorder's overhead is taken away
  Ratio cpu_speedup{1, 1};             // target over recording machine
  Duration barrier_overhead{};         // J
  Ratio io_speedup{1, 1};              // of files, target over recording machine
  MessageCosts between, within;        // nodes; a node
  std::map<std::string, std::string> collectives;  // operation ("allreduce", or all_collectives) -> algorithm

  std::string placement = "one-per-node";  // block, cyclic, or a file with a node number per process
  std::int64_t processes_per_node = 1;     // block, cyclic
  std::string speedups;                    // file of speeds of single processes, nodes and regions
  std::map<std::int32_t, Ratio> faster;    // processes, beyond all that; no key sets it
  Ratio noise{0, 1};                       // standard deviation of computation, relative
  std::string noise_profile;               // file of detours (common/noise_profile.hpp)
  std::int64_t noise_seed = 1;

  /// What was set, as given: key -> text. Together with the defaults this is the machine.
  std::map<std::string, std::string> settings;
};

/// One key of the machine file, for help and documentation.
struct MachineKey {
  std::string_view key;
  std::string_view form;  // how a value looks
  std::string_view help;
  void (*set)(Machine&, std::string_view);  // of keys that belong to the machine as a whole
};
std::span<const MachineKey> machine_keys();

/// A key of a network model, whose values are kept as given in Machine::network_settings.
struct NetworkKey {
  std::string key;  // with a prefix that is the model's own
  std::string form, help;
  std::function<void(const std::string& value)> check;  // throws std::invalid_argument: expected and found
};
/// `network.model` may have this value then. Before machines are read and options added.
void register_network_model(const std::string& name, std::vector<NetworkKey> keys);

/// Adds `--KEY VALUE` for every key.
void add_machine_options(boost::program_options::options_description& options);

/// `name` is a file, or the name of a preset that ships with the program (any `NAME.ini` in the preset
/// folders). Throws Error: file, line, key, what was expected; unknown keys with the nearest valid one.
Machine read_machine(const std::string& name);
/// The command line wins over the file. `where` names it in messages.
void apply_setting(Machine& machine, const std::string& key, const std::string& value,
                   const std::string& where);

/// As a machine file that gives this machine again.
std::string to_ini(const Machine& machine);

/// The word of `words` that is nearest to `word` by edit distance; empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace simreplay
