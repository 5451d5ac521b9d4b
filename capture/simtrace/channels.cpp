#include "capture/simtrace/channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "capture/simtrace/hash.hpp"

namespace simreplay::simtrace {

Fault fault_of(const CallName& receive, const WrongSize& w) {
  return fault_at(
      receive, fmt::format("the {} bytes that process {} sent in call {}", w.sent, w.sender, w.sending_call),
      fmt::format("{} bytes", w.received));
}

std::optional<Half> Channels::meet(const Channel& channel, Side side, const Half& half) {
  std::size_t index = find(channel);
  if (slots_[index].head != none && slots_[index].side != side) return take(index);
  if (slots_[index].head == none) {
    if ((used_ + 1) * 2 > slots_.size()) {
      grow();
      index = find(channel);
    }
    used_++;
    slots_[index] = {channel, none, none, side};
  }
  append(slots_[index], half);
  return std::nullopt;
}

std::vector<Channels::Open> Channels::open() const {
  std::vector<Open> all;
  for (const Slot& slot : slots_)
    for (std::uint32_t n = slot.head; n != none; n = nodes_[n].next)
      all.push_back({slot.channel, slot.side, nodes_[n].half});
  const auto place = [](const Open& o) {
    return std::tuple(o.side == Side::send ? o.channel.source : o.channel.destination, o.half.call, o.side);
  };
  std::ranges::sort(all, [&](const Open& a, const Open& b) { return place(a) < place(b); });
  return all;
}

std::size_t Channels::home(const Channel& c) const {
  const auto pair = [](std::int32_t a, std::int32_t b) {
    return std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
  };
  return hash(pair(c.source, c.destination), pair(c.communicator, c.tag)) & (slots_.size() - 1);
}

/// The slot of the channel, or the free one where it would be.
std::size_t Channels::find(const Channel& channel) const {
  std::size_t i = home(channel);
  while (slots_[i].head != none && slots_[i].channel != channel) i = (i + 1) & (slots_.size() - 1);
  return i;
}

void Channels::append(Slot& slot, const Half& half) {
  std::uint32_t n = free_;
  if (n == none) {
    n = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[n].next;
  }
  nodes_[n] = {half, none};
  (slot.head == none ? slot.head : nodes_[slot.tail].next) = n;
  slot.tail = n;
  open_++;
}

Half Channels::take(std::size_t index) {
  Slot& slot = slots_[index];
  const std::uint32_t n = slot.head;
  const Half half = nodes_[n].half;
  slot.head = nodes_[n].next;
  nodes_[n].next = std::exchange(free_, n);
  open_--;
  if (slot.head == none) erase(index);
  return half;
}

/// Moves later slots of the same run up, so that no probe meets a hole before its slot.
void Channels::erase(std::size_t hole) {
  const std::size_t mask = slots_.size() - 1;
  used_--;
  for (std::size_t i = (hole + 1) & mask; slots_[i].head != none; i = (i + 1) & mask) {
    const std::size_t distance = (i - home(slots_[i].channel)) & mask;
    if (distance < ((i - hole) & mask)) continue;
    slots_[hole] = std::exchange(slots_[i], Slot{});
    hole = i;
  }
  slots_[hole] = {};
}

void Channels::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot& slot : old)
    if (slot.head != none) slots_[find(slot.channel)] = slot;
}

}  // namespace simreplay::simtrace
