#pragma once
// What a trace holds; docs/trace-format.md describes the file. A call is stored as a *signature* (what it
// was) and two times (computation before it, duration inside it). Programs that iterate have few distinct
// signatures, so a call costs two bytes and its times, and readers look a call up instead of decoding it.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/mpi_ops.hpp"
#include "common/units.hpp"

namespace simreplay::trace {

constexpr const char* format_name = "simreplay trace";
constexpr std::int64_t format_version = 1;

/// Rows of one segment address at most this many signatures (16-bit numbers); the next segment starts anew.
constexpr std::uint32_t signatures_per_segment = 1U << 16;

constexpr std::int32_t nobody = -1;   // peer of MPI_PROC_NULL, request of a call without one
constexpr std::int32_t anybody = -2;  // source or tag of a wildcard receive that never completed
constexpr std::int32_t world_id = 0;  // MPI_COMM_WORLD
constexpr std::int32_t self_id = 1;   // MPI_COMM_SELF: the calling process alone

enum Flag : std::uint16_t {
  any_source = 1 << 0,       // the receive (or probe) named MPI_ANY_SOURCE; peer is the real source
  any_tag = 1 << 1,          // it named MPI_ANY_TAG; tag is the real tag
  cancelled = 1 << 2,        // the receive or send was cancelled and takes part in no match
  nothing_found = 1 << 3,    // a test or probe without success; bytes = how many in a row were folded
  in_place = 1 << 4,         // MPI_IN_PLACE
  not_commutative = 1 << 5,  // the reduction's operation
  alone = 1 << 6,            // a collective of which the other members' calls are not in the trace
};

/// Whether all members of a communicator or window make the call, in the same order.
constexpr bool is_collective(Verb verb) {
  return verb == Verb::collective || verb == Verb::post_collective || verb == Verb::neighbors ||
         verb == Verb::post_neighbors || verb == Verb::create || verb == Verb::fence;
}

/// Messages of a channel at its beginning of which the trace has one end only, because recording began in the
/// midst of the program: positive, the first receives take messages whose sends are not in the trace;
/// negative, the receives of the first sends are not.
struct Skipped {
  std::int32_t source = 0, destination = 0, communicator = 0, tag = 0;
  std::int64_t messages = 0;
  friend bool operator==(const Skipped&, const Skipped&) = default;
};

/// What programs tell about themselves: regions of their code, counters and timers, by name.
enum class MetricKind : std::uint8_t { region, counter, timer, kinds };
struct Metric {
  MetricKind kind = MetricKind::region;
  std::string name;
  friend bool operator==(const Metric&, const Metric&) = default;
};

/// The kind of metric that a mark is about.
constexpr MetricKind metric_kind_of(Op mark) {
  switch (mark) {
    case Op::Counter_set:
    case Op::Counter_add:
      return MetricKind::counter;
    case Op::Timer_start:
    case Op::Timer_stop:
    case Op::Timer_while:
      return MetricKind::timer;
    default:
      return MetricKind::region;
  }
}

/// Operations by what it costs to record them. Of marks packing has taken the cost off already.
enum class Recording : std::uint8_t { message, request, completion, collective, local, kinds, free = kinds };
constexpr std::size_t recording_kinds = static_cast<std::size_t>(Recording::kinds);
constexpr std::array<const char*, recording_kinds> recording_names{"message", "request", "completion",
                                                                   "collective", "local"};

constexpr Recording recording_of(Op op) {
  switch (info(op).verb) {
    case Verb::post_send:
    case Verb::post_receive:
    case Verb::launch:
      return Recording::request;
    case Verb::complete:
    case Verb::release:
      return Recording::completion;
    case Verb::collective:
    case Verb::post_collective:
    case Verb::neighbors:
    case Verb::post_neighbors:
      return Recording::collective;
    case Verb::local:
      return Recording::local;
    case Verb::mark:
      return Recording::free;
    default:
      return Recording::message;
  }
}

/// Time that recording adds to the gap after a call, ps.
using Overheads = std::array<std::int64_t, recording_kinds>;

/// What a call was, without its times.
struct Signature {
  Op op = Op::count;
  std::uint16_t flags = 0;
  std::uint16_t thread = 0;    // of the process, in the order in which they first called MPI
  std::uint16_t overlaps = 0;  // calls of other threads just before it that ended after it began
  std::int32_t communicator = world_id;
  std::int32_t peer = nobody;             // world rank: destination, real source, or root
  std::int32_t tag = 0;                   // of a mark: the metric, by its row in /metrics
  std::int32_t request = nobody;          // slot the call opens: the smallest number free in its process
  std::int64_t bytes = 0;                 // see docs/trace-format.md per operation
  std::span<const std::int64_t> items{};  // meaning by info(op).items
};

/// Members of a communicator in rank order, as arithmetic runs of world ranks.
struct Members {
  struct Run {
    std::int32_t first = 0, stride = 1, count = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs;
  std::int32_t first_group = 0;  // of an intercommunicator: members that belong to the first group

  static Members of(std::span<const std::int32_t> world_ranks);
  static Members world(std::int32_t processes) { return {{{0, 1, processes}}}; }
  std::int64_t size() const;
  std::vector<std::int32_t> world_ranks() const;
  /// Whether processes of other programs are among them.
  bool has_strangers() const;
  friend bool operator==(const Members&, const Members&) = default;
};

/// Facts about the run as a whole; strings are for people.
struct Facts {
  std::string kind = "recorded";  // recorded, generated, imported, predicted
  std::string command;
  std::string mpi_library;
  std::string started;  // ISO 8601
  std::string clock = "wall";
  std::string machine;  // predicted traces: the machine file they come from
  std::int32_t processes = 0;
  std::int64_t tick_ps = 1000;  // picoseconds of one unit of `computation` and `duration`
};

/// How much there is of a process: all up to MPI_Finalize, less, or by choice nothing.
enum class Record : std::uint8_t { cut, complete, left_out, kinds };

/// One row of /processes.
struct Process {
  std::uint64_t calls = 0;
  Record record = Record::complete;
  Overheads overhead_ps{};
  std::string host;
};

/// How much of a file a part of the processes takes: rows of each group of columns.
struct Extent {
  std::uint64_t calls = 0, signatures = 0, items = 0, segments = 0;
  Extent& operator+=(const Extent& e) {
    calls += e.calls;
    signatures += e.signatures;
    items += e.items;
    segments += e.segments;
    return *this;
  }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// One row of /segments: a run of calls of one process that share a signature table.
struct Segment {
  std::int32_t process = 0;
  std::uint64_t first_call = 0, calls = 0;            // rows of /calls
  std::uint64_t first_signature = 0, signatures = 0;  // rows of /signatures
  std::uint64_t first_item = 0;                       // row of /items
};

}  // namespace simreplay::trace
