#pragma once
// The network models that machines can name with `network.model`, beside those without contention
// (cost_model.hpp). A new model is a folder and a row in models.cpp.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "common/machine.hpp"
#include "replay/network/network.hpp"

namespace simreplay::network {

struct ModelRow {
  std::string_view name;
  /// Of the machine file, with prefix.
  std::vector<NetworkKey> (*keys)();
  /// Collective: for machines with this many nodes in use; node i is host i. Throws SharedFailure.
  std::unique_ptr<Network> (*make)(const Machine& machine, std::int32_t nodes, MPI_Comm comm);
};

std::span<const ModelRow> models();

/// Makes the models known to machine files and command lines. Call once, before any is read.
void register_models();

/// The network of this machine; null if its messages do not disturb each other. As ModelRow::make.
std::unique_ptr<Network> make(const Machine& machine, std::int32_t nodes, MPI_Comm comm);

}  // namespace simreplay::network
