#pragma once
// Records between ranks of which few have something for few others: each sends to those alone, and all learn
// together that everything has come (Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for
// Dynamic Sparse Data Exchange, PPoPP 2010).

#include <mpi.h>

#include <map>
#include <vector>

#include "common/handles.hpp"
#include "common/mpi_lists.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::ethernet {

template <class Record>
class SparseExchange {
 public:
  explicit SparseExchange(MPI_Comm comm) : type_(mpi_type_of<Record>()) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    comm_ = UniqueHandle<FreeComm>(own);
  }
  MPI_Comm comm() const { return comm_.get(); }

  void add(int rank, const Record& record) { outgoing_[rank].push_back(record); }

  /// Collective: calls take(record) for what any rank has added for this one, in no special order.
  template <class Take>
  void run(Take&& take) {
    if (const auto own = outgoing_.find(rank_in(comm())); own != outgoing_.end()) {
      for (const Record& record : own->second) take(record);
      outgoing_.erase(own);
    }
    if (size_of(comm()) > 1) run_between_ranks(take);
    outgoing_.clear();
  }

 private:
  struct FreeComm {
    using Handle = MPI_Comm;
    static Handle null() { return MPI_COMM_NULL; }
    static void free(Handle h) { MPI_Comm_free(&h); }
  };

  /// A synchronous send is complete when it has been received. So once all ranks have entered the barrier,
  /// nothing is on its way.
  template <class Take>
  void run_between_ranks(Take&& take) {
    send_all();
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool entered = false;
    for (int done = 0; !done;) {
      receive_one(take);
      if (entered) {
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        continue;
      }
      int sent = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE);
      if (!sent) continue;
      MPI_Ibarrier(comm(), &barrier);
      entered = true;
    }
    tag_ = 1 - tag_;  // ranks that know sooner may send for the next time already
  }

  void send_all() {
    requests_.clear();
    for (const auto& [rank, records] : outgoing_) {
      requests_.push_back(MPI_REQUEST_NULL);
      MPI_Issend(records.data(), static_cast<int>(records.size()), type_.get(), rank, tag_, comm(),
                 &requests_.back());
    }
  }

  template <class Take>
  void receive_one(Take&& take) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag_, comm(), &there, &message, &status);
    if (!there) return;
    int count = 0;
    MPI_Get_count(&status, type_.get(), &count);
    incoming_.resize(static_cast<std::size_t>(count));
    MPI_Mrecv(incoming_.data(), count, type_.get(), &message, MPI_STATUS_IGNORE);
    for (const Record& record : incoming_) take(record);
  }

  MpiType type_;
  UniqueHandle<FreeComm> comm_;
  std::map<int, std::vector<Record>> outgoing_;  // by rank
  std::vector<Record> incoming_;
  std::vector<MPI_Request> requests_;
  int tag_ = 0;
};

}  // namespace simreplay::ethernet
