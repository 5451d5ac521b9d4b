#pragma once
// The few verbs to which every MPI call is reduced. A call is a run of steps; the interpreter in
// interpreter.tpp knows nothing else.

#include <cstdint>

#include "replay/network/cost_model.hpp"

namespace simreplay::engine {

enum class Code : std::uint8_t {
  advance,   // t += busy
  elapse,    // t += the recorded duration of the call, as computation or (`slot`) as work on files
  leave,     // the recorded duration of the call belongs to start-up or shutdown: left out
  send,      // a message leaves for `channel`; its protocol stands in `slot`
  start,     // an eager message leaves for `channel`, and `slot` is complete at once
  take,      // wait for the next message of `channel` and receive it
  hear,      // wait on `channel` for the word that a message was matched
  look,      // wait for the next message of `channel`, leave it there
  post,      // `slot` will receive the next message of `channel`; the prolog is paid now
  listen,    // the same without the prolog
  fill,      // `slot` is complete at once, or (`channel`) when the work on a file is done
  wait,      // wait until `slot` is complete, then pay for its message; so for `channel` slots in a row
  release,   // `slot` is given up
  fork,      // the next steps, as many as the class of cost says, go on beside the process, after what was
             // forked on communicator `channel` before; they complete `slot`
  transfer,  // an access to window `channel` begins; it completes `slot`, if that is one
  target,    // of the access before: process `channel`
  drain,     // wait for the accesses to window `channel`: until they are done, or (`slot`) at the origin
  mark,      // something is said about the program: mark `slot` of its process
};

constexpr std::uint32_t no_channel = ~std::uint32_t{0}, no_slot = ~std::uint32_t{0};

constexpr unsigned code_bits = 5, cost_shift = code_bits + 1;

/// 12 bytes: code and class of cost in one word, then what the code works on. The bit between them marks the
/// last step of a call.
struct Step {
  std::uint32_t code_and_cost;
  std::uint32_t channel;
  std::uint32_t slot;

  static Step of(Code code, std::uint32_t cost = 0, std::uint32_t channel = 0, std::uint32_t slot = 0) {
    return {static_cast<std::uint32_t>(code) | cost << cost_shift, channel, slot};
  }
  /// Of an eager send: the same for a request.
  Step starting(std::uint32_t request) const { return of(Code::start, cost(), channel, request); }
  /// Of a wait: the slot after its last.
  std::uint32_t slot_after() const { return slot + channel; }
  Code code() const { return static_cast<Code>(code_and_cost & ((1U << code_bits) - 1)); }
  std::uint32_t cost() const { return code_and_cost >> cost_shift; }
  void end_call() { code_and_cost |= 1U << code_bits; }
  bool ends_call() const { return (code_and_cost & 1U << code_bits) != 0; }
};

constexpr std::uint32_t cost_classes_at_most = 1U << (32 - cost_shift);
static_assert(network::CostClasses::at_most <= cost_classes_at_most);

}  // namespace simreplay::engine
