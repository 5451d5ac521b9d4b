#pragma once
// The parameters of the packet-level model. One table names them, with their help texts; the documentation
// (docs/models/infiniband.md) says where the defaults come from.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.hpp"

namespace simreplay::infiniband {

enum class Forwarding : std::uint8_t { cut_through, store_and_forward };
enum class InputOrder : std::uint8_t { fcfs, round_robin };  // of the inputs that want one output and lane
enum class LaneOrder : std::uint8_t { tables, fcfs };        // of the lanes that want one output

/// An entry of a table of lane arbitration; weights in units of 64 bytes.
struct LaneWeight {
  std::uint8_t lane = 0, weight = 0;
  friend bool operator==(const LaneWeight&, const LaneWeight&) = default;
};
using LaneTable = std::vector<LaneWeight>;

/// An entry of the congestion control table: a packet's time is multiplied and shifted right.
struct InjectionDelay {
  std::uint8_t shift = 0;
  std::uint16_t multiplier = 0;
  friend bool operator==(const InjectionDelay&, const InjectionDelay&) = default;
};

struct Settings {
  // Packets.
  std::int64_t mtu = 4096;
  std::int64_t packet_header = 26;  // LRH 8, BTH 12, ICRC 4, VCRC 2
  std::int64_t message_header = 0;  // of the first packet; 16 (RETH) for RDMA writes
  std::int64_t minimum_message = 0;
  // Switches.
  Duration switch_delay{100'000};
  Forwarding forwarding = Forwarding::cut_through;
  std::int64_t header_wait = 0;  // bytes that must be in before the switch delay starts
  InputOrder input_order = InputOrder::fcfs;
  // Lanes and credits.
  std::int64_t lanes = 0;  // 0: as many as the tables use
  LaneOrder lane_order = LaneOrder::tables;
  LaneTable high_table{{0, 4}};
  LaneTable low_table{{1, 4}, {2, 4}, {3, 4},  {4, 4},  {5, 4},  {6, 4},  {7, 4},
                      {8, 4}, {9, 4}, {10, 4}, {11, 4}, {12, 4}, {13, 4}, {14, 4}};
  std::int64_t high_limit = 0;         // in units of 4,096 bytes; 255: none
  std::int64_t switch_buffer = 65536;  // bytes of each input and lane
  std::int64_t adapter_buffer = 65536;
  Duration credit_delay{100'000};  // from room in a buffer to the packet that tells of it
  Duration credit_period{0};       // such packets leave at multiples of it; 0: at any time
  std::int64_t credit_packet = 8;
  // Software at both ends.
  Duration send_overhead{0}, receive_overhead{0};
  Ratio send_per_byte{}, receive_per_byte{};
  // Congestion control.
  bool congestion_control = false;
  std::int64_t cc_threshold = 15;      // 0 (no marks) to 15 (marks the soonest)
  std::int64_t cc_marking_rate = 0;    // packets that are not marked between two marks
  std::int64_t cc_minimum_packet = 0;  // bytes
  std::int64_t ccti_increase = 1, ccti_limit = 127, ccti_minimum = 0;
  Duration ccti_timer{150'000'000};
  std::vector<InjectionDelay> cc_table{};  // entry i; empty: entry i delays by i packet times
  // The simulation itself.
  std::int64_t trains = 8;  // packets from which a message on an idle path is computed as a whole; 0: never
  Duration bin{0};          // of utilisation over time; 0: none is kept
};

/// A row of the table of parameters. The key is written with the prefix "infiniband.".
struct SettingRow {
  std::string_view key, value, help;
  void (*parse)(Settings&, std::string_view);  // throws std::invalid_argument: expected and found
  std::string (*show)(const Settings&);
};

std::span<const SettingRow> setting_rows();

/// Throws Error: unknown keys with the nearest valid one, values out of their domain.
void set(Settings& settings, std::string_view key, std::string_view value);

/// Throws Error: what does not fit together, in a fabric whose tables use `lanes` lanes.
void check(const Settings& settings, int lanes);

}  // namespace simreplay::infiniband
