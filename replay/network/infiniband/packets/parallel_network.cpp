#include "replay/network/infiniband/packets/parallel_network.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/error.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::infiniband {
namespace {

constexpr int handover_tag = 1;

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &own);
  return own;
}

MPI_Datatype record_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Handover), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Ports have figures on one rank only, so a sum gathers them.
void sum_ports(std::vector<PortFigures>& ports, MPI_Comm comm) {
  static_assert(sizeof(PortFigures) == 5 * sizeof(std::int64_t));
  std::vector<PortFigures> all(ports.size());
  MPI_Reduce(ports.data(), all.data(), static_cast<int>(5 * ports.size()), MPI_INT64_T, MPI_SUM, 0, comm);
  ports.swap(all);
}

void sum_bins(std::vector<std::vector<std::int64_t>>& bins, MPI_Comm comm) {
  for (std::vector<std::int64_t>& own : bins) {
    auto most = static_cast<std::int64_t>(own.size());
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
    if (most == 0) continue;
    own.resize(static_cast<std::size_t>(most), 0);
    std::vector<std::int64_t> all(own.size());
    MPI_Reduce(own.data(), all.data(), static_cast<int>(most), MPI_INT64_T, MPI_SUM, 0, comm);
    own.swap(all);
  }
}

}  // namespace

ParallelNetwork::ParallelNetwork(MPI_Comm comm, const Fabric& fabric, const Tables& tables,
                                 const Settings& settings)
    : fabric_(fabric),
      comm_(duplicate(comm)),
      record_(record_type()),
      network_(fabric, tables, settings, divide(fabric, size_of(comm)), rank_in(comm)),
      bounds_(network_.bounds()) {
  find_neighbors();
}

void ParallelNetwork::find_neighbors() {
  const int me = rank_in(comm_.get()), ranks = size_of(comm_.get());
  neighbors_ = network_.parts().neighbors(fabric_, me);
  if (network_.settings().congestion_control) {  // notices go from any rank to any other
    neighbors_.clear();
    for (int r = 0; r < ranks; r++)
      if (r != me) neighbors_.push_back(r);
  }
  neighbor_of_part_.assign(static_cast<std::size_t>(ranks), -1);
  for (std::size_t i = 0; i < neighbors_.size(); i++)
    neighbor_of_part_[static_cast<std::size_t>(neighbors_[i])] = static_cast<int>(i);
  outgoing_.resize(neighbors_.size());
}

void ParallelNetwork::advance(TimePoint until) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  network_.advance(until);
}

void ParallelNetwork::run(TimePoint until) {
  for (;;) {
    std::int64_t next = next_event().time_since_epoch().count();
    MPI_Allreduce(MPI_IN_PLACE, &next, 1, MPI_INT64_T, MPI_MIN, comm_.get());
    const TimePoint from{Duration{next}};
    if (from >= until) break;
    advance(std::min(until, network_.window_end(from)));
    exchange();
    windows_++;
  }
  if (until != EventQueue::never) advance(until);
}

/// A rank that fails still answers its neighbors: they must not wait for it in vain. It says so in its next
/// advance().
void ParallelNetwork::exchange() {
  if (neighbors_.empty()) return;
  send_handovers();
  for (const int from : neighbors_) receive_handovers(from);
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void ParallelNetwork::send_handovers() {
  for (auto& list : outgoing_) list.clear();
  for (const Handover& h : network_.take_handovers())
    outgoing_[static_cast<std::size_t>(neighbor_of_part_[static_cast<std::size_t>(h.part)])].push_back(h);
  requests_.assign(neighbors_.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < neighbors_.size(); i++)
    MPI_Isend(outgoing_[i].data(), static_cast<int>(outgoing_[i].size()), record_.get(), neighbors_[i],
              handover_tag, comm_.get(), &requests_[i]);
}

void ParallelNetwork::receive_handovers(int from) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Mprobe(from, handover_tag, comm_.get(), &message, &status);
  int records = 0;
  MPI_Get_count(&status, record_.get(), &records);
  incoming_.resize(static_cast<std::size_t>(records));
  MPI_Mrecv(incoming_.data(), records, record_.get(), &message, MPI_STATUS_IGNORE);
  try {
    for (const Handover& h : incoming_) network_.accept(h);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

Figures ParallelNetwork::gather_figures() const {
  Figures all = network_.figures();
  const MPI_Comm comm = comm_.get();
  sum_ports(all.ports, comm);
  sum_bins(all.busy_ps, comm);
  std::array<std::int64_t, 2> sums{all.messages, all.bytes};
  std::int64_t end = all.end.time_since_epoch().count();
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, all.latency.counts().data(), static_cast<int>(all.latency.counts().size()),
                MPI_INT64_T, MPI_SUM, comm);
  all.messages = sums[0];
  all.bytes = sums[1];
  all.end = TimePoint{Duration{end}};
  return all;
}

void ParallelNetwork::check_progress() {
  together(comm_.get(), [this] {
    if (const std::string text = network_.stuck(); !text.empty())
      throw Error({.operation = "deadlock",
                   .problem = text,
                   .remedy = "choose a routing whose check finds no circle"});
  });
}

}  // namespace simreplay::infiniband
