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

}  // namespace simreplay::engine
