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
  bool in_place = false;                   // MPI_IN_PLACE: alltoall and its forms then go another way
};

struct Message {
  enum class Kind : std::uint8_t {
    send,              // ends when the sender may go on: for an eager send, at once
    synchronous_send,  // ends when its receive has begun
    receive,           // ends when the message is there
    start_send,        // as send, but finish waits for its end
    start_receive,     // finish waits for the message
    finish,            // waits for everything started, in the order of start; has no peer
    // Of algorithms that do not simulate messages:
    signal,        // the time at the sender, at once and without cost
    await_signal,  // goes on no earlier than that
    pay_barrier,   // the machine's barrier overhead J
    pay_send,      // what a send costs its process
    pay_formula,   // `peer` is the number of the formula in Rounds::formulas()
  } kind;
  int peer = -1;
  std::int64_t bytes = 0;
};

/// Messages one after the other that lead to the end of a collective: their number, and their bytes together.
/// On a machine they take messages * alpha + bytes * beta (replay/network/alpha_beta.hpp).
struct CriticalPath {
  int messages = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};

/// The two textbook algorithms of an operation, for short and for long vectors. The faster one counts.
struct Formula {
  CriticalPath of_short, of_long;
  friend bool operator==(const Formula&, const Formula&) = default;
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
  void signal(int to) { messages_.push_back({Message::Kind::signal, to}); }
  void await_signal(int from) { messages_.push_back({Message::Kind::await_signal, from}); }
  void pay_barrier() { messages_.push_back({Message::Kind::pay_barrier}); }
  void pay_send(std::int64_t bytes) { messages_.push_back({Message::Kind::pay_send, -1, bytes}); }
  void pay(const Formula& formula) {
    messages_.push_back({Message::Kind::pay_formula, static_cast<int>(formulas_.size())});
    formulas_.push_back(formula);
  }
  void clear() {
    messages_.clear();
    formulas_.clear();
    started_ = false;
  }
  std::span<const Message> messages() const { return messages_; }
  std::span<const Formula> formulas() const { return formulas_; }

 private:
  void start(const Message& m) {
    messages_.push_back(m);
    started_ = true;
  }
  std::vector<Message> messages_;
  std::vector<Formula> formulas_;
  bool started_ = false;
};

using Generator = void(const Call&, Rounds&);

struct Algorithm {
  std::string_view name;
  std::string_view help;
  Generator* rounds;
  bool simulates_messages = true;  // else members wait for each other and pay what a formula says
};

/// Algorithms of an operation, its default first. Empty for operations that are not collective.
std::span<const Algorithm> algorithms(Op op);

/// The algorithm of that name, or the default for an empty name. Throws std::invalid_argument that lists
/// the valid ones.
const Algorithm& find(Op op, std::string_view name);

}  // namespace simreplay::collectives
