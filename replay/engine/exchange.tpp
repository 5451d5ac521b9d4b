#pragma once

#include "replay/engine/exchange.hpp"

#include <algorithm>
#include <cstring>

namespace simreplay::engine {
template <class Clock>
Exchange<Clock>::Exchange(MPI_Comm comm) : comm_(comm) {
  int size = 1;
  MPI_Comm_size(comm_, &size);
  outgoing_.resize(static_cast<std::size_t>(size));
  if (size > 1)
    for (Incoming& in : incoming_) {
      in.batch = std::make_unique<Batch>();
      post(in);
    }
}

template <class Clock>
Exchange<Clock>::~Exchange() {
  for (Incoming& in : incoming_)
    if (in.request != MPI_REQUEST_NULL) {
      MPI_Cancel(&in.request);
      MPI_Wait(&in.request, MPI_STATUS_IGNORE);
    }
  reclaim();
  // After a failure a batch may never be received: MPI keeps it, and so do we.
  for (InFlight& out : in_flight_) {
    MPI_Request_free(&out.request);
    static_cast<void>(out.batch.release());
  }
}

template <class Clock>
void Exchange<Clock>::post(Incoming& in) {
  MPI_Irecv(in.batch->data(), static_cast<int>(sizeof(Batch)), MPI_BYTE, MPI_ANY_SOURCE, batch_tag, comm_,
            &in.request);
}

template <class Clock>
std::uint32_t Exchange<Clock>::open(int rank, const Envelope& e) {
  const auto [channel, is_new] = index_.intern(e);
  if (!is_new) return channel;
  Outgoing& out = outgoing_[static_cast<std::size_t>(rank)];
  const std::uint32_t number = out.channels++;
  remote_.push_back({rank, number});
  if (out.records + 2 > batch_records) send(rank);  // both records travel together
  Record envelope{};
  std::memcpy(static_cast<void*>(&envelope), &e, sizeof e);
  append(rank, {number | announces, Kind::eager, {}});
  append(rank, envelope);
  return channel;
}

template <class Clock>
void Exchange<Clock>::start_batch(int rank) {
  Outgoing& out = outgoing_[static_cast<std::size_t>(rank)];
  if (spare_.empty()) reclaim();
  if (spare_.empty()) {
    out.batch = std::make_unique<Batch>();
  } else {
    out.batch = std::move(spare_.back());
    spare_.pop_back();
  }
  out.records = 0;
  open_ranks_.push_back(rank);
}

template <class Clock>
void Exchange<Clock>::send(int rank) {
  Outgoing& out = outgoing_[static_cast<std::size_t>(rank)];
  if (!out.batch) return;
  in_flight_.push_back({MPI_REQUEST_NULL, std::move(out.batch)});
  MPI_Isend(in_flight_.back().batch->data(), static_cast<int>(out.records * sizeof(Record)), MPI_BYTE, rank,
            batch_tag, comm_, &in_flight_.back().request);
  out.records = 0;
  balance_++;
  open_ranks_.erase(std::ranges::find(open_ranks_, rank));
}

template <class Clock>
void Exchange<Clock>::flush() {
  while (!open_ranks_.empty()) send(open_ranks_.back());
  reclaim();
}

template <class Clock>
void Exchange<Clock>::reclaim() {
  for (std::size_t i = 0; i < in_flight_.size();) {
    int done = 0;
    MPI_Test(&in_flight_[i].request, &done, MPI_STATUS_IGNORE);
    if (!done) {
      i++;
      continue;
    }
    spare_.push_back(std::move(in_flight_[i].batch));
    in_flight_[i] = std::move(in_flight_.back());
    in_flight_.pop_back();
  }
}

template <class Clock>
bool Exchange<Clock>::comes_soon() const {
  constexpr int looks = 64;
  int done = 0;
  if (next_batch() == MPI_REQUEST_NULL) return false;
  for (int i = 0; i < looks && !done; i++) MPI_Request_get_status(next_batch(), &done, MPI_STATUS_IGNORE);
  return done != 0;
}

template <class Clock>
bool Exchange<Clock>::receive() {
  Incoming& in = incoming_[head_];
  if (in.request == MPI_REQUEST_NULL) return false;
  int done = 0;
  MPI_Status status;
  MPI_Test(&in.request, &done,
           &status);  // in the order of posting, so that batches of one rank stay in order
  if (!done) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  received_records_ = static_cast<std::size_t>(bytes) / sizeof(Record);
  received_from_ = status.MPI_SOURCE;
  std::memcpy(received_.data(), in.batch->data(), static_cast<std::size_t>(bytes));
  balance_--;
  post(in);
  head_ = (head_ + 1) % posted;
  return true;
}

}  // namespace simreplay::engine
