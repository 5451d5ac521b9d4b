#include "replay/network/ethernet/shared_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "replay/network/ethernet/report_parts.hpp"

namespace simreplay::ethernet {
namespace {

using Json = nlohmann::ordered_json;

double mean_senders(const DomainFigures& d) { return share(d.sender_time_ps, d.busy.count()); }

Json json_of(const DomainFigures& d, TimePoint end) {
  return {{"domain", d.domain},
          {"hosts", d.hosts},
          {"messages", d.messages},
          {"bytes", d.bytes},
          {"forwarded_frames", d.forwarded},
          {"busy_ps", d.busy.count()},
          {"utilisation", share(d.busy.count(), end.time_since_epoch().count())},
          {"mean_competitors", mean_senders(d)},
          {"most_competitors", d.most_senders},
          {"queued", json_of(d.queued)},
          {"port_queued", json_of(d.port_queued)}};
}

std::string line_of(const DomainFigures& d, TimePoint end) {
  return fmt::format(
      "domain {} of {} hosts: busy {:.1f} % of the time, then with {:.2f} competitors, at most {}", d.domain,
      d.hosts, 100 * share(d.busy.count(), end.time_since_epoch().count()), mean_senders(d), d.most_senders);
}

}  // namespace

network::Report report_of(std::span<const DomainFigures> domains) {
  Arrived all;
  Times queued;
  for (const DomainFigures& d : domains) {
    all.add(d.arrived);
    queued.add(d.queued);
  }
  Json json = header("shared-ethernet", all);
  json["queued"] = json_of(queued);
  json["domains"] = Json::array();
  for (const DomainFigures& d : domains) json["domains"].push_back(json_of(d, all.last));

  network::Report report{json.dump(1), {line_of("shared Ethernet", all), line_of_queues(queued)}};
  for (const DomainFigures* d : busiest(domains)) report.lines.push_back(line_of(*d, all.last));
  return report;
}

}  // namespace simreplay::ethernet
