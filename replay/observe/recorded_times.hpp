#pragma once
// How far the threads of a process were when it was recorded. The replay puts predicted times in the place of
// recorded ones, so those are added up before, where marks ask for them.

#include <cstdint>
#include <span>
#include <vector>

#include "common/mpi_ops.hpp"

namespace simreplay::observe {

/// The calls at hand of one process, column by column. Times in ticks.
struct Calls {
  std::span<const std::uint16_t> signature;
  std::span<const std::int64_t> computation, duration;
  std::span<const Op> operations;         // by signature
  std::span<const std::uint16_t> thread;  // by signature; empty if there is one
};

class RecordedTimes {
 public:
  explicit RecordedTimes(std::int64_t tick_ps = 1) : tick_ps_(tick_ps) {}

  /// Since the start of a thread, in ps: all time but that in MPI_Init and MPI_Finalize, and that between
  /// calls.
  struct Times {
    std::int64_t all = 0, between_calls = 0;
  };

  /// The next calls of the process are at hand.
  void read(const Calls& calls) {
    entered_.clear();
    threads_of_.clear();
    for (std::size_t i = 0; i < calls.signature.size(); i++) {
      const std::uint16_t signature = calls.signature[i];
      const std::uint16_t number = calls.thread.empty() ? 0 : calls.thread[signature];
      Times& now = thread(number);
      now.all += calls.computation[i] * tick_ps_;
      now.between_calls += calls.computation[i] * tick_ps_;
      entered_.push_back(now);
      threads_of_.push_back(number);
      const Verb verb = info(calls.operations[signature]).verb;
      if (verb != Verb::start && verb != Verb::finish) now.all += calls.duration[i] * tick_ps_;
    }
  }

  /// When the call in this row was entered.
  const Times& entered(std::uint32_t row) const { return entered_[row]; }
  /// How far a thread came.
  Times end(std::uint16_t number) const { return number < threads_.size() ? threads_[number] : Times{}; }

  /// The calls from this row on were not made: threads came to where they would have entered them.
  void cut(std::uint32_t row) {
    for (std::size_t i = entered_.size(); i-- > row;) thread(threads_of_[i]) = entered_[i];
  }

 private:
  Times& thread(std::uint16_t number) {
    if (threads_.size() <= number) threads_.resize(number + std::size_t{1});
    return threads_[number];
  }

  std::int64_t tick_ps_;
  std::vector<Times> threads_;
  std::vector<Times> entered_;             // by row
  std::vector<std::uint16_t> threads_of_;  // by row
};

}  // namespace simreplay::observe
