#pragma once
// Networks in which messages disturb each other. A model is told of messages when they leave and says when
// they arrive; it knows neither MPI calls nor traces. One folder per model; models.hpp lists them.
//
// The models run divided among the ranks of the simulator, in conservative windows. What is sent into a
// window depends at most on what arrived before it, so every rank may work through its part of the window by
// itself and tells the others afterwards.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/units.hpp"

namespace simreplay::network {

/// Times up to time_limit; hosts from 0; sizes not negative.
struct Message {
  TimePoint time{};     // the process hands it over
  std::int64_t id = 0;  // not given twice; messages of one host at the same time go in the order of ids
  std::int32_t source = 0, destination = 0;  // hosts, not the same
  std::int64_t bytes = 0;
  std::uint32_t payload = 0;  // given back with the arrival
};

struct Arrival {
  TimePoint time{};
  std::int64_t id = 0;
  std::int32_t source = 0, destination = 0;
  std::int64_t bytes = 0;
  std::uint32_t payload = 0;
  TimePoint injected{};  // when the process handed it over
  Duration held{};       // so long because of other messages
};

/// How far a rank may go without hearing of the others, and of what arrivals make processes do.
struct Bounds {
  /// What an event at t makes happen on another rank happens at t + lookahead or later.
  Duration lookahead = Duration::max();
  /// An event at t makes messages arrive at t + notice or later.
  Duration notice{};
  /// A message that is handed over at t has effects at t + entry or later.
  Duration entry{};

  /// The longest window, if processes answer an arrival with a message after `reaction` at the earliest.
  Duration window(Duration reaction = {}) const { return std::min(lookahead, notice + reaction + entry); }
};

/// What the model has seen of the whole run.
struct Report {
  std::string json;                // an object; empty: nothing to say
  std::vector<std::string> lines;  // for people
};

/// All times that the model can name lie before this one.
inline constexpr TimePoint never = TimePoint::max();

class Network {
 public:
  virtual ~Network() = default;

  /// The rank that hands over the messages of this host and hears what arrives there. The same on all ranks.
  virtual int rank_of(std::int32_t host) const = 0;
  /// The same on all ranks; none of them negative.
  virtual Bounds bounds() const = 0;

  /// Of a host of this rank; time + entry is not before the end of the last window. Throws Error.
  virtual void inject(const Message& message) = 0;
  /// When something will happen next on this rank; `never` if nothing will.
  virtual TimePoint next_event() = 0;
  /// Works through what happens on this rank before `until`. Throws Error.
  virtual void advance(TimePoint until) = 0;
  /// Collective: tells other ranks what came out for them. Must not throw.
  virtual void exchange() = 0;
  /// Of hosts of this rank, in no special order. After advance(until) and exchange() all arrivals before
  /// until + notice are known.
  virtual std::vector<Arrival> take_arrivals() = 0;

  /// When nothing will happen any more: what of this rank is stuck for ever; empty if nothing is.
  virtual std::string stuck() { return {}; }
  /// Collective; the report is on rank 0.
  virtual Report report() { return {}; }
};

}  // namespace simreplay::network
