#pragma once
// The packet-level model on the ranks of a communicator, each with a part of the fabric. Ranks work through a
// window of time by themselves, then tell their neighbors what came out for them.

#include <mpi.h>

#include <exception>
#include <vector>

#include "common/handles.hpp"
#include "replay/network/infiniband/packets/network.hpp"
#include "replay/network/network.hpp"

namespace simreplay::infiniband {

class ParallelNetwork {
 public:
  /// Collective. Throws Error, on all ranks alike.
  ParallelNetwork(MPI_Comm comm, const Fabric& fabric, const Tables& tables, const Settings& settings);

  int rank_of(std::int32_t host) const { return network_.parts().of(fabric_.host(host)); }
  bool owns(std::int32_t host) const { return network_.owns(host); }
  int hosts() const { return network_.hosts(); }
  MPI_Comm comm() const { return comm_.get(); }
  const network::Bounds& bounds() const { return bounds_; }

  // As those of network::Network: a window on this rank, and the exchange behind it.
  void inject(const Injection& injection) { network_.inject(injection); }
  TimePoint next_event() { return network_.next_event(); }
  void advance(TimePoint until);
  void exchange();
  /// Of hosts of this rank, as soon as they are certain: at or before their time, in no special order.
  std::vector<Arrival> take_arrivals() { return network_.take_arrivals(); }
  std::string stuck() { return network_.stuck(); }

  /// Collective: all that happens before `until`, without further injections before it, in windows from the
  /// earliest event anywhere to as far as no part can hear of another.
  void run(TimePoint until);
  /// Collective: the figures of all parts, on rank 0.
  Figures gather_figures() const;
  /// Collective: throws Error on all ranks if packets wait for each other for good, which can be seen when
  /// nothing happens any more.
  void check_progress();

  PacketNetwork& part() { return network_; }
  std::int64_t windows() const { return windows_; }  // of run()

 private:
  struct FreeComm {
    using Handle = MPI_Comm;
    static Handle null() { return MPI_COMM_NULL; }
    static void free(Handle h) { MPI_Comm_free(&h); }
  };
  struct FreeType {
    using Handle = MPI_Datatype;
    static Handle null() { return MPI_DATATYPE_NULL; }
    static void free(Handle h) { MPI_Type_free(&h); }
  };
  void find_neighbors();
  void send_handovers();
  void receive_handovers(int from);

  const Fabric& fabric_;
  UniqueHandle<FreeComm> comm_;
  UniqueHandle<FreeType> record_;  // a Handover
  PacketNetwork network_;
  network::Bounds bounds_;
  std::vector<int> neighbors_;
  std::vector<std::vector<Handover>> outgoing_;  // by neighbor
  std::vector<int> neighbor_of_part_;
  std::vector<MPI_Request> requests_;
  std::vector<Handover> incoming_;
  std::exception_ptr failure_;  // of an exchange
  std::int64_t windows_ = 0;
};

}  // namespace simreplay::infiniband
