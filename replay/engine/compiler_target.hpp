#pragma once
// What the parts of the compiler share.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "replay/engine/compiler.hpp"

namespace simreplay::engine {

constexpr std::uint32_t most_slots = 1U << 24;

/// Where the steps of one call go, and whose call it is.
struct Compiler::Target {
  std::int32_t process;
  Program program;
  std::uint32_t messages = 0, scratch = 0;
  std::uint32_t first_scratch = most_slots;
  std::vector<std::uint32_t> started{};  // costs of what finish() waits for

  void add(Code code, std::uint32_t cost = 0, std::uint32_t channel = 0, std::uint32_t slot = 0) {
    program.steps.push_back(Step::of(code, cost, channel, slot));
  }
  void mark(const observe::Mark& mark) {
    add(Code::mark, 0, 0, static_cast<std::uint32_t>(program.marks.size()));
    program.marks.push_back(mark);
  }
  [[noreturn]] void refuse(const std::string& file, const trace::Signature& s, std::string problem) const {
    throw Error({.file = file,
                 .process = process,
                 .operation = std::string(info(s.op).name),
                 .problem = std::move(problem)});
  }
  /// What a call starts for itself: its slots are numbered behind those of the trace by settle().
  void listen(std::uint32_t cost, std::uint32_t channel) {
    add(Code::listen, cost, channel, first_scratch + static_cast<std::uint32_t>(started.size()));
    started.push_back(cost);
    if (first_scratch == most_slots) scratch = std::max(scratch, static_cast<std::uint32_t>(started.size()));
  }
  /// Posts a receive and waits for it, beside what is started.
  void receive(std::uint32_t cost, std::uint32_t channel) {
    const auto slots = static_cast<std::uint32_t>(started.size());
    add(Code::post, cost, channel, first_scratch + slots);
    add(Code::wait, 0, 1, first_scratch + slots);
    if (first_scratch == most_slots) scratch = std::max(scratch, slots + 1);
  }
  /// Waits for it, in the order in which it was started.
  void finish() {
    const std::size_t first = program.steps.size();
    for (std::uint32_t i = 0; i < started.size(); i++) wait(started[i], first_scratch + i, first);
    started.clear();
  }
  /// Waits for slots that follow each other are one step, from step `first` on.
  void wait(std::uint32_t cost, std::uint32_t slot, std::size_t first) {
    Step* const last = program.steps.size() > first ? &program.steps.back() : nullptr;
    if (last && last->cost() == cost && last->slot_after() == slot)
      last->channel++;
    else
      add(Code::wait, cost, 1, slot);
  }
  void settle() {
    for (Step& step : program.steps)
      if (step.slot >= most_slots && step.slot != no_slot) step.slot += program.slots - most_slots;
    program.slots += scratch;
  }
  std::uint32_t slot(const std::string& file, const trace::Signature& s, std::int64_t number) {
    if (number < 0 || number >= most_slots) refuse(file, s, fmt::format("names request {}", number));
    program.slots = std::max(program.slots, static_cast<std::uint32_t>(number) + 1);
    return static_cast<std::uint32_t>(number);
  }
};

}  // namespace simreplay::engine
