#pragma once
// Collectives that go on beside their process.

#include <fmt/format.h>

#include <algorithm>

#include "common/error.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay::engine {

template <class Clock>
void Engine<Clock>::fork(VirtualProcessor& v, Lane& lane, const Step& s, std::span<const Step> body) {
  std::vector<Strand>& strands = v.others().strands;
  const auto idle = std::ranges::find(strands, false, &Strand::active);
  const auto number = static_cast<std::uint32_t>(idle - strands.begin());
  if (number == most_strands)
    throw Error({.file = trace_.path(),
                 .process = v.process,
                 .problem = fmt::format("has {} collectives under way at once", most_strands)});
  if (idle == strands.end()) strands.emplace_back();
  Strand& strand = strands[number];
  static_cast<Lane&>(strand) = Lane{};
  strand.now = later(lane.now, strand_end(v, s.channel));
  strand.slot_tag = of_strand | number << strand_shift;
  strand.communicator = s.channel;
  strand.request = s.slot;
  strand.step = 0;
  strand.active = true;
  if constexpr (Clock::is_ordered) {  // its messages are numbered as if they had been sent at once
    strand.messages = lane.messages;
    lane.messages += body.size();
  }
  strand.steps.assign(body.begin(), body.end());
  strand.slots.resize(std::max(strand.slots.size(), body.size()));
  v.beside->order.push_back(number);
  awaited_[v.number] = anything;
  run_strands(v);
}

/// Each as far as it goes; one whose predecessor on the communicator is under way has to wait for it.
template <class Clock>
void Engine<Clock>::run_strands(VirtualProcessor& v) {
  const auto has_predecessor = [&v](std::size_t i) {
    return std::any_of(v.beside->order.begin(), v.beside->order.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](std::uint32_t earlier) {
                         return v.beside->strands[earlier].communicator ==
                                v.beside->strands[v.beside->order[i]].communicator;
                       });
  };
  for (std::size_t i = 0; i < v.beside->order.size();) {
    Strand& strand = v.beside->strands[v.beside->order[i]];
    const auto end = static_cast<std::uint32_t>(strand.steps.size());
    if (has_predecessor(i) || !run_steps(v, strand, strand.slots, strand.steps, strand.step, end, 0))
      i++;
    else
      join(v, strand);
  }
}

template <class Clock>
auto Engine<Clock>::strand_end(VirtualProcessor& v, std::uint32_t communicator) -> Time& {
  using End = StrandEnd<Clock>;
  const auto it = std::ranges::find(v.beside->strand_ends, communicator, &End::communicator);
  return it != v.beside->strand_ends.end() ? it->time
                                           : v.beside->strand_ends.emplace_back(End{communicator}).time;
}

template <class Clock>
void Engine<Clock>::join(VirtualProcessor& v, Strand& strand) {
  strand.active = false;
  strand_end(v, strand.communicator) = strand.now;
  const auto number = static_cast<std::uint32_t>(&strand - v.beside->strands.data());
  v.beside->order.erase(std::ranges::find(v.beside->order, number));
  for (const std::uint32_t other : v.beside->order)
    if (Strand& next = v.beside->strands[other]; next.communicator == strand.communicator) {
      next.now = later(next.now, strand.now);
      break;
    }
  if (strand.request == no_slot) return;
  v.slots[strand.request] = {strand.now, free, no_channel};
  strand.request = no_slot;
}

}  // namespace simreplay::engine
