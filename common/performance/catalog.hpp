#pragma once
// What is known of a parallel program's channels, tasks and processors: one table of metrics, from which
// names, units, levels, sums and documentation come.
//
// Resources form hierarchies: channel -> processor -> system, task -> processor -> system, processor -> node
// -> system. The predicted machine gives each task (virtual processor) a processor of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/units.hpp"

namespace simreplay::performance {

enum class Kind : std::uint8_t { channel, task, processor };
constexpr std::size_t kinds = 3;
enum class Level : std::uint8_t { channel, task, processor, node, system };
constexpr std::size_t levels = 5;

std::string_view name_of(Kind kind);
std::string_view name_of(Level level);
/// Of this kind, the finest first.
std::span<const Level> levels_of(Kind kind);

/// What is counted of each resource. Times in picoseconds of the predicted machine.
enum class Cell : std::uint8_t {
  // of tasks and processors; the times from `computation` to `idle` add up to `time`
  time,  // of a task: the predicted time of the program, as often as it has threads
  computation,
  communication,
  idle,
  late_sender,    // parts of `idle`: until the sender enters its send
  late_receiver,  // until the receive is posted for which the sender waits
  barrier,        // until the last one comes
  collective,     // the same of other collectives
  transfer,       // while a message is on its way, as long as that takes without others
  contention,     // beyond that
  one_sided,      // for accesses to windows
  after_end,      // of the task, until the program ends
  calls,
  memory,  // bytes
  // of channels too: those up to send_max belong to the sender, the rest to the receiver
  sends,
  bytes_sent,
  send_time,
  send_max,
  receives,
  bytes_received,
  receive_time,
  receive_max,
  receive_wait,
  in_flight,  // sum over the messages, from the send to the receive
  queue,      // sent and never received
  queue_max,  // most at a time
  span,       // the predicted time of the program
};
constexpr std::size_t cells = static_cast<std::size_t>(Cell::span) + 1;
constexpr Cell first_of_sender = Cell::sends, first_of_receiver = Cell::receives;

/// Whether the level above has the largest, not the sum.
bool is_largest(Cell cell);

/// Of one resource.
struct Cells {
  std::array<std::int64_t, cells> value{};
  std::int64_t& operator[](Cell c) { return value[static_cast<std::size_t>(c)]; }
  std::int64_t operator[](Cell c) const { return value[static_cast<std::size_t>(c)]; }
};

enum class Unit : std::uint8_t { count, bytes, picoseconds, share };
std::string_view name_of(Unit unit);

struct MetricInfo {
  std::string_view name;
  Unit unit;
  bool of_channels, of_tasks, of_processors;
  Cell cell;
  Cell per;  // the metric is cell / per; `cell` itself: it is the cell
  std::string_view help;

  bool is_ratio() const { return cell != per; }
  bool is_of(Kind kind) const {
    return kind == Kind::channel ? of_channels : kind == Kind::task ? of_tasks : of_processors;
  }
};

std::span<const MetricInfo> metrics();
/// Null if there is none.
const MetricInfo* find_metric(Kind kind, std::string_view name);

}  // namespace simreplay::performance
