#pragma once
// What switched Ethernet has seen of a run.

#include <cstdint>
#include <span>

#include "replay/network/ethernet/adapter.hpp"
#include "replay/network/ethernet/port.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

struct HostFigures {
  std::int32_t host = 0;
  Duration busy{};  // of the port: the hot ones come first
  AdapterFigures up;
  PortFigures down;
};

/// Of all hosts, in their order.
network::Report report_of(std::span<const HostFigures> hosts);

}  // namespace simreplay::ethernet
