#pragma once
// The packet-level model on the ranks of a communicator, each with a part of the fabric: windows from the
// earliest event anywhere to as far as no part can hear of another, then an exchange with neighbors. Time in
// which nothing happens is skipped.

#include <mpi.h>

#include <functional>
#include <vector>

#include "common/handles.hpp"
#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {

class ParallelNetwork {
 public:
  using OnArrival = std::function<void(const Arrival&)>;

  /// Collective. `on_arrival` is called on the rank that owns the destination, as soon as the arrival is
  /// certain: at or before its time, in no special order. Throws Error, on all ranks alike.
  ParallelNetwork(MPI_Comm comm, const Fabric& fabric, const Tables& tables, const Settings& settings,
                  OnArrival on_arrival);

  int rank_of(std::int32_t host) const { return network_.parts().of(fabric_.host(host)); }
  bool owns(std::int32_t host) const { return network_.owns(host); }
  int hosts() const { return network_.hosts(); }

  /// On the rank that owns the source; at or after the end of the last window.
  void inject(const Injection& injection);

  /// Collective: one window. `own_next` is when this rank may inject next without having heard of another
  /// arrival. Nothing from `limit` on is processed. Returns the end of the window, up to which all is done;
  /// `limit` if nothing was left to do before it.
  TimePoint window(TimePoint own_next, TimePoint limit);
  /// Collective: all that happens before `until`, without further injections before it.
  void advance(TimePoint until);

  /// Collective: the figures of all parts, on rank 0.
  Figures gather_figures() const;
  /// Collective: throws Error on all ranks if packets wait for each other for good, which can be seen when
  /// nothing happens any more.
  void check_progress();

  PacketNetwork& part() { return network_; }
  std::int64_t windows() const { return windows_; }

 private:
  struct FreeComm {
    using Handle = MPI_Comm;
    static Handle null() { return MPI_COMM_NULL; }
    static void free(Handle h) { MPI_Comm_free(&h); }
  };
  void report_arrivals();
  void exchange();
  void send_handovers();
  void receive_handovers(int from);

  const Fabric& fabric_;
  UniqueHandle<FreeComm> comm_;
  PacketNetwork network_;
  OnArrival on_arrival_;
  std::vector<int> neighbors_;
  std::vector<std::vector<Handover>> outgoing_;  // by neighbor
  std::vector<int> neighbor_of_part_;
  std::vector<MPI_Request> requests_;
  std::vector<Handover> incoming_;
  std::int64_t windows_ = 0;
};

}  // namespace simreplay::infiniband
