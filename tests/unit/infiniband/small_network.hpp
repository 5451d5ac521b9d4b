#pragma once
// Fabrics with their tables, and lists of messages run through them on any number of parts.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "replay/network/infiniband/generate.hpp"
#include "replay/network/infiniband/packets/network.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay::infiniband {

struct Net {
  Fabric fabric;
  Tables tables;
  explicit Net(const std::string& spec, const std::string& routing = "minhop")
      : Net(generate(spec), routing) {}
  explicit Net(Fabric f, const std::string& routing = "minhop")
      : fabric(std::move(f)), tables(route(fabric, routing)) {}
};

inline TimePoint at_ps(std::int64_t ps) { return TimePoint{Duration{ps}}; }

inline void sort_by_id(std::vector<Arrival>& all) {
  std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
}

struct Run {
  std::vector<Arrival> arrivals;  // by id
  Figures figures;
  std::int64_t leaks = 0, trains = 0, broken = 0;
  std::string stuck;
};

/// In windows of the lookahead, with all parts in this process.
inline Run run(const Net& net, const Settings& settings, const std::vector<Injection>& list, int parts = 1) {
  const Parts division = divide(net.fabric, parts);
  std::vector<std::unique_ptr<PacketNetwork>> all;
  for (int i = 0; i < parts; i++)
    all.push_back(std::make_unique<PacketNetwork>(net.fabric, net.tables, settings, division, i));
  for (const Injection& m : list)
    for (auto& part : all)
      if (part->owns(m.source)) part->inject(m);
  for (;;) {
    TimePoint next = EventQueue::never;
    for (auto& part : all) next = std::min(next, part->next_event());
    if (next == EventQueue::never) break;
    const TimePoint until = all[0]->window_end(next);
    for (auto& part : all) part->advance(until);
    for (auto& part : all)
      for (const Handover& h : part->take_handovers()) {
        if (h.time < until) throw std::logic_error("an event for the past");
        all[static_cast<std::size_t>(h.part)]->accept(h);
      }
  }
  Run result;
  result.figures = all[0]->figures();
  for (auto& part : all) {
    for (const Arrival& a : part->take_arrivals()) result.arrivals.push_back(a);
    result.trains += part->trains();
    result.broken += part->trains_broken();
    result.stuck += part->stuck();
    if (result.stuck.empty()) result.leaks += part->leaks();
    if (part == all[0]) continue;
    const Figures& f = part->figures();
    for (std::size_t p = 0; p < f.ports.size(); p++)
      if (f.ports[p].packets > 0) {
        result.figures.ports[p] = f.ports[p];
        if (f.bin.count() > 0) result.figures.busy_ps[p] = f.busy_ps[p];
      }
  }
  sort_by_id(result.arrivals);
  return result;
}

inline bool same(const Arrival& a, const Arrival& b) {
  return a.id == b.id && a.time == b.time && a.injected == b.injected && a.bytes == b.bytes &&
         a.adapter_wait == b.adapter_wait && a.switch_wait == b.switch_wait && a.software == b.software;
}
inline bool same(const PortFigures& a, const PortFigures& b) {
  return a.packets == b.packets && a.bytes == b.bytes && a.busy == b.busy && a.queued == b.queued &&
         a.stalled == b.stalled;
}
inline bool same(const Run& a, const Run& b) {
  return std::equal(a.arrivals.begin(), a.arrivals.end(), b.arrivals.begin(), b.arrivals.end(),
                    [](const Arrival& x, const Arrival& y) { return same(x, y); }) &&
         std::equal(a.figures.ports.begin(), a.figures.ports.end(), b.figures.ports.begin(),
                    b.figures.ports.end(),
                    [](const PortFigures& x, const PortFigures& y) { return same(x, y); }) &&
         a.figures.busy_ps == b.figures.busy_ps;
}

}  // namespace simreplay::infiniband
