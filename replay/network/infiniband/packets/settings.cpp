#include "replay/network/infiniband/packets/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "common/error.hpp"
#include "common/machine.hpp"

namespace simreplay::infiniband {
namespace {

constexpr int most_lanes = 15;  // of data

[[noreturn]] void refuse(std::string_view expected, std::string_view found) {
  throw std::invalid_argument(fmt::format("expected {}, found `{}`", expected, found));
}

int small_number(std::string_view text, int most, std::string_view expected) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    refuse(expected, text);
  return value;
}

/// Calls take(first, second) for each "first:second" of a list with commas.
template <class Take>
void each_pair(std::string_view text, std::string_view expected, Take&& take) {
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) refuse(expected, entry);
    take(entry.substr(0, colon), entry.substr(colon + 1));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
  }
}

void parse_value(Duration& to, std::string_view text) { to = parse_duration(text); }
void parse_value(Ratio& to, std::string_view text) { to = parse_per_byte(text); }
void parse_value(std::int64_t& to, std::string_view text) { to = parse_bytes(text); }
void parse_value(bool& to, std::string_view text) {
  if (text != "on" && text != "off") refuse("on or off", text);
  to = text == "on";
}
void parse_value(Forwarding& to, std::string_view text) {
  if (text != "cut-through" && text != "store-and-forward") refuse("cut-through or store-and-forward", text);
  to = text == "cut-through" ? Forwarding::cut_through : Forwarding::store_and_forward;
}
void parse_value(InputOrder& to, std::string_view text) {
  if (text != "fcfs" && text != "round-robin") refuse("fcfs or round-robin", text);
  to = text == "fcfs" ? InputOrder::fcfs : InputOrder::round_robin;
}
void parse_value(LaneOrder& to, std::string_view text) {
  if (text != "tables" && text != "fcfs") refuse("tables or fcfs", text);
  to = text == "tables" ? LaneOrder::tables : LaneOrder::fcfs;
}
void parse_value(LaneTable& to, std::string_view text) {
  constexpr std::string_view expected = "LANE:WEIGHT,... with lanes 0 to 14 and weights 0 to 255";
  to.clear();
  each_pair(text, expected, [&](std::string_view lane, std::string_view weight) {
    to.push_back({static_cast<std::uint8_t>(small_number(lane, most_lanes - 1, expected)),
                  static_cast<std::uint8_t>(small_number(weight, 255, expected))});
  });
}
void parse_value(std::vector<InjectionDelay>& to, std::string_view text) {
  constexpr std::string_view expected = "SHIFT:MULTIPLIER,... with shifts 0 to 3 and multipliers 0 to 16383";
  to.clear();
  each_pair(text, expected, [&](std::string_view shift, std::string_view multiplier) {
    to.push_back({static_cast<std::uint8_t>(small_number(shift, 3, expected)),
                  static_cast<std::uint16_t>(small_number(multiplier, 16383, expected))});
  });
}

std::string show_value(Duration d) { return d.count() == 0 ? "0" : format_duration(d); }
std::string show_value(const Ratio& r) { return r.numerator() == 0 ? "0" : fmt::format("{}ps/B", r.value()); }
std::string show_value(std::int64_t n) { return fmt::format("{}", n); }
std::string show_value(bool on) { return on ? "on" : "off"; }
std::string show_value(Forwarding f) {
  return f == Forwarding::cut_through ? "cut-through" : "store-and-forward";
}
std::string show_value(InputOrder o) { return o == InputOrder::fcfs ? "fcfs" : "round-robin"; }
std::string show_value(LaneOrder o) { return o == LaneOrder::fcfs ? "fcfs" : "tables"; }
std::string show_value(const LaneTable& table) {
  std::string text;
  for (const LaneWeight& w : table) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", w.lane, w.weight);
  return text;
}
std::string show_value(const std::vector<InjectionDelay>& table) {
  std::string text;
  for (const InjectionDelay& d : table)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", d.shift, d.multiplier);
  return text.empty() ? "0:0,0:1,0:2,..." : text;
}

