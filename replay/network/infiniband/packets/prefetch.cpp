// Fabrics are larger than caches: what the next events need is asked for ahead, a step of the way for each.

#include "replay/network/infiniband/packets/network.hpp"

namespace simreplay::infiniband {
namespace {

template <class T>
void fetch(const T& what) {
  __builtin_prefetch(&what);
}

}  // namespace

void PacketNetwork::fetch_ahead() const {
  constexpr std::size_t distances[] = {14, 9, 5, 2};
  for (std::size_t step = 0; step < std::size(distances); step++)
    if (const Event* e = events_.ahead(distances[step])) fetch_step(*e, static_cast<int>(step));
}

/// Packets become ready, inputs and outputs become free; in lane 0, if it is not known in which.
void PacketNetwork::fetch_step(const Event& e, int step) const {
  const auto place = static_cast<std::size_t>(e.key & ((1U << kind_shift) - 1));
  switch (static_cast<Kind>(e.key >> kind_shift)) {
    case ready:
      return step == 0 ? fetch(packets_[e.data]) : fetch_for_packet(packets_[e.data], step);
    case input_free:
      if (step == 0) return fetch(receive_[place]);
      if (const std::int32_t head = receive_[place].first; head != nothing)
        return step == 1 ? fetch(packets_[head]) : step == 2 ? fetch_output(packets_[head]) : void();
      return;
    case output_free:
      return fetch_for_output(static_cast<Port>(place), step);
    default:
      return;
  }
}

void PacketNetwork::fetch_output(const Packet& p) const {
  fetch(out(p.out));
  fetch(send_[lane_index(p.out, p.out_lane)]);
}

void PacketNetwork::fetch_for_output(Port port, int step) const {
  const OutPort& o = out(port);
  const SendLane& lane = send_[lane_index(port, 0)];
  if (step == 0) {
    fetch(o);
    return fetch(lane);
  }
  if (lane.first == nothing) return;
  if (step > 1) {
    if (!o.from_host) return fetch_for_packet(packets_[lane.first], step);
    return step == 2 ? fetch_route(o, messages_[lane.first].destination) : void();
  }
  if (o.from_host) {
    fetch(messages_[lane.first]);
  } else {
    fetch(packets_[lane.first]);
  }
  fetch(figures_.ports[static_cast<std::size_t>(port)]);
  credits_.fetch_first(lane);
}

void PacketNetwork::fetch_route(const OutPort& o, std::int32_t destination) const {
  if (!o.to_host) fetch(*tables_.entry(o.next_node, fabric_.lid(fabric_.host(destination))));
}

/// Where it is going to and where it comes from.
void PacketNetwork::fetch_for_packet(const Packet& p, int step) const {
  if (step == 1) {
    fetch_output(p);
    fetch(figures_.ports[static_cast<std::size_t>(p.out)]);
    return;
  }
  const SendLane& before = send_[lane_index(p.from, p.lane)];
  if (step == 3) return credits_.fetch_last(before);
  fetch(before);
  fetch(receive_[lane_index(p.in, p.lane)]);
  credits_.fetch_first(send_[lane_index(p.out, p.out_lane)]);
  fetch_route(out(p.out), p.destination);
}

}  // namespace simreplay::infiniband
