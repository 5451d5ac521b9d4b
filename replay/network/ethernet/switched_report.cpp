#include "replay/network/ethernet/switched_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "replay/network/ethernet/report_parts.hpp"

namespace simreplay::ethernet {
namespace {

using Json = nlohmann::ordered_json;

double busy_share(Duration busy, TimePoint end) {
  return share(busy.count(), end.time_since_epoch().count());
}

Json json_of(const HostFigures& h, TimePoint end) {
  return {{"host", h.host},
          {"up",
           {{"messages", h.up.messages},
            {"bytes", h.up.bytes},
            {"frames", h.up.frames},
            {"busy_ps", h.up.busy.count()},
            {"utilisation", busy_share(h.up.busy, end)},
            {"queued", json_of(h.up.queued)}}},
          {"down",
           {{"messages", h.down.arrived.latency.count},
            {"bytes", h.down.arrived.bytes},
            {"frames", h.down.frames},
            {"busy_ps", h.down.busy.count()},
            {"utilisation", busy_share(h.down.busy, end)},
            {"queued", json_of(h.down.queued)}}}};
}

std::string line_of(const HostFigures& h, TimePoint end) {
  return fmt::format("to host {}: busy {:.1f} % of the time; frames waited {} on average, {} at most", h.host,
                     100 * busy_share(h.busy, end), format_duration(Duration{h.down.queued.mean_ps()}),
                     format_duration(Duration{h.down.queued.most_ps}));
}

}  // namespace

network::Report report_of(std::span<const HostFigures> hosts) {
  Arrived all;
  Times queued, frames_queued;
  for (const HostFigures& h : hosts) {
    all.add(h.down.arrived);
    queued.add(h.up.queued);
    frames_queued.add(h.down.queued);
  }
  const std::vector<const HostFigures*> hot = busiest(hosts);
  Json json = header("ethernet", all);
  json["queued"] = json_of(queued);
  json["frames_queued"] = json_of(frames_queued);
  json["hot_hosts"] = Json::array();
  for (const HostFigures* h : hot) json["hot_hosts"].push_back(h->host);
  json["hosts"] = Json::array();
  for (const HostFigures& h : hosts)
    if (h.up.frames + h.down.frames > 0) json["hosts"].push_back(json_of(h, all.last));

  network::Report report{json.dump(1), {line_of("Ethernet", all), line_of_queues(queued)}};
  for (const HostFigures* h : hot) report.lines.push_back(line_of(*h, all.last));
  return report;
}

}  // namespace simreplay::ethernet
