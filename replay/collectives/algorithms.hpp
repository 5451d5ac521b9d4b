#pragma once
// How collectives are made of messages: each algorithm says what one member sends and receives, in order.
// Structure and selection after Open MPI 4.1 (coll/tuned, coll/base, coll/basic): docs/models/collectives.md.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/mpi_ops.hpp"

namespace simreplay::collectives {

/// One collective call as a member sees it. Ranks are ranks in the communicator.
struct Call {
  int rank = 0, size = 1;
  int root = 0;
  std::int64_t bytes = 0;                  // docs/trace-format.md, per operation
  std::span<const std::int64_t> blocks{};  // the items of v and w forms where they list sizes, else empty
  bool commutative = true;                 // of a reduction's operation
};

struct Message {
  enum class Kind : std::uint8_t {
    send,              // ends when the sender may go on: for an eager send, at once
    synchronous_send,  // ends when its receive has begun
    receive,           // ends when the message is there
    start_send,        // as send, but finish waits for its end
    start_receive,     // finish waits for the message
    finish,            // waits for everything started, in the order of start; has no peer
  } kind;
  int peer = -1;
  std::int64_t bytes = 0;
};

/// The messages of one member.
class Rounds {
 public:
  void send(int to, std::int64_t bytes) { messages_.push_back({Message::Kind::send, to, bytes}); }
  void synchronous_send(int to, std::int64_t bytes) {
    messages_.push_back({Message::Kind::synchronous_send, to, bytes});
  }
  void receive(int from, std::int64_t bytes) { messages_.push_back({Message::Kind::receive, from, bytes}); }
  void start_send(int to, std::int64_t bytes) { start({Message::Kind::start_send, to, bytes}); }
  void start_receive(int from, std::int64_t bytes) { start({Message::Kind::start_receive, from, bytes}); }
  void finish() {
    if (started_) messages_.push_back({Message::Kind::finish});
    started_ = false;
  }
  /// As Open MPI exchanges inside collectives: the receive is posted, then the send is made.
  void exchange(int to, std::int64_t sent, int from, std::int64_t received) {
    start_receive(from, received);
    send(to, sent);
    finish();
  }
  void clear() {
    messages_.clear();
    started_ = false;
  }
  std::span<const Message> messages() const { return messages_; }

 private:
  void start(const Message& m) {
    messages_.push_back(m);
    started_ = true;
  }
  std::vector<Message> messages_;
  bool started_ = false;
};

using Generator = void(const Call&, Rounds&);

struct Algorithm {
  std::string_view name;
  std::string_view help;
  Generator* rounds;
  bool synchronises_only =
      false;  // its messages carry times but cost nothing; the barrier overhead J follows
};

/// Algorithms of an operation, its default first. Empty for operations that are not collective.
std::span<const Algorithm> algorithms(Op op);

/// The algorithm of that name, or the default for an empty name. Throws std::invalid_argument that lists
/// the valid ones.
const Algorithm& find(Op op, std::string_view name);

}  // namespace simreplay::collectives
