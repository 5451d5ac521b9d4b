#pragma once
// What the recorder leaves behind for each process: a spool file, which packing turns into a trace.
//
//   | header, 4 KiB | window | records put out so far ... |
//
// The window is mapped shared and used again and again: what was written to it survives the death of the
// process by any signal. A full window is put out behind it by write(), which reports a full disk as an
// error where a growing mapped file would kill the program. Records count from a virtual offset 0: those
// below `window_start` lie behind the window, those from there to `end` in the window.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/trace/format.hpp"

namespace simreplay::spool {

constexpr char magic[8] = {'s', 'i', 'm', 's', 'p', 'o', 'o', 'l'};
constexpr std::uint32_t format_version = 2;
constexpr std::uint64_t header_bytes = 4096;
constexpr std::uint64_t window_bytes = 256 * 1024;
constexpr std::uint64_t data_offset = header_bytes + window_bytes;
constexpr const char* extension = ".spool";

/// What the time between calls is measured by. Times inside calls are always wall-clock time.
enum Clock : std::uint32_t { wall_clock, thread_clock, process_clock };

/// Why recording ended before the program did.
enum Stopped : std::uint32_t { not_stopped, output_failed, size_reached, time_reached };

struct Header {
  char magic[8];
  std::uint32_t version;
  std::int32_t rank, size;  // in MPI_COMM_WORLD
  std::int32_t pid;
  std::int64_t started_ns;  // CLOCK_REALTIME when the recorder was loaded
  std::int64_t loaded_ns;   // CLOCK_MONOTONIC at the same moment: the origin of the process's times
  std::int64_t exited_ns;   // CLOCK_MONOTONIC when the process left main(); 0 if it never did
  trace::Overheads overhead_ps;
  std::uint32_t clock;      // Clock
  std::uint32_t finalized;  // 1 after MPI_Finalize
  std::uint32_t stopped;    // Stopped
  std::uint32_t chosen;     // 1 if only some processes were to be recorded
  std::atomic<std::uint64_t> window_start, end;
  char run[64];     // the run of simcapture
  char world[128];  // tells MPI programs of one run apart
  char host[256];
  char mpi_library[1024];
  std::int64_t mark_overhead_ps;  // of a mark: the time that recording adds to the gap after it
};
static_assert(sizeof(Header) <= header_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Ranks are those that the program named, of the record's communicator; packing translates them.
constexpr std::int32_t no_rank = -1;   // MPI_PROC_NULL, or no rank in this call
constexpr std::int32_t any_rank = -2;  // MPI_ANY_SOURCE
constexpr std::int32_t own_rank = -3;  // MPI_ROOT: the calling process
constexpr std::int32_t any_tag = -2;

/// Kinds of records other than calls, whose kind is their Op.
constexpr std::uint16_t communicator_kind = 0xff00;  // introduces a communicator
constexpr std::uint16_t own_time_kind = 0xff01;      // the recorder itself took the time from enter to leave
constexpr std::uint16_t thread_kind = 0xff02;        // what follows was called by thread `peer`: 0, 1, ...

constexpr std::uint16_t skipped_kind = 0xff03;  // `bytes` calls were not recorded; `flags`: Skipped

constexpr std::uint16_t metric_kind =
    0xff04;  // names metric `peer` (0, 1, ...); `tag`: its trace::MetricKind

/// What was left out before recording was resumed the (`request` + 1)-th time: messages to or from `peer`
/// with `tag`, or collectives.
enum Skipped : std::uint16_t { sent = 1, received = 2, collective = 4 };

/// Flag of a call, beside trace::Flag: its last item is the processor time since the call before, ns.
constexpr std::uint16_t has_processor_time = 1U << 15;

/// Communicators have local ids in order of appearance: 0 world, 1 self, then 2, 3, ...
/// A record is followed by `items` words of 64 bits:
///   creation of a communicator   the local id of the new one, if the process is in it
///   Items::requests              a Completion for each request
///   communicator_kind            runs of the local group: number, then first, stride, count of each;
///                                then likewise of the remote group (`tag`: operation that created it)
///   metric_kind                  `bytes` characters
///   Items::starts                as in the trace, but with the ids and ranks of spools
///   marks                        none: `tag` is the metric, `bytes` the value or the other metric
///   other calls                  as in the trace; ranks of neighbours are those of the communicator
struct Record {
  std::int64_t enter = 0, leave = 0;  // CLOCK_MONOTONIC, ns
  std::int64_t bytes = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;  // trace::Flag
  std::uint32_t items = 0;
  std::int32_t communicator = 0;
  std::int32_t peer = no_rank;
  std::int32_t tag = 0;
  std::uint32_t request = 0;  // id of the request that the call opens, 0 for none; comes round after 2^32
};
static_assert(sizeof(Record) == 48);

/// A request that a call closed, and what came in if it was a receive.
struct Completion {
  enum Flag : std::uint32_t { received = 1, cancelled = 2 };
  std::uint32_t request = 0;
  std::uint32_t flags = 0;
  std::int32_t source = no_rank;
  std::int32_t tag = 0;
  std::int64_t bytes = 0;
};
constexpr std::size_t words_per_completion = 3;
static_assert(sizeof(Completion) == words_per_completion * sizeof(std::int64_t));

/// The completion at the front of a list of items.
inline Completion first_completion(std::span<const std::int64_t> items) {
  return std::bit_cast<Completion>(std::array{items[0], items[1], items[2]});
}

}  // namespace simreplay::spool
