#pragma once
// The requests of one process: each call opens the smallest free slot, and each slot is closed once.

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/simtrace/channels.hpp"
#include "capture/simtrace/fault_log.hpp"
#include "common/mpi_ops.hpp"

namespace simreplay::simtrace {

/// Whether a call of this operation opens a request.
enum class Opens : std::uint8_t { never, may, must };
Opens opens(Op op);

class Requests {
 public:
  struct Open {
    bool is_open = false;
    bool receives = false;
    Op op = Op::count;
    std::uint64_t call = 0;
    std::optional<WrongSize> shortfall;  // fewer bytes recorded than sent: wrong if the receive completes
  };

  void open(const CallName& at, std::int64_t slot, bool receives, FaultLog& faults);
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
