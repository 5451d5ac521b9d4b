#include "replay/network/ethernet/shared_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>

#include "common/error.hpp"
#include "replay/network/ethernet/host_file.hpp"

namespace simreplay::ethernet {
namespace {

/// The number, if the text is one; else it names a file.
std::optional<std::int64_t> number_in(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_count(text);
}

void set_domains(SharedSettings& s, std::string_view text) {
  if (text.empty() || number_in(text) == 0) refuse("a number of domains from 1 on, or a file", text);
  s.domains = text;
}

void set_switch_delay(SharedSettings& s, std::string_view text) {
  s.switch_delay = parse_duration(text);
  // In the same instant, domains could not be told apart by who acts first.
  if (s.switch_delay == Duration{0}) refuse("a time above 0", text);
}

using S = SharedSettings;
constexpr std::array rows{
    SettingRow<S>{"start", "TIME", "1500us", "t_s: of each message before it is on the medium",
                  [](S& s, std::string_view text) { s.start = parse_duration(text); }},
    SettingRow<S>{"per-byte", "TIME/B|RATE", "10Mb/s", "t_w: of the medium per byte, if no other host sends",
                  [](S& s, std::string_view text) { s.per_byte = parse_rate(text); }},
    SettingRow<S>{"domains", "COUNT|FILE", "1",
                  "collision domains, of equal numbers of hosts; a file has a domain number per host",
                  set_domains},
    SettingRow<S>{"switch-delay", "TIME", "10us", "between domains, from the end of a frame in one",
                  set_switch_delay},
    SettingRow<S>{"mtu", "BYTES", "1500", "payload of a frame",
                  [](S& s, std::string_view text) { s.mtu = parse_frame_bytes(text, 1); }},
    SettingRow<S>{"frame-overhead", "BYTES", "0", "that go with each frame; 38 on Ethernet",
                  [](S& s, std::string_view text) { s.frame_overhead = parse_frame_bytes(text, 0); }}};

std::vector<std::int32_t> listed_domains(const std::string& file, std::int32_t hosts, MPI_Comm comm) {
  std::vector<std::int32_t> domains;
  for (const HostWord& w : read_host_file(file, "a domain number", hosts, comm)) {
    const std::optional<std::int64_t> number = number_in(w.word);
    if (!number || *number > std::numeric_limits<std::int32_t>::max())
      throw Error({.file = file,
                   .line = w.line,
                   .expected = "a domain number per host",
                   .found = fmt::format("'{}'", w.word)});
    domains.push_back(static_cast<std::int32_t>(*number));
  }
  return domains;
}

/// Numbers may leave gaps; from here on they do not.
void close_gaps(std::vector<std::int32_t>& domains) {
  std::vector<std::int32_t> names = domains;
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  for (std::int32_t& d : domains)
    d = static_cast<std::int32_t>(std::ranges::lower_bound(names, d) - names.begin());
}

}  // namespace

std::span<const SettingRow<SharedSettings>> shared_rows() { return rows; }

std::vector<std::int32_t> domains_of_hosts(const SharedSettings& settings, std::int32_t hosts,
                                           MPI_Comm comm) {
  const std::optional<std::int64_t> number = number_in(settings.domains);
  std::vector<std::int32_t> domains;
  if (number) {
    const std::int64_t most = std::min<std::int64_t>(*number, std::max(hosts, 1));
    for (std::int64_t h = 0; h < hosts; h++) domains.push_back(static_cast<std::int32_t>(h * most / hosts));
  } else {
    domains = listed_domains(settings.domains, hosts, comm);
  }
  close_gaps(domains);
  return domains;
}

}  // namespace simreplay::ethernet
