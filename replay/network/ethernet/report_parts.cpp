#include "replay/network/ethernet/report_parts.hpp"

#include <fmt/format.h>

namespace simreplay::ethernet {

nlohmann::ordered_json json_of(const Times& times) {
  return {{"mean_ps", times.mean_ps()}, {"most_ps", times.most_ps}};
}

nlohmann::ordered_json header(std::string_view model, const Arrived& arrived) {
  return {{"model", model},
          {"end_ps", arrived.last.time_since_epoch().count()},
          {"messages", arrived.latency.count},
          {"bytes", arrived.bytes},
          {"latency", json_of(arrived.latency)}};
}

std::string line_of(std::string_view name, const Arrived& arrived) {
  return fmt::format("{}: {} messages, {}, latency {} on average, {} at most", name,
                     format_count(arrived.latency.count), format_bytes(arrived.bytes),
                     format_duration(Duration{arrived.latency.mean_ps()}),
                     format_duration(Duration{arrived.latency.most_ps}));
}

std::string line_of_queues(const Times& messages) {
  return fmt::format("messages waited for others of their host {} on average, {} at most",
                     format_duration(Duration{messages.mean_ps()}),
                     format_duration(Duration{messages.most_ps}));
}

}  // namespace simreplay::ethernet