template <auto Member>
constexpr SettingRow row(std::string_view key, std::string_view value, std::string_view help) {
  return {key, value, help, [](Settings& s, std::string_view text) { parse_value(s.*Member, text); },
          [](const Settings& s) { return show_value(s.*Member); }};
}

using S = Settings;
constexpr std::array<SettingRow, 32> rows{
    {row<&S::mtu>("mtu", "BYTES", "payload of a packet: 256, 512, 1024, 2048, 4096"),
     row<&S::packet_header>("packet-header", "BYTES", "of each packet: LRH, BTH and two checksums"),
     row<&S::message_header>("message-header", "BYTES", "more in the first packet; RDMA writes have 16"),
     row<&S::minimum_message>("minimum-message", "BYTES", "smaller messages count as this"),
     row<&S::switch_delay>("switch-delay", "TIME", "routing and arbitration, from head in to head out"),
     row<&S::forwarding>("forwarding", "NAME", "cut-through or store-and-forward"),
     row<&S::header_wait>("header-wait", "BYTES", "that must be in before the switch delay starts"),
     row<&S::input_order>("arbitration", "NAME", "of inputs that want one output: fcfs or round-robin"),
     row<&S::lanes>("lanes", "N", "data lanes of each link; 0: as many as the tables use"),
     row<&S::lane_order>("lane-arbitration", "NAME", "of lanes that want one link: tables or fcfs"),
     row<&S::high_table>("high-table", "LANE:WEIGHT,...", "lanes of high priority; weights in 64 bytes"),
     row<&S::low_table>("low-table", "LANE:WEIGHT,...", "lanes of low priority"),
     row<&S::high_limit>("high-limit", "N",
                         "x 4096 bytes of high priority, then low has its turn; 255: none"),
     row<&S::switch_buffer>("switch-buffer", "BYTES", "of each input and lane of a switch"),
     row<&S::adapter_buffer>("adapter-buffer", "BYTES", "of each lane of an adapter's input"),
     row<&S::credit_delay>("credit-delay", "TIME", "from room in a buffer to the packet that tells of it"),
     row<&S::credit_period>("credit-period", "TIME", "such packets leave at its multiples; 0: at any time"),
     row<&S::credit_packet>("credit-packet", "BYTES", "of a flow-control packet"),
     row<&S::send_overhead>("send-overhead", "TIME", "software at the sender, per message"),
     row<&S::send_per_byte>("send-per-byte", "COST", "software at the sender, per byte"),
     row<&S::receive_overhead>("receive-overhead", "TIME", "software at the receiver, per message"),
     row<&S::receive_per_byte>("receive-per-byte", "COST", "software at the receiver, per byte"),
     row<&S::congestion_control>("congestion-control", "on|off", "marks, notices, slower senders"),
     row<&S::cc_threshold>("cc-threshold", "N", "0 (no marks) to 15 (the soonest)"),
     row<&S::cc_marking_rate>("cc-marking-rate", "N", "packets without a mark between two marks"),
     row<&S::cc_minimum_packet>("cc-packet-size", "BYTES", "smaller packets get no mark"),
     row<&S::ccti_increase>("ccti-increase", "N", "steps in the table for each notice"),
     row<&S::ccti_limit>("ccti-limit", "N", "highest index in the table"),
     row<&S::ccti_minimum>("ccti-min", "N", "lowest index in the table"),
     row<&S::ccti_timer>("ccti-timer", "TIME", "after which the index falls by one"),
     row<&S::cc_table>("cc-table", "SHIFT:MULT,...", "delays in packet times: MULT / 2^SHIFT"),
     row<&S::trains>("trains", "N", "packets from which a message on an idle path is one train; 0: never")}};

[[noreturn]] void refuse_key(std::string_view key, std::string expected, std::string found) {
  throw Error({.operation = fmt::format("infiniband.{}", key),
               .expected = std::move(expected),
               .found = std::move(found)});
}

void check_range(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    refuse_key(key, fmt::format("{} to {}", least, most), fmt::format("{}", value));
}

