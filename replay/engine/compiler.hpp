#pragma once
// From signatures to steps: done once per signature, so that the interpreter only adds and compares.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/trace/reader.hpp"
#include "replay/collectives/algorithms.hpp"
#include "replay/engine/channels.hpp"
#include "replay/engine/groups.hpp"
#include "replay/engine/placement.hpp"
#include "replay/engine/step.hpp"
#include "replay/network/cost_model.hpp"
#include "replay/observe/metrics.hpp"

namespace simreplay::engine {

/// Gives the number under which a sender addresses a channel, wherever its receiver lives.
class Directory {
 public:
  virtual ~Directory() = default;
  virtual std::uint32_t channel_to(const Envelope& e) = 0;    // used by the sender
  virtual std::uint32_t channel_from(const Envelope& e) = 0;  // used by the receiver; always local
};

/// What calls of a signature do.
class Call {
 public:
  Call(std::uint32_t first_step, trace::Recording recording, std::uint32_t messages)
      : first(first_step), messages_and_recording_(messages << 8 | static_cast<std::uint32_t>(recording)) {}
  Call() = default;
  std::uint32_t first = 0;  // of its steps; they end where those of the next begin
  std::size_t recording() const { return messages_and_recording_ & 0xff; }
  std::uint32_t messages() const { return messages_and_recording_ >> 8; }  // point-to-point, that it sends
  static constexpr std::uint32_t most_messages = (1U << 24) - 1;

 private:
  std::uint32_t messages_and_recording_ = 0;
};

/// What of a segment is not steps.
struct ProgramFacts {
  std::vector<Op> ops;
  std::vector<observe::Mark> marks;
  std::vector<std::uint16_t> thread, overlaps;  // empty where only one thread calls MPI
};

/// The steps of one segment. One more call than there are signatures ends the last.
struct Program : ProgramFacts {
  std::vector<Call> calls;
  std::vector<Step> steps;
  std::uint32_t slots = 0;  // request slots in use: numbers below this
};

/// That recording adds to the gap after a call, by trace::Recording; `free` too.
using Overheads = std::array<std::int64_t, trace::recording_kinds + 1>;

class Compiler {
 public:
  /// Of the machine counts what decides on steps: eager limits, algorithms, which nodes the processes are on.
  /// Throws Error if it names an algorithm that does not exist.
  /// `in_order`: receives are posted before they are waited for, and accesses to windows name their target.
  Compiler(const trace::Reader& trace, const Machine& machine, const Placement& placement,
           Directory& directory, bool in_order);

  Program compile(std::int32_t process, const trace::SignatureTable& table);
  const network::CostClasses& costs() const { return costs_; }
  std::uint32_t receive_cost(const Envelope& e, std::int64_t bytes);

 private:
  struct Target;
  void compile_call(const trace::Signature& s, Target& to);
  void find_left_out();
  bool is_left_out(std::int64_t process) const;
  bool meets_left_out(const trace::Signature& s, Verb verb) const;
  void compile_alone(const trace::Signature& s, Target& to);
  [[noreturn]] void refuse_strangers(const trace::Signature& s, const Target& to) const;
  void compile_send(const trace::Signature& s, Target& to);
  void compile_receive(const trace::Signature& s, Target& to);
  void compile_exchange(const trace::Signature& s, Target& to);
  /// Where a send that waits for its receive hears of it; nowhere for eager ones.
  struct Answer {
    bool comes;
    std::uint32_t cost, channel;
  };
  Answer add_send(const Envelope& e, std::int64_t bytes, bool synchronous, Target& to);
  void add_receive(const Envelope& e, std::int64_t bytes, std::uint16_t flags, Target& to);
  std::uint32_t channel_of_receive(Envelope e, std::uint16_t flags);
  void add_message(const collectives::Message& m, const Envelope& sent, const Envelope& received, Target& to);
  void compile_launch(const trace::Signature& s, Target& to);
  void compile_neighbors(const trace::Signature& s, Target& to);
  void compile_epoch(const trace::Signature& s, Target& to);
  void compile_access(const trace::Signature& s, network::Access kind, Target& to);
  void compile_fence(const trace::Signature& s, Target& to);
  void compile_io(const trace::Signature& s, Target& to);
  template <class Body>
  void beside(const trace::Signature& s, Target& to, Body&& body);
  void compile_completion(const trace::Signature& s, Target& to);
  void compile_mark(const trace::Signature& s, Target& to);
  void compile_timed(const trace::Signature& s, Target& to);
  void find_timers();
  void compile_collective(const trace::Signature& s, Target& to);
  void compile_rounds(const trace::Signature& s, const collectives::Algorithm& algorithm,
                      std::int32_t communicator, std::int64_t bytes, Target& to);
  void compile_between_groups(const trace::Signature& s, std::int32_t communicator, Target& to);
  template <class WorldRank>
  void add_messages(const trace::Signature& s, std::int32_t communicator, WorldRank&& world_rank, Target& to);
  std::uint32_t payment(const collectives::Message& m, std::int32_t communicator);
  bool on_one_node(std::int32_t communicator);
  std::span<const std::int64_t> blocks_of(const trace::Signature& s, int peers, bool is_root,
                                          const Target& to) const;
  void check_bytes(const trace::Signature& s, std::int64_t bytes, int peers, const Target& to) const;
  const Group& group(std::int32_t communicator);

  const trace::Reader& trace_;
  const Placement& placement_;
  Directory& directory_;
  bool in_order_, matching_is_simulated_;
  network::CostModel model_;
  network::CostClasses costs_;
  std::map<Op, const collectives::Algorithm*> algorithms_;
  std::vector<bool> left_out_, has_left_out_;       // processes, communicators; empty if nobody is
  std::vector<bool> has_strangers_;                 // communicators with processes of other programs
  std::map<Op, std::vector<std::int32_t>> timers_;  // metrics: timers that run during calls of the operation
  std::map<std::int32_t, Group> groups_;
  std::map<std::int32_t, bool> on_one_node_;  // communicators that were asked for
  Group self_;
  collectives::Rounds rounds_;
};

}  // namespace simreplay::engine
