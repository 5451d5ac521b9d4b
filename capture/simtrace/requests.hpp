#pragma once
// The requests of one process: each call opens the smallest free slot, and each slot is closed once.

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/simtrace/fault_log.hpp"

namespace simreplay::simtrace {

class Requests {
 public:
  /// A message whose receive was recorded with fewer bytes: wrong if that receive completes.
  struct Shortfall {
    std::int64_t received = 0, sent = 0;
    std::int32_t sender = 0;
    std::uint64_t sending_call = 0;
  };
  struct Open {
    bool is_open = false;
    Op op = Op::count;
    std::uint64_t call = 0;
    std::optional<Shortfall> shortfall;
  };

  void open(const CallName& at, std::int32_t slot, FaultLog& faults);
  /// What was open; nothing, and a fault, if the slot is free.
  std::optional<Open> close(const CallName& at, std::int64_t slot, FaultLog& faults);
  /// A call that names a request without closing it.
  void expect_open(const CallName& at, std::int64_t slot, FaultLog& faults) const;
  /// The open request of the slot, if it was opened by this call.
  Open* opened_by(std::uint64_t call, std::int32_t slot);
  /// At the end of the process.
  void expect_none_open(std::int32_t process, FaultLog& faults) const;

 private:
  bool is_open(std::int64_t slot) const {
    return slot >= 0 && static_cast<std::uint64_t>(slot) < slots_.size() &&
           slots_[static_cast<std::size_t>(slot)].is_open;
  }

  std::vector<Open> slots_;
  std::size_t smallest_free_ = 0;
};

}  // namespace simreplay::simtrace
