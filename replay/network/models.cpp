#include "replay/network/models.hpp"

#include <algorithm>
#include <string>

#include "replay/network/ethernet/shared_ethernet.hpp"
#include "replay/network/ethernet/switched_ethernet.hpp"
#include "replay/network/infiniband/model.hpp"

namespace simreplay::network {

std::span<const ModelRow> models() {
  static const std::vector<ModelRow> rows{
      {"ethernet", ethernet::switched_ethernet_keys, ethernet::make_switched_ethernet},
      {"infiniband", infiniband::machine_keys, infiniband::make_model},
      {"shared-ethernet", ethernet::shared_ethernet_keys, ethernet::make_shared_ethernet}};
  return rows;
}

void register_models() {
  for (const ModelRow& row : models()) register_network_model(std::string(row.name), row.keys());
}

std::unique_ptr<Network> make(const Machine& machine, std::int32_t nodes, MPI_Comm comm) {
  if (machine.network.empty()) return nullptr;
  const auto rows = models();
  return std::ranges::find(rows, machine.network, &ModelRow::name)->make(machine, nodes, comm);
}

}  // namespace simreplay::network
