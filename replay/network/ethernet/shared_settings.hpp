#pragma once
// The parameters of shared Ethernet (docs/models/ethernet.md).

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"
#include "replay/network/ethernet/settings.hpp"

namespace simreplay::ethernet {

inline constexpr std::string_view shared_prefix = "shared-ethernet.";

struct SharedSettings {
  Duration start{};                 // t_s
  Ratio per_byte{};                 // t_w
  std::string domains;              // a number, or a file
  Duration switch_delay{};          // between domains
  std::int64_t mtu = 0;             // payload of a frame
  std::int64_t frame_overhead = 0;  // bytes that go with it
};

std::span<const SettingRow<SharedSettings>> shared_rows();

/// The domain of each host, from 0. Collective. Throws Error, on all ranks alike.
std::vector<std::int32_t> domains_of_hosts(const SharedSettings& settings, std::int32_t hosts, MPI_Comm comm);

}  // namespace simreplay::ethernet
