#pragma once
// Shared Ethernet, "shared-ethernet" in machine files: T = t_s + t_w L S, where S hosts compete
// (docs/models/ethernet.md). Each domain is simulated by one rank.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "replay/network/ethernet/domain.hpp"
#include "replay/network/ethernet/shared_settings.hpp"
#include "replay/network/ethernet/sparse_exchange.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

class SharedEthernet : public network::Network {
 public:
  /// Collective. Throws Error, on all ranks alike.
  SharedEthernet(const SharedSettings& settings, std::int32_t hosts, MPI_Comm comm);

  int rank_of(std::int32_t host) const override { return rank_of_domain(domain_of(host)); }
  network::Bounds bounds() const override;
  void inject(const network::Message& message) override;
  TimePoint next_event() override;
  void advance(TimePoint until) override;
  void exchange() override;
  std::vector<network::Arrival> take_arrivals() override;
  network::Report report() override;

 private:
  std::int32_t domain_of(std::int32_t host) const { return domain_of_host_[static_cast<std::size_t>(host)]; }
  int rank_of_domain(std::int64_t domain) const { return static_cast<int>(domain * ranks_ / domains_); }
  Domain& own(std::int32_t domain) { return own_[static_cast<std::size_t>(domain - first_)]; }

  SharedSettings settings_;
  SparseExchange<SwitchedFrame> exchange_;
  std::int64_t ranks_ = 1, domains_ = 1;
  std::vector<std::int32_t> domain_of_host_;
  std::vector<Domain> own_;
  std::int32_t first_ = 0;  // of its own domains
};

/// For machines that name this model.
std::vector<NetworkKey> shared_ethernet_keys();
std::unique_ptr<network::Network> make_shared_ethernet(const Machine& machine, std::int32_t nodes,
                                                       MPI_Comm comm);

}  // namespace simreplay::ethernet
