#include "capture/simtrace/neighborhoods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "capture/simtrace/items.hpp"

namespace simreplay::simtrace {
namespace {

/// Two processes may be neighbours in several directions. Which of their messages is which differs between
/// MPI libraries (a periodic grid of two processes), so the k-th largest meets the k-th largest.
std::vector<Neighbor> sorted(ItemList pairs) {
  std::vector<Neighbor> list;
  for (std::size_t i = 0; i < number_of_neighbors(pairs); i++)
    if (const Neighbor n = neighbor_in(pairs, i); n.rank >= 0) list.push_back(n);
  std::ranges::sort(list, {}, [](const Neighbor& n) { return std::tuple(n.rank, n.bytes); });
  return list;
}

}  // namespace

void Neighborhoods::add(const CallName& at, const trace::Signature& s, std::uint64_t number,
                        FaultLog& faults) {
  const auto tag = static_cast<std::int32_t>(number & INT32_MAX);
  const auto half = [&](std::int64_t bytes) { return Half{at.call, bytes, trace::nobody, s.op}; };
  const auto compare = [&](const Channel& c, const Half& sent, const Half& received) {
    if (sent.bytes != received.bytes)
      faults.add(fault_of({c.destination, received.call, received.op},
                          {received.bytes, sent.bytes, c.source, sent.call}));
  };
  for (const Neighbor& n : sorted(destinations_in(s.items))) {
    const Channel c{at.process, static_cast<std::int32_t>(n.rank), s.communicator, tag};
    if (const auto received = channels_.meet(c, Side::send, half(n.bytes)))
      compare(c, half(n.bytes), *received);
  }
  for (const Neighbor& n : sorted(sources_in(s.items))) {
    const Channel c{static_cast<std::int32_t>(n.rank), at.process, s.communicator, tag};
    if (const auto sent = channels_.meet(c, Side::receive, half(n.bytes))) compare(c, *sent, half(n.bytes));
  }
}

void Neighborhoods::expect_all_met(const CollectiveLog& operations, FaultLog& faults) const {
  for (const auto& [channel, side, half] : channels_.open()) {
    if (!operations.is_complete(channel.communicator, static_cast<std::uint64_t>(channel.tag))) continue;
    const bool sends = side == Side::send;
    faults.add(fault_at({sends ? channel.source : channel.destination, half.call, half.op},
                        fmt::format("process {} to have process {} as a {} (communicator {})",
                                    sends ? channel.destination : channel.source,
                                    sends ? channel.source : channel.destination,
                                    sends ? "source" : "destination", channel.communicator),
                        "that it has not"));
  }
}

}  // namespace simreplay::simtrace
