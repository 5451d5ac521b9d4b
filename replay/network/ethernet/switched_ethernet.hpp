#pragma once
// Full-duplex Ethernet around one switch, "ethernet" in machine files: frames wait in the queues of adapters
// and of the switch's outputs (docs/models/ethernet.md). Hosts are dealt to ranks in blocks; the rank of the
// source simulates the link up, that of the destination the output and the link down.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "replay/network/ethernet/adapter.hpp"
#include "replay/network/ethernet/port.hpp"
#include "replay/network/ethernet/sparse_exchange.hpp"
#include "replay/network/ethernet/switched_settings.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

class SwitchedEthernet : public network::Network {
 public:
  /// Collective. Throws Error, on all ranks alike.
  SwitchedEthernet(const SwitchedSettings& settings, std::int32_t hosts, MPI_Comm comm);

  int rank_of(std::int32_t host) const override { return static_cast<int>(host * ranks_ / hosts_); }
  network::Bounds bounds() const override { return bounds_; }
  void inject(const network::Message& message) override;
  TimePoint next_event() override;
  void advance(TimePoint until) override;
  void exchange() override;
  std::vector<network::Arrival> take_arrivals() override;
  network::Report report() override;

 private:
  struct Event {
    TimePoint time;
    std::int32_t host;
    friend bool operator>(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.host > b.host;
    }
  };
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;
  struct Host {
    Adapter adapter;
    Port port;
  };
  Host& own(std::int32_t host) { return own_[static_cast<std::size_t>(host - first_)]; }
  void schedule(std::int32_t host);
  void send_before(TimePoint until);

  SwitchedSettings settings_;
  SparseExchange<Train> exchange_;
  std::int64_t ranks_ = 1, hosts_ = 1;
  network::Bounds bounds_;
  std::vector<Host> own_;
  std::int32_t first_ = 0;  // of its own hosts
  Events ready_;            // adapters; some of them out of date
  Events due_;              // ports
  std::vector<network::Arrival> arrivals_;
};

/// For machines that name this model.
std::vector<NetworkKey> switched_ethernet_keys();
std::unique_ptr<network::Network> make_switched_ethernet(const Machine& machine, std::int32_t nodes,
                                                         MPI_Comm comm);

}  // namespace simreplay::ethernet
