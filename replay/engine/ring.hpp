#pragma once
// The service ring: one token goes rank -> rank + 1 -> ... -> 0. It finds out when no rank has work and no
// message is on its way (Safra's algorithm, EWD 998), and carries the word that a rank has failed.

#include <mpi.h>

#include <cstdint>

namespace simreplay::engine {

class Ring {
 public:
  explicit Ring(MPI_Comm comm);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  enum class Verdict : std::uint8_t { going, ended, failed };

  /// A batch was received: the round under way proves nothing.
  void received() { black_ = true; }
  /// Call while this rank has nothing to do. `balance`: batches sent minus received here.
  Verdict pass(std::int64_t balance, bool failed);
  MPI_Request next_token() const { return incoming_; }

 private:
  struct Token {
    std::int64_t balance = 0;
    std::int64_t black = 0, failed = 0, stop = 0;
  };
  void send(const Token& token);
  void post();

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  bool black_ = true, holds_ = false;
  Token held_, arriving_, leaving_;
  MPI_Request incoming_ = MPI_REQUEST_NULL, outgoing_ = MPI_REQUEST_NULL;
};

}  // namespace simreplay::engine
