#pragma once
// One recorded process while it is replayed.

#include <cstdint>
#include <vector>

#include "common/trace/format.hpp"
#include "common/units.hpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/window.hpp"

namespace simreplay::engine {

/// A request of the process. An eager send is complete at once; others complete when their message or answer comes.
struct Slot {
  static constexpr std::int64_t pending = -1;
  std::int64_t arrival_ps = 0;
  std::int64_t time_ps = 0;  // while pending: when it was posted; then: how long before the arrival the match was
  std::uint32_t cost = 0;
  std::uint32_t channel = 0;
};

/// What it adds up to. The parts are those of T = T_comp + T_comm + T_idle.
struct Account {
  Duration computation{}, waiting{}, recorded{};
  TimePoint end{};
  std::int64_t calls = 0, messages = 0;
  Duration communication() const { return end.time_since_epoch() - computation - waiting; }
};

struct VirtualProcessor {
  enum class Blocked : std::uint8_t { no, on_channel, on_slot };
  static constexpr std::uint32_t between_calls = ~std::uint32_t{0};

  std::int32_t process = 0;
  TimePoint now{}, entered{};
  TimePoint adapter_out{}, adapter_in{};  // free for the next message from then on
  Blocked blocked = Blocked::no;
  bool finished = false;
  bool complete = true;          // the recorded process reached MPI_Finalize
  std::uint32_t blocked_on = 0;  // channel or slot
  std::uint32_t row = 0;         // in the window
  std::uint32_t step = between_calls;
  Program program;
  std::vector<Slot> slots;
  Window window;
  Account account;

  trace::Segment segment;
  std::uint64_t next_row = 0;      // in /calls: the first that is not in the window
  std::uint64_t next_segment = 0, end_segment = 0;
  std::uint64_t first_call = 0;    // row of the process's first call
  std::int64_t overhead_ps = 0;
  Ratio slowdown;                // time here per recorded time of computation
};

}  // namespace simreplay::engine
