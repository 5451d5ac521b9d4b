#include "common/trace/encoder.hpp"

#include <algorithm>

namespace simreplay::trace {
namespace {

constexpr std::size_t buffered_calls = 1U << 15;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

std::uint64_t hash(const Signature& s) {
  const auto u = [](auto v) { return static_cast<std::uint64_t>(v); };
  std::uint64_t h = mix(u(s.op) << 16 | s.flags, u(s.bytes));
  h = mix(h, u(static_cast<std::uint32_t>(s.communicator)) << 32 | static_cast<std::uint32_t>(s.peer));
  h = mix(h, u(s.thread) << 16 | s.overlaps);
  h = mix(h, u(static_cast<std::uint32_t>(s.tag)) << 32 | static_cast<std::uint32_t>(s.request));
  for (const std::int64_t item : s.items) h = mix(h, u(item));
  return h;
}

bool equal(const Signature& a, const Signature& b) {
  return a.op == b.op && a.flags == b.flags && a.thread == b.thread && a.overlaps == b.overlaps &&
         a.communicator == b.communicator && a.peer == b.peer && a.tag == b.tag && a.request == b.request &&
         a.bytes == b.bytes && std::ranges::equal(a.items, b.items);
}

}  // namespace

Encoder::Encoder(Sink& sink) : sink_(sink) {
  signature_.reserve(buffered_calls);
  computation_.reserve(buffered_calls);
  duration_.reserve(buffered_calls);
  wall_.reserve(buffered_calls);
}

void Encoder::begin(std::int32_t process) {
  segment_ = {};
  segment_.process = process;
  segment_.first_call = extent_.calls;
  segment_.first_signature = extent_.signatures;
  segment_.first_item = extent_.items;
  table_.clear();
  successor_.clear();
  slots_.assign(256, 0);
  previous_ = 0;
}

void Encoder::add(const Signature& s, std::int64_t computation, std::int64_t duration, std::int64_t wall) {
  const std::uint32_t number = find(s);
  signature_.push_back(static_cast<std::uint16_t>(number));
  computation_.push_back(computation);
  duration_.push_back(duration);
  wall_.push_back(wall);
  segment_.calls++;
  extent_.calls++;
  if (signature_.size() == buffered_calls) flush_calls();
}

void Encoder::end() {
  flush_calls();
  flush_segment();
}

std::uint32_t Encoder::find(const Signature& s) {
  if (previous_ < successor_.size()) {
    const std::uint32_t guess = successor_[previous_];
    if (guess < table_.size() && equal(table_[guess], s)) return previous_ = guess;
  }
  const std::uint32_t number = look_up(s);
  if (previous_ < successor_.size()) successor_[previous_] = number;
  return previous_ = number;
}

std::uint32_t Encoder::look_up(const Signature& s) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(s) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask)
    if (equal(table_[slots_[slot] - 1], s)) return slots_[slot] - 1;
  if (table_.size() == signatures_per_segment) {
    const std::int32_t process = segment_.process;
    end();
    begin(process);
    return look_up(s);
  }
  table_.push_back(s);
  successor_.push_back(0);
  slots_[slot] = static_cast<std::uint32_t>(table_.size());
  if (table_.size() * 2 > slots_.size()) rehash(slots_.size() * 2);
  return static_cast<std::uint32_t>(table_.size() - 1);
}

void Encoder::rehash(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::size_t i = 0; i < table_.size(); i++) {
    std::size_t slot = hash(table_[i]) & (slots - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

void Encoder::flush_calls() {
  if (signature_.empty()) return;
  sink_.calls(signature_, computation_, duration_, wall_);
  signature_.clear();
  computation_.clear();
  duration_.clear();
  wall_.clear();
}

void Encoder::flush_segment() {
  if (segment_.calls == 0) return;
  segment_.signatures = table_.size();
  extent_.signatures += table_.size();
  extent_.items += table_.item_values.size();
  extent_.segments++;
  sink_.segment(segment_, table_);
  segment_.calls = 0;
}

}  // namespace simreplay::trace
