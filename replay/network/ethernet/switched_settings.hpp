#pragma once
// The parameters of switched Ethernet (docs/models/ethernet.md).

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"
#include "replay/network/ethernet/settings.hpp"

namespace simreplay::ethernet {

inline constexpr std::string_view switched_prefix = "ethernet.";

struct SwitchedSettings {
  Ratio rate{};          // of all links, ps/B
  std::string rates;     // a file of those of single hosts; "none"
  Duration cable{};      // from end to end
  Duration switching{};  // from the end of a frame to the output queue
  std::int64_t mtu = 0, overhead = 0;
  Duration send_overhead{}, receive_overhead{};
  bool trains = true;  // frames of a message are computed together

  /// Bytes of a frame with this payload, which is filled up to what a frame must have.
  std::int64_t wire_bytes(std::int64_t payload) const { return std::max(payload, least_payload) + overhead; }
  static constexpr std::int64_t least_payload = 46;
};

std::span<const SettingRow<SwitchedSettings>> switched_rows();

/// What a byte takes on the link of each host. Collective. Throws Error, on all ranks alike.
std::vector<Ratio> rates_of_hosts(const SwitchedSettings& settings, std::int32_t hosts, MPI_Comm comm);

}  // namespace simreplay::ethernet