void check_times(const Settings& s) {
  const std::array<std::pair<std::string_view, Duration>, 5> times{
      {{"switch-delay", s.switch_delay},
       {"credit-delay", s.credit_delay},
       {"credit-period", s.credit_period},
       {"send-overhead", s.send_overhead},
       {"receive-overhead", s.receive_overhead}}};
  for (const auto& [key, time] : times)
    if (time < Duration{0} || time > std::chrono::hours(1))
      refuse_key(key, "0 to one hour", format_duration(time));
  if (s.bin < Duration{0}) refuse_key("bin", "a time", format_duration(s.bin));
  if (s.congestion_control && s.ccti_timer <= Duration{0})
    refuse_key("ccti-timer", "more than 0", format_duration(s.ccti_timer));
}

void check_lanes(const Settings& s, int lanes) {
  check_range("lanes", s.lanes, 0, most_lanes);
  if (s.lanes != 0 && s.lanes < lanes)
    refuse_key("lanes", fmt::format("{} or more, which the tables use", lanes), fmt::format("{}", s.lanes));
  if (s.lane_order != LaneOrder::tables) return;
  for (int lane = 0; lane < std::max<int>(lanes, static_cast<int>(s.lanes)); lane++) {
    const auto serves = [lane](const LaneWeight& w) { return w.lane == lane && w.weight > 0; };
    if (!std::any_of(s.high_table.begin(), s.high_table.end(), serves) &&
        !std::any_of(s.low_table.begin(), s.low_table.end(), serves))
      refuse_key("low-table", fmt::format("a weight of lane {} here or in high-table", lane), "none");
  }
}

}  // namespace

std::span<const SettingRow> setting_rows() { return rows; }

void set(Settings& settings, std::string_view key, std::string_view value) {
  constexpr std::string_view prefix = "infiniband.";
  std::string_view name = key;
  if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  for (const SettingRow& r : rows) {
    if (r.key != name) continue;
    try {
      return r.parse(settings, value);
    } catch (const std::exception& e) {
      throw Error({.operation = fmt::format("infiniband.{}", name), .problem = e.what()});
    }
  }
  std::vector<std::string> names;
  for (const SettingRow& r : rows) names.push_back(fmt::format("infiniband.{}", r.key));
  const std::string near = nearest(fmt::format("infiniband.{}", name), names);
  throw Error({.operation = std::string(key),
               .problem = "unknown parameter",
               .remedy = near.empty() ? "see simnet --help" : "did you mean " + near + "?"});
}

void check(const Settings& s, int lanes) {
  constexpr std::int64_t most_credit = 2048 * 64;  // 12-bit counters: half of their range
  if (s.mtu != 256 && s.mtu != 512 && s.mtu != 1024 && s.mtu != 2048 && s.mtu != 4096)
    refuse_key("mtu", "256, 512, 1024, 2048 or 4096", fmt::format("{}", s.mtu));
  check_range("packet-header", s.packet_header, 1, 1024);
  check_range("message-header", s.message_header, 0, 1024);
  check_range("minimum-message", s.minimum_message, 0, std::int64_t{1} << 40);
  check_range("header-wait", s.header_wait, 0, s.packet_header);
  check_range("credit-packet", s.credit_packet, 0, 64);
  check_range("high-limit", s.high_limit, 0, 255);
  const std::int64_t packet = (s.mtu + s.packet_header + s.message_header + 63) / 64 * 64;
  check_range("switch-buffer", s.switch_buffer, packet, most_credit);
  check_range("adapter-buffer", s.adapter_buffer, packet, most_credit);
  check_range("cc-threshold", s.cc_threshold, 0, 15);
  check_range("cc-marking-rate", s.cc_marking_rate, 0, 65535);
  check_range("ccti-limit", s.ccti_limit, 0, s.cc_table.empty() ? 65535 : std::ssize(s.cc_table) - 1);
  check_range("ccti-min", s.ccti_minimum, 0, s.ccti_limit);
  check_range("ccti-increase", s.ccti_increase, 0, 255);
  check_times(s);
  check_lanes(s, lanes);
}

}  // namespace simreplay::infiniband
