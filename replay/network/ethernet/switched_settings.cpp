#include "replay/network/ethernet/switched_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "common/error.hpp"
#include "replay/network/ethernet/host_file.hpp"

namespace simreplay::ethernet {
namespace {

using S = SwitchedSettings;

constexpr std::string_view none = "none";

template <Duration S::*member>
void set_time(S& s, std::string_view text) {
  s.*member = parse_duration(text);
}

void set_trains(S& s, std::string_view text) {
  if (text != "on" && text != "off") refuse("on or off", text);
  s.trains = text == "on";
}

constexpr std::array rows{
    SettingRow<S>{"rate", "RATE", "1Gb/s", "of all links",
                  [](S& s, std::string_view text) { s.rate = parse_rate(text); }},
    SettingRow<S>{"rates", "FILE", none, "rates of the links of single hosts, a rate per host",
                  [](S& s, std::string_view text) { s.rates = text; }},
    SettingRow<S>{"cable-delay", "TIME", "50ns", "from end to end", set_time<&S::cable>},
    SettingRow<S>{"switch-delay", "TIME", "2us", "from the end of a frame to the queue of its output",
                  set_time<&S::switching>},
    SettingRow<S>{"mtu", "BYTES", "1500", "payload of a frame",
                  [](S& s, std::string_view text) { s.mtu = parse_frame_bytes(text, 1); }},
    SettingRow<S>{"overhead", "BYTES", "38", "that go with each frame: preamble, header, check, gap",
                  [](S& s, std::string_view text) { s.overhead = parse_frame_bytes(text, 0); }},
    SettingRow<S>{"send-overhead", "TIME", "0", "software at the sender, per message",
                  set_time<&S::send_overhead>},
    SettingRow<S>{"receive-overhead", "TIME", "0", "software at the receiver, per message",
                  set_time<&S::receive_overhead>},
    SettingRow<S>{"trains", "on|off", "on", "off: frames one by one, with the same result", set_trains}};

}  // namespace

std::span<const SettingRow<SwitchedSettings>> switched_rows() { return rows; }

std::vector<Ratio> rates_of_hosts(const SwitchedSettings& settings, std::int32_t hosts, MPI_Comm comm) {
  if (settings.rates == none) return std::vector<Ratio>(static_cast<std::size_t>(hosts), settings.rate);
  std::vector<Ratio> rates;
  for (const HostWord& w : read_host_file(settings.rates, "a rate", hosts, comm)) try {
      rates.push_back(parse_rate(w.word));
    } catch (const std::invalid_argument& e) {
      throw Error({.file = settings.rates, .line = w.line, .problem = e.what()});
    }
  return rates;
}

}  // namespace simreplay::ethernet
