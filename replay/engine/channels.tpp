#pragma once

#include "replay/engine/channels.hpp"

namespace simreplay::engine {

template <class Clock>
void Channels<Clock>::append(Queue& q, const Entry& entry) {
  std::uint32_t node = free_;
  if (node == none) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[node].next;
  }
  if (q.last == none) {
    nodes_[node] = {entry, node};
  } else {
    nodes_[node] = {entry, nodes_[q.last].next};
    nodes_[q.last].next = node;
  }
  q.last = node;
}

template <class Clock>
auto Channels<Clock>::take_second(Queue& q) -> Entry {
  const std::uint32_t node = nodes_[q.last].next;
  if (node == q.last)
    q.last = none;
  else
    nodes_[q.last].next = nodes_[node].next;
  nodes_[node].next = free_;
  free_ = node;
  return nodes_[node].entry;
}

template <class Clock>
void Channels<Clock>::abandon_receive(std::uint32_t channel, PendingReceive r, std::uint32_t nobody) {
  Queue& q = queues_[channel];
  std::uint32_t node = q.last;
  for (std::int32_t i = q.balance; i < 0; i++) {
    Entry& entry = i == q.balance ? q.first : nodes_[node = nodes_[node].next].entry;
    if (entry.receive != r) continue;
    entry.receive.slot = nobody;
    return;
  }
}

template <class Clock>
std::int64_t Channels<Clock>::unreceived() const {
  std::int64_t n = 0;
  for (const Queue& q : queues_)
    if (q.balance > 0) n += q.balance;
  return n;
}

template <class Clock>
void Channels<Clock>::each_unreceived(const std::function<void(const Envelope&, std::int64_t)>& f) const {
  for (std::uint32_t c = 0; c < queues_.size(); c++)
    if (queues_[c].balance > 0) f(index_[c], queues_[c].balance);
}

}  // namespace simreplay::engine
