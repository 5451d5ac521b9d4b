#pragma once
// InfiniBand for replays: the row of network/models.cpp (docs/models/infiniband.md).

#include <cstdint>
#include <memory>
#include <vector>

#include "common/machine.hpp"
#include "replay/network/network.hpp"

namespace simreplay::infiniband {

/// "infiniband.KEY", of where the fabric comes from and of the model.
std::vector<NetworkKey> machine_keys();

/// Collective. Throws SharedFailure, on all ranks alike: no fabric, or one with too few hosts; tables that
/// have faults, unless they are to be used all the same; settings that do not fit together.
std::unique_ptr<network::Network> make_model(const Machine& machine, std::int32_t nodes, MPI_Comm comm);

}  // namespace simreplay::infiniband
