#pragma once
// Hosts around a switch in one process, and lists of messages run through them: by the model, and frame by
// frame in the plainest way.

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "replay/network/ethernet/adapter.hpp"
#include "replay/network/ethernet/port.hpp"

namespace simreplay::ethernet::test {

using network::Arrival;
using network::Message;

inline SwitchedSettings switched_settings() {
  SwitchedSettings s;
  for (const auto& row : switched_rows()) row.set(s, row.value);
  return s;
}

struct SwitchedRun {
  std::vector<Arrival> arrivals;  // by id
  std::vector<AdapterFigures> up;
  std::vector<PortFigures> down;
};

/// Outputs are served in steps of `step`.
inline SwitchedRun run(const SwitchedSettings& s, std::span<const Ratio> rates,
                       const std::vector<Message>& list, Duration step = std::chrono::hours(1)) {
  std::vector<Adapter> adapters;
  std::vector<Port> ports;
  for (const Ratio& rate : rates) {
    adapters.emplace_back(s, rate);
    ports.emplace_back(s, rate);
  }
  for (const Message& m : list) adapters[static_cast<std::size_t>(m.source)].inject(m);
  for (Adapter& a : adapters)
    while (a.next() < network::never) {
      const Train train = a.send();
      ports[static_cast<std::size_t>(train.message.destination)].accept(train);
    }
  SwitchedRun result;
  for (TimePoint until{}; result.arrivals.size() < list.size(); until += step)
    for (Port& p : ports) p.serve(until, result.arrivals);
  std::ranges::sort(result.arrivals, {}, &Arrival::id);
  for (const Adapter& a : adapters) result.up.push_back(a.figures());
  for (const Port& p : ports) result.down.push_back(p.figures());
  return result;
}

/// All frames of a list, each with the time at which it is ready for its output.
class PlainSwitch {
 public:
  PlainSwitch(const SwitchedSettings& s, std::span<const Ratio> rates) : s_(s), rates_(rates) {}

  /// Arrival times by id.
  std::map<std::int64_t, TimePoint> run(std::vector<Message> list) {
    std::ranges::sort(list, {}, [](const Message& m) { return std::tuple(m.time, m.id); });
    for (const Message& m : list) send(m);
    std::ranges::sort(frames_, {}, [](const Frame& f) { return std::tuple(f.ready, f.source, f.id); });
    for (const Frame& f : frames_) receive(f);
    return arrivals_;
  }
  std::map<std::int32_t, Times> queued;  // frames by destination

 private:
  struct Frame {
    TimePoint ready;
    std::int32_t source, destination;
    std::int64_t id, bytes;
    bool last;
  };
  Duration time_of(std::int32_t host, std::int64_t bytes) const {
    return Duration{rates_[static_cast<std::size_t>(host)].times(bytes)};
  }

  void send(const Message& m) {
    TimePoint& free = up_free_[m.source];
    free = std::max(free, m.time + s_.send_overhead);
    std::int64_t left = m.bytes;
    do {
      const std::int64_t payload = std::min(left, s_.mtu);
      const std::int64_t bytes = std::max<std::int64_t>(46, payload) + s_.overhead;
      left -= payload;
      free += time_of(m.source, bytes);
      frames_.push_back({free + s_.cable + s_.switching, m.source, m.destination, m.id, bytes, left == 0});
    } while (left > 0);
  }

  void receive(const Frame& f) {
    TimePoint& free = down_free_[f.destination];
    const TimePoint start = std::max(free, f.ready);
    queued[f.destination].add(start - f.ready);
    free = start + time_of(f.destination, f.bytes);
    if (f.last) arrivals_[f.id] = free + s_.cable + s_.receive_overhead;
  }

  const SwitchedSettings& s_;
  std::span<const Ratio> rates_;
  std::map<std::int32_t, TimePoint> up_free_, down_free_;
  std::vector<Frame> frames_;
  std::map<std::int64_t, TimePoint> arrivals_;
};

}  // namespace simreplay::ethernet::test
