#pragma once
// The line by which textbooks on collectives count: a message of n bytes takes alpha + n beta (Hockney, The
// Communication Challenge for MPP, Parallel Computing 20(3), 1994).

#include <cstdint>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::network {

/// alpha: an empty message from the begin of its send to the end of its receive, which waits for it.
/// beta: what lies on the same way per byte of a long message, ps/B.
class AlphaBeta {
 public:
  AlphaBeta(const MessageCosts& costs, Machine::Model model);

  /// messages * alpha + bytes * beta; each of the costs per byte is rounded up. Throws std::overflow_error.
  Duration of(int messages, std::int64_t bytes) const;

 private:
  Duration alpha_;
  Ratio sender_, way_, receiver_;  // parts of beta
};

}  // namespace simreplay::network
