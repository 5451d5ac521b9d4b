#include "replay/engine/channels.hpp"

namespace simreplay::engine {
namespace {

std::uint64_t hash(const Envelope& e) {
  const auto u = [](std::int32_t v) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v)); };
  std::uint64_t h = (u(e.source) << 32 | u(e.destination)) * 0x9e3779b97f4a7c15ULL;
  h ^= (u(e.communicator) << 32 | u(e.tag)) + (h >> 29);
  h *= 0xbf58476d1ce4e5b9ULL;
  return h ^ (h >> 32);
}

}  // namespace

std::pair<std::uint32_t, bool> EnvelopeIndex::intern(const Envelope& e) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(e) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if (envelopes_[slots_[at] - 1] == e) return {slots_[at] - 1, false};
  envelopes_.push_back(e);
  slots_[at] = static_cast<std::uint32_t>(envelopes_.size());
  if (envelopes_.size() * 2 > slots_.size()) grow();
  return {static_cast<std::uint32_t>(envelopes_.size() - 1), true};
}

void EnvelopeIndex::grow() {
  const std::size_t mask = slots_.size() * 2 - 1;
  slots_.assign(mask + 1, 0);
  for (std::size_t i = 0; i < envelopes_.size(); i++) {
    std::size_t at = hash(envelopes_[i]) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

std::uint32_t Channels::open(const Envelope& e) {
  const auto [number, is_new] = index_.intern(e);
  if (is_new) queues_.emplace_back();
  return number;
}

void Channels::append(Queue& q, Entry entry) {
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

Channels::Entry Channels::take_second(Queue& q) {
  const std::uint32_t node = nodes_[q.last].next;
  if (node == q.last)
    q.last = none;
  else
    nodes_[q.last].next = nodes_[node].next;
  nodes_[node].next = free_;
  free_ = node;
  return nodes_[node].entry;
}

void Channels::abandon_receive(std::uint32_t channel, PendingReceive r, std::uint32_t nobody) {
  const auto packed = [](PendingReceive p) {
    return static_cast<std::int64_t>(std::uint64_t{p.processor} << 32 | p.slot);
  };
  Queue& q = queues_[channel];
  std::uint32_t node = q.last;
  for (std::int32_t i = q.balance; i < 0; i++) {
    Entry& entry = i == q.balance ? q.first : nodes_[node = nodes_[node].next].entry;
    if (entry.value != packed(r)) continue;
    entry.value = packed({r.processor, nobody});
    return;
  }
}

std::int64_t Channels::unreceived() const {
  std::int64_t n = 0;
  for (const Queue& q : queues_)
    if (q.balance > 0) n += q.balance;
  return n;
}

void Channels::each_unreceived(const std::function<void(const Envelope&, std::int64_t)>& f) const {
  for (std::uint32_t c = 0; c < queues_.size(); c++)
    if (queues_[c].balance > 0) f(index_[c], queues_[c].balance);
}

}  // namespace simreplay::engine
