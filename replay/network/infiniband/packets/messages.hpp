#pragma once
// What goes into the model and comes out of it, and what parts of a divided fabric tell each other.

#include <cstdint>

#include "common/units.hpp"
#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

inline constexpr std::int32_t by_tables = -1;  // as a service level

struct Injection {
  TimePoint time{};                          // when the program sends
  std::int64_t id = 0;                       // not given twice; breaks ties
  std::int32_t source = 0, destination = 0;  // hosts from 0
  std::int64_t bytes = 0;
  std::int32_t level = by_tables;  // service level
  std::uint32_t payload = 0;       // given back with the arrival
};

struct Arrival {
  std::int64_t id = 0;
  std::int32_t source = 0, destination = 0;
  std::int64_t bytes = 0;
  TimePoint injected{}, time{};  // the program sends; the program has it
  Duration software{0};          // at both ends
  Duration adapter_wait{0};      // from the adapter's knowing of the message to its first bit on the cable
  Duration switch_wait{0};       // of the last packet, in the buffers of all switches
  std::uint32_t payload = 0;

  Duration latency() const { return time - injected; }
};

/// An event for another part: plain data that can go by MPI.
struct Handover {
  enum Kind : std::uint8_t { packet, credit, notice };
  TimePoint time{};
  Port place = nothing;  // packet: input port; credit: output port; notice: the port of the sending host
  std::int32_t part = 0;
  Kind kind = packet;
  std::uint8_t lane = 0, level = 0, flags = 0;
  std::uint16_t bytes = 0, blocks = 0;
  std::int32_t source = 0, destination = 0;  // hosts
  std::uint32_t payload = 0;                 // of a message's last packet, as all that follows but the wait
  Duration waited{0};
  std::int64_t id = 0, message_bytes = 0;
  TimePoint injected{};
  Duration software{0}, adapter_wait{0};
};

}  // namespace simreplay::infiniband
