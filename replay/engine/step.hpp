#pragma once
// The few verbs to which every MPI call is reduced. A call is a run of steps; the interpreter in engine.cpp
// knows nothing else.

#include <cstdint>

namespace simreplay::engine {

enum class Code : std::uint8_t {
  advance,    // t += before + after
  elapse,     // t += the recorded duration of the call, as computation
  leave,      // the recorded duration of the call belongs to start-up or shutdown: left out
  send,       // t += before; the message arrives on `channel` at t + flight; t += after
  take,       // t += before; wait for the next message of `channel`; t += after
  look,       // wait for the next message of `channel`, leave it there
  post,       // t += before; `slot` will take the next message of `channel`
  fill,       // `slot` is complete at once
  wait,       // wait until `slot` is complete; t += after of its message
  release,    // `slot` is given up
};

/// 12 bytes: code and class of cost in one word, then what the code works on.
struct Step {
  std::uint32_t code_and_cost;
  std::uint32_t channel;
  std::uint32_t slot;

  static Step of(Code code, std::uint32_t cost = 0, std::uint32_t channel = 0, std::uint32_t slot = 0) {
    return {static_cast<std::uint32_t>(code) | cost << 4, channel, slot};
  }
  Code code() const { return static_cast<Code>(code_and_cost & 15U); }
  std::uint32_t cost() const { return code_and_cost >> 4; }
};

constexpr std::uint32_t cost_classes_at_most = 1U << 28;

}  // namespace simreplay::engine
