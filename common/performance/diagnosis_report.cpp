// A diagnosis for people and for programs.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/performance/hypotheses.hpp"

namespace simreplay::performance {
namespace {

std::string shown(double ps) { return format_duration(Duration{static_cast<std::int64_t>(ps)}); }

std::string remedy_text(const Remedy& r) {
  if (r.kind == Remedy::Kind::ideal_network) return "messages that cost nothing";
  if (r.faster.size() == 1)
    return fmt::format("process {} {:.3g} times as fast", r.faster[0].first, r.faster[0].second);
  return "these processes as fast as the others";
}

std::string to_text(const Finding& f, std::size_t number, double time) {
  std::string text = fmt::format("  {}. {}: {}", number, f.hypothesis, f.where);
  if (!f.region.empty()) text += fmt::format("; most of it in region '{}'", f.region);
  text +=
      fmt::format("\n     costs {} of {} ({:.1f} %)", shown(f.cost_ps), shown(time), 100 * f.cost_ps / time);
  text += f.is_predicted ? fmt::format("; without it {} remain (replayed: {})", shown(f.remaining_ps),
                                       remedy_text(f.remedy))
                         : fmt::format("; without it about {} remain", shown(f.remaining_ps));
  return text + fmt::format("\n     evidence: {}\n", f.evidence);
}

}  // namespace

std::string to_text(const Diagnosis& d, Duration time) {
  std::string text =
      fmt::format("diagnosis   {}: {:.1f} % computation, {:.1f} % idle (efficient: from {:.0f} % on)\n",
                  d.is_efficient ? "efficient" : "not efficient", 100 * d.efficiency, 100 * d.idle_share,
                  100 * d.criteria.efficient);
  for (std::size_t i = 0; i < d.findings.size(); i++)
    text += to_text(d.findings[i], i + 1, static_cast<double>(time.count()));
  if (!d.is_efficient && d.findings.empty())
    text += fmt::format("  no hypothesis explains {:.0f} % of the time or more\n", 100 * d.criteria.worth);
  return text;
}

std::string to_json(const Diagnosis& d) {
  nlohmann::ordered_json j{{"efficient", d.is_efficient},
                           {"efficiency", d.efficiency},
                           {"idle_share", d.idle_share},
                           {"efficient_from", d.criteria.efficient}};
  auto& findings = j["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : d.findings) {
    nlohmann::ordered_json row{{"hypothesis", f.hypothesis}, {"where", f.where}, {"processes", f.tasks}};
    if (f.channel)
      row["channel"] = {{"source", f.channel->source},
                        {"destination", f.channel->destination},
                        {"communicator", f.channel->communicator},
                        {"tag", f.channel->tag}};
    if (!f.region.empty()) row["region"] = f.region;
    row["cost_ps"] = f.cost_ps;
    row["remaining_ps"] = f.remaining_ps;
    row["remaining_is_replayed"] = f.is_predicted;
    row["p"] = f.chance;
    row["evidence"] = f.evidence;
    findings.push_back(std::move(row));
  }
  return j.dump();
}

}  // namespace simreplay::performance
