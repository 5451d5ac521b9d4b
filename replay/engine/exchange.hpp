#pragma once
// Simulated send times on their way between ranks: many records in one MPI message.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "replay/engine/channels.hpp"

namespace simreplay::engine {

template <class Clock>
class Exchange {
 public:
  using Arrival = engine::Arrival<Clock>;

  explicit Exchange(MPI_Comm comm);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The channel `e` ends on `rank`: a number for put(). New ones are announced in order with the records.
  std::uint32_t open(int rank, const Envelope& e);
  void put(std::uint32_t channel, const Arrival& arrival) {
    const Remote& r = remote_[channel];
    append(r.rank, {r.number, arrival.kind, arrival.time, arrival.origin});
  }
  void flush();
  /// What was opened under this number, and the number by which the other rank knows it.
  const Envelope& envelope(std::uint32_t channel) const { return index_[channel]; }
  std::uint32_t number_there(std::uint32_t channel) const { return remote_[channel].number; }

  /// Takes one batch that has come, if any; unpack() then tells what it holds.
  bool receive();
  /// Waits for some microseconds; true if there is a batch.
  bool comes_soon() const;
  struct Announcement {
    int rank;
    std::uint32_t number;
    Envelope envelope;
  };
  /// Calls announce(Announcement) and arrive(rank, number, Arrival) in the order in which the sender made
  /// them.
  template <class Announce, class Arrive>
  void unpack(Announce&& announce, Arrive&& arrive) const;

  /// Batches sent minus batches received.
  std::int64_t balance() const { return balance_; }
  MPI_Request next_batch() const { return incoming_[head_].request; }
  MPI_Comm comm() const { return comm_; }

 private:
  /// 16 bytes for one machine. Announced channels are followed by their envelope in a record of its own.
  struct Record {
    std::uint32_t channel;  // number that the sender gave it; the top bit announces it
    Kind kind;
    typename Clock::Time time;
    [[no_unique_address]] typename Clock::Origin origin{};
  };
  // Just below Open MPI's eager limit for shared memory (4 KiB with its header): an eager message is copied
  // once and needs no answer.
  static constexpr std::size_t batch_records = 248 * 16 / sizeof(Record);
  static constexpr std::uint32_t announces = 1U << 31;
  static constexpr std::size_t posted = 32;
  static constexpr int batch_tag = 1;
  using Batch = std::array<Record, batch_records>;

  struct Remote {
    std::int32_t rank;
    std::uint32_t number;
  };
  struct Outgoing {
    std::unique_ptr<Batch> batch;
    std::size_t records = 0;
    std::uint32_t channels = 0;
  };
  struct Incoming {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<Batch> batch;
  };
  struct InFlight {
    MPI_Request request;
    std::unique_ptr<Batch> batch;
  };

  void append(int rank, const Record& record) {
    Outgoing& out = outgoing_[static_cast<std::size_t>(rank)];
    if (!out.batch) start_batch(rank);
    (*out.batch)[out.records++] = record;
    if (out.records == batch_records) send(rank);
  }
  void start_batch(int rank);
  void send(int rank);
  void post(Incoming& in);
  void reclaim();

  MPI_Comm comm_ = MPI_COMM_NULL;
  EnvelopeIndex index_;
  std::vector<Remote> remote_;  // by channel
  std::vector<Outgoing> outgoing_;
  std::vector<int> open_ranks_;  // with records waiting
  std::vector<InFlight> in_flight_;
  std::vector<std::unique_ptr<Batch>> spare_;
  std::array<Incoming, posted> incoming_;
  std::size_t head_ = 0;
  Batch received_;
  std::size_t received_records_ = 0;
  int received_from_ = 0;
  std::int64_t balance_ = 0;
};

template <class Clock>
template <class Announce, class Arrive>
void Exchange<Clock>::unpack(Announce&& announce, Arrive&& arrive) const {
  for (std::size_t i = 0; i < received_records_; i++) {
    const Record& r = received_[i];
    if (r.channel & announces) {
      Envelope e;
      static_assert(sizeof e <= sizeof(Record) && std::is_trivially_copyable_v<Record>);
      std::memcpy(&e, &received_[++i], sizeof e);
      announce(Announcement{received_from_, r.channel & ~announces, e});
    } else {
      arrive(received_from_, r.channel, Arrival{r.time, r.kind, r.origin});
    }
  }
}

}  // namespace simreplay::engine
