#pragma once
// What shared Ethernet has seen of a run.

#include <span>

#include "replay/network/ethernet/domain.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

/// Of all domains, in their order.
network::Report report_of(std::span<const DomainFigures> domains);

}  // namespace simreplay::ethernet
