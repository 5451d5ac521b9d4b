#pragma once
// How collectives are made of messages: each algorithm says what one member sends and receives, in order.
// Structure after Open MPI's coll/base and the usual texts (Thakur, Rabenseifner, Gropp 2005).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/mpi_ops.hpp"

namespace simreplay::collectives {

/// One collective call as a member sees it. Ranks are ranks in the communicator.
struct Call {
  int rank = 0, size = 1;
  int root = 0;
  std::int64_t bytes = 0;                 // docs/trace-format.md, per operation
  std::span<const std::int64_t> blocks{};  // v and w forms: the items
};

struct Message {
  enum class Way : std::uint8_t { send, receive } way;
  int peer;
  std::int64_t bytes;
};

/// The messages of one member. An exchange sends first: sends end at their sender.
class Rounds {
 public:
  void send(int to, std::int64_t bytes) { messages_.push_back({Message::Way::send, to, bytes}); }
  void receive(int from, std::int64_t bytes) { messages_.push_back({Message::Way::receive, from, bytes}); }
  void exchange(int to, std::int64_t sent, int from, std::int64_t received) {
    send(to, sent);
    receive(from, received);
  }
  void clear() { messages_.clear(); }
  std::span<const Message> messages() const { return messages_; }

 private:
  std::vector<Message> messages_;
};

struct Algorithm {
  std::string_view name;
  std::string_view help;
  void (*rounds)(const Call&, Rounds&);
  bool synchronises_only;  // its messages carry times but cost nothing; the barrier overhead J follows
};

/// Algorithms of an operation, its default first. Empty for operations that are not collective.
std::span<const Algorithm> algorithms(Op op);

/// The algorithm of that name, or the default for an empty name. Throws std::invalid_argument that lists
/// the valid ones.
const Algorithm& find(Op op, std::string_view name);

}  // namespace simreplay::collectives
