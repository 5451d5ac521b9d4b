#include "replay/network/infiniband/packets/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>

namespace simreplay::infiniband {
namespace {

constexpr std::size_t classes_per_octave = 8;

double share(Duration part, TimePoint whole) {
  const auto ps = whole.time_since_epoch().count();
  return ps == 0 ? 0 : static_cast<double>(part.count()) / static_cast<double>(ps);
}

nlohmann::ordered_json link_json(const Figures& f, const Fabric& fabric, Port p) {
  const PortFigures& own = f.ports[static_cast<std::size_t>(p)];
  nlohmann::ordered_json link{{"from", fabric.port_name(p)},
                              {"to", fabric.port_name(fabric.peer(p))},
                              {"rate", to_string(fabric.cable(p).rate)},
                              {"packets", own.packets},
                              {"bytes", own.bytes},
                              {"utilisation", share(own.busy, f.end)},
                              {"busy_ps", own.busy.count()},
                              {"queued_ps", own.queued.count()},
                              {"stalled_ps", own.stalled.count()}};
  if (f.bin.count() > 0) link["busy_ps_by_bin"] = f.busy_ps[static_cast<std::size_t>(p)];
  return link;
}

nlohmann::ordered_json latency_json(const Histogram& h) {
  nlohmann::ordered_json result{
      {"least_ps", h.quantile(0).count()}, {"median_ps", h.quantile(0.5).count()},
      {"p90_ps", h.quantile(0.9).count()}, {"p99_ps", h.quantile(0.99).count()},
      {"most_ps", h.quantile(1).count()},  {"classes", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < h.counts().size(); i++)
    if (h.counts()[i] > 0)
      result["classes"].push_back({{"from_ps", h.smallest_of(i).count()}, {"messages", h.counts()[i]}});
  return result;
}

void put_figures(nlohmann::ordered_json& to, const Figures& f, const Fabric& fabric, std::size_t hot) {
  to["end_ps"] = f.end.time_since_epoch().count();
  to["messages"] = f.messages;
  to["bytes"] = f.bytes;
  to["packet_hops"] = f.packet_hops();
  to["latency"] = latency_json(f.latency);
  if (f.bin.count() > 0) to["bin_ps"] = f.bin.count();
  to["hot_links"] = to["links"] = nlohmann::ordered_json::array();
  for (const Port p : hot_ports(f, hot)) to["hot_links"].push_back(link_json(f, fabric, p));
  for (std::size_t p = 0; p < f.ports.size(); p++)
    if (f.ports[p].packets > 0) to["links"].push_back(link_json(f, fabric, static_cast<Port>(p)));
}

}  // namespace

std::size_t Histogram::class_of(std::int64_t ps) {
  const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(ps, 0));
  if (n < classes_per_octave) return static_cast<std::size_t>(n);
  const auto octave = static_cast<unsigned>(std::bit_width(n)) - 4;  // 0 for 8 to 15
  return (octave + 1) * classes_per_octave + static_cast<std::size_t>((n >> octave) & 7U);
}

Duration Histogram::smallest_of(std::size_t i) const {
  if (i < classes_per_octave) return Duration{static_cast<std::int64_t>(i)};
  return Duration{static_cast<std::int64_t>((8 + i % classes_per_octave) << (i / classes_per_octave - 1))};
}

std::int64_t Histogram::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

Duration Histogram::quantile(double share) const {
  const auto wanted = static_cast<std::int64_t>(share * static_cast<double>(total()) + 0.5);
  std::int64_t seen = 0;
  Duration last{0};
  for (std::size_t i = 0; i < counts_.size(); i++) {
    if (counts_[i] == 0) continue;
    seen += counts_[i];
    last = smallest_of(i);
    if (seen >= wanted) break;
  }
  return last;
}

std::int64_t Figures::packet_hops() const {
  std::int64_t n = 0;
  for (const PortFigures& p : ports) n += p.packets;
  return n;
}

void Figures::add_to_bins(Port port, TimePoint start, TimePoint stop) {
  std::vector<std::int64_t>& bins = busy_ps[static_cast<std::size_t>(port)];
  std::int64_t from = start.time_since_epoch().count();
  const std::int64_t to = stop.time_since_epoch().count(), width = bin.count();
  if (const auto needed = static_cast<std::size_t>((to - 1) / width + 1); bins.size() < needed)
    bins.resize(needed, 0);
  while (from < to) {
    const std::int64_t i = from / width, until = std::min(to, (i + 1) * width);
    bins[static_cast<std::size_t>(i)] += until - from;
    from = until;
  }
}

std::vector<Port> hot_ports(const Figures& figures, std::size_t most) {
  std::vector<Port> ports;
  for (std::size_t p = 0; p < figures.ports.size(); p++)
    if (figures.ports[p].packets > 0) ports.push_back(static_cast<Port>(p));
  const auto hotter = [&](Port a, Port b) {
    const Duration x = figures.ports[static_cast<std::size_t>(a)].busy,
                   y = figures.ports[static_cast<std::size_t>(b)].busy;
    return x != y ? x > y : a < b;
  };
  std::sort(ports.begin(), ports.end(), hotter);
  if (ports.size() > most) ports.resize(most);
  return ports;
}

std::string to_json(const Figures& f, const Fabric& fabric, std::size_t hot) {
  nlohmann::ordered_json result;
  put_figures(result, f, fabric, hot);
  return result.dump(1);
}

std::string to_json(const Figures& f, const Fabric& fabric, const FabricFacts& facts, std::size_t hot) {
  nlohmann::ordered_json result{{"fabric",
                                 {{"name", facts.name},
                                  {"hosts", fabric.hosts()},
                                  {"switches", fabric.switches()},
                                  {"links", fabric.cables().size()},
                                  {"routing", facts.routing},
                                  {"lanes", facts.lanes}}}};
  put_figures(result, f, fabric, hot);
  return result.dump(1);
}

std::vector<std::string> summary(const Figures& f, const Fabric& fabric, const FabricFacts& facts) {
  constexpr std::size_t links = 4;
  const auto latency = [&f](double part) { return format_duration(f.latency.quantile(part)); };
  std::vector<std::string> lines{
      fmt::format("fabric {}: {} hosts, {} switches, {} links, routing {}, {} lane{}", facts.name,
                  format_count(fabric.hosts()), format_count(fabric.switches()),
                  format_count(std::ssize(fabric.cables())), facts.routing, facts.lanes,
                  facts.lanes == 1 ? "" : "s"),
      fmt::format("{} messages of {} in all, {} packet-hops", format_count(f.messages), format_bytes(f.bytes),
                  format_count(f.packet_hops()))};
  if (f.messages == 0) return lines;
  lines.push_back(fmt::format("latency of messages: from {}, half within {}, 99 % within {}, at most {}",
                              latency(0), latency(0.5), latency(0.99), latency(1)));
  for (const Port p : hot_ports(f, links)) {
    const PortFigures& own = f.ports[static_cast<std::size_t>(p)];
    lines.push_back(
        fmt::format("link {} to {}: {:.1f} % busy; packets waited {} in queues, the link {} for credits",
                    fabric.port_name(p), fabric.port_name(fabric.peer(p)), 100 * share(own.busy, f.end),
                    format_duration(own.queued), format_duration(own.stalled)));
  }
  return lines;
}

}  // namespace simreplay::infiniband
