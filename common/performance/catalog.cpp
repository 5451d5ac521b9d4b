#include "common/performance/catalog.hpp"

#include <algorithm>

namespace simreplay::performance {
namespace {

constexpr std::array<std::string_view, kinds> kind_names{"channel", "task", "processor"};
constexpr std::array<std::string_view, levels> level_names{"channel", "task", "processor", "node", "system"};
constexpr std::array<std::string_view, 4> unit_names{"", "B", "ps", ""};

constexpr std::array channel_levels{Level::channel, Level::processor, Level::system};
constexpr std::array task_levels{Level::task, Level::processor, Level::system};
constexpr std::array processor_levels{Level::processor, Level::node, Level::system};

constexpr MetricInfo of_all(std::string_view name, Unit unit, Cell cell, Cell per, std::string_view help) {
  return {name, unit, true, true, true, cell, per, help};
}
constexpr MetricInfo of_work(std::string_view name, Unit unit, Cell cell, Cell per, std::string_view help) {
  return {name, unit, false, true, true, cell, per, help};
}
constexpr MetricInfo of_channels(std::string_view name, Unit unit, Cell cell, Cell per,
                                 std::string_view help) {
  return {name, unit, true, false, false, cell, per, help};
}

constexpr std::array table{
    of_work("time", Unit::picoseconds, Cell::time, Cell::time,
            "T of each task, for each of its threads: computation + communication + idle"),
    of_work("computation", Unit::picoseconds, Cell::computation, Cell::computation,
            "time between calls, and of calls that compute"),
    of_work("communication", Unit::picoseconds, Cell::communication, Cell::communication,
            "time of its processor in calls for messages, without waiting"),
    of_work("idle", Unit::picoseconds, Cell::idle, Cell::idle, "waiting, and the time after its end"),
    of_work("load", Unit::share, Cell::computation, Cell::time, "computation / time"),
    of_work("communication-share", Unit::share, Cell::communication, Cell::time, "communication / time"),
    of_work("idle-share", Unit::share, Cell::idle, Cell::time, "idle / time"),
    of_work("late-sender", Unit::picoseconds, Cell::late_sender, Cell::late_sender,
            "waiting in a receive before the sender has entered its send"),
    of_work("late-receiver", Unit::picoseconds, Cell::late_receiver, Cell::late_receiver,
            "waiting in a send for the receive to be posted"),
    of_work("wait-at-barrier", Unit::picoseconds, Cell::barrier, Cell::barrier,
            "waiting in barriers and fences for others to come"),
    of_work("wait-at-collective", Unit::picoseconds, Cell::collective, Cell::collective,
            "waiting in other collectives for others to come"),
    of_work("transfer", Unit::picoseconds, Cell::transfer, Cell::transfer,
            "waiting for messages that are on their way"),
    of_work("contention", Unit::picoseconds, Cell::contention, Cell::contention,
            "waiting for messages that others hold up in the network"),
    of_work("one-sided", Unit::picoseconds, Cell::one_sided, Cell::one_sided,
            "waiting for accesses to windows"),
    of_work("after-end", Unit::picoseconds, Cell::after_end, Cell::after_end,
            "from its end to that of the program"),
    of_work("calls", Unit::count, Cell::calls, Cell::calls, "MPI calls"),
    of_work("memory", Unit::bytes, Cell::memory, Cell::memory,
            "most that the recorded process held; 0 where it is not known"),
    of_all("sends", Unit::count, Cell::sends, Cell::sends,
           "messages sent, also those that collectives are made of"),
    of_all("bytes-sent", Unit::bytes, Cell::bytes_sent, Cell::bytes_sent, "in these"),
    of_all("send-time", Unit::picoseconds, Cell::send_time, Cell::send_time,
           "time in sends, waits for receives included"),
    of_all("send-mean", Unit::picoseconds, Cell::send_time, Cell::sends, "the same per message"),
    of_all("send-max", Unit::picoseconds, Cell::send_max, Cell::send_max, "of the longest"),
    of_all("receives", Unit::count, Cell::receives, Cell::receives, "messages received"),
    of_all("bytes-received", Unit::bytes, Cell::bytes_received, Cell::bytes_received, "in these"),
    of_all("receive-time", Unit::picoseconds, Cell::receive_time, Cell::receive_time,
           "time in receives, waiting included"),
    of_all("receive-mean", Unit::picoseconds, Cell::receive_time, Cell::receives, "the same per message"),
    of_all("receive-max", Unit::picoseconds, Cell::receive_max, Cell::receive_max, "of the longest"),
    of_all("receive-wait", Unit::picoseconds, Cell::receive_wait, Cell::receive_wait,
           "waiting in receives for messages"),
    of_all("queue", Unit::count, Cell::queue, Cell::queue, "messages sent and not received at the end"),
    of_all("queue-mean", Unit::count, Cell::in_flight, Cell::span,
           "messages sent and not yet received, mean over the time of the program"),
    of_all("queue-max", Unit::count, Cell::queue_max, Cell::queue_max,
           "the same of a channel, most at a time"),
    of_channels("queue-time", Unit::picoseconds, Cell::in_flight, Cell::receives,
                "from a message's send to its receive, mean"),
};

template <class Names, class E>
std::string_view name_in(const Names& names, E e) {
  return names[static_cast<std::size_t>(e)];
}

}  // namespace

std::string_view name_of(Kind kind) { return name_in(kind_names, kind); }
std::string_view name_of(Level level) { return name_in(level_names, level); }
std::string_view name_of(Unit unit) { return name_in(unit_names, unit); }

std::span<const Level> levels_of(Kind kind) {
  switch (kind) {
    case Kind::channel:
      return channel_levels;
    case Kind::task:
      return task_levels;
    default:
      return processor_levels;
  }
}

bool is_largest(Cell cell) {
  return cell == Cell::send_max || cell == Cell::receive_max || cell == Cell::queue_max || cell == Cell::span;
}

std::span<const MetricInfo> metrics() { return table; }

const MetricInfo* find_metric(Kind kind, std::string_view name) {
  const auto it =
      std::ranges::find_if(table, [&](const MetricInfo& m) { return m.is_of(kind) && m.name == name; });
  return it == table.end() ? nullptr : &*it;
}

}  // namespace simreplay::performance
