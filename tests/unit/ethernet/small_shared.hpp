#pragma once
// Domains of shared Ethernet in one process, and lists of messages run through them.

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <vector>

#include "replay/network/ethernet/domain.hpp"

namespace simreplay::ethernet::test {

using network::Arrival;
using network::Message;

inline TimePoint at_ps(std::int64_t ps) { return TimePoint{Duration{ps}}; }
inline std::int64_t ps_of(const Arrival& a) { return a.time.time_since_epoch().count(); }

inline SharedSettings settings(std::int64_t start_ps, Ratio per_byte) {
  SharedSettings s;
  s.start = Duration{start_ps};
  s.per_byte = per_byte;
  s.switch_delay = Duration{50};
  s.mtu = 1500;
  return s;
}

struct Run {
  std::vector<Arrival> arrivals;  // by id
  std::vector<DomainFigures> figures;
};

/// Hosts 0 to hosts - 1 in blocks of equal size; in windows as ranks would run them.
inline Run run(const SharedSettings& s, std::int32_t hosts, const std::vector<Message>& list,
               std::int32_t domains = 1) {
  const auto domain_of = [&](std::int32_t h) { return static_cast<std::size_t>(h * domains / hosts); };
  std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(domains));
  for (std::int32_t h = 0; h < hosts; h++) members[domain_of(h)].push_back(h);
  std::deque<Domain> all;
  for (std::int32_t d = 0; d < domains; d++) all.emplace_back(s, d, members[static_cast<std::size_t>(d)]);
  for (const Message& m : list)
    all[domain_of(m.source)].inject(m, domain_of(m.source) != domain_of(m.destination));

  Run result;
  for (;;) {
    TimePoint next = network::never;
    for (const Domain& d : all) next = std::min(next, d.next_event());
    if (next == network::never) break;
    for (Domain& d : all) d.advance(next + s.switch_delay);
    for (Domain& d : all) {
      for (const SwitchedFrame& f : d.leaving()) all[domain_of(f.message.destination)].accept(f);
      d.leaving().clear();
    }
  }
  for (Domain& d : all) {
    result.arrivals.insert(result.arrivals.end(), d.arrivals().begin(), d.arrivals().end());
    result.figures.push_back(d.figures());
  }
  std::ranges::sort(result.arrivals, {}, &Arrival::id);
  return result;
}

}  // namespace simreplay::ethernet::test
