#pragma once
// How the models of Ethernet name their parameters: a table with a row for each, which gives the keys of
// machine files, their defaults and their help.

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::ethernet {

/// A row of the table of parameters. The key is written with the prefix of its model.
template <class Settings>
struct SettingRow {
  std::string_view key, form, value, help;   // value: unless set
  void (*set)(Settings&, std::string_view);  // throws std::invalid_argument: expected and found
};

template <class Settings>
std::vector<NetworkKey> network_keys(std::string_view prefix, std::span<const SettingRow<Settings>> rows) {
  std::vector<NetworkKey> keys;
  for (const SettingRow<Settings>& row : rows) {
    const auto check = [set = row.set](const std::string& value) {
      Settings ignored;
      set(ignored, value);
    };
    keys.push_back({fmt::format("{}{}", prefix, row.key), std::string(row.form),
                    fmt::format("{} ({})", row.help, row.value), check});
  }
  return keys;
}

template <class Settings>
Settings read_settings(std::string_view prefix, std::span<const SettingRow<Settings>> rows,
                       const Machine& machine) {
  Settings settings;
  for (const SettingRow<Settings>& row : rows) {
    const auto given = machine.network_settings.find(fmt::format("{}{}", prefix, row.key));
    row.set(settings, given == machine.network_settings.end() ? row.value : given->second);
  }
  return settings;
}

[[noreturn]] inline void refuse(std::string_view expected, std::string_view found) {
  throw std::invalid_argument(fmt::format("expected {}, found '{}'", expected, found));
}

/// What a byte takes on a medium. A medium without limit has no contention: not one of these models.
inline Ratio parse_rate(std::string_view text) {
  const Ratio per_byte = parse_per_byte(text);
  if (per_byte.numerator() == 0) refuse("a rate such as 100Mb/s, or a cost per byte above 0", text);
  return per_byte;
}

/// Bytes of a frame or of what goes with it.
inline std::int64_t parse_frame_bytes(std::string_view text, std::int64_t least) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const std::int64_t bytes = parse_bytes(text);
  if (bytes < least || bytes > most) refuse(fmt::format("{} B to {}", least, format_bytes(most)), text);
  return bytes;
}

}  // namespace simreplay::ethernet
