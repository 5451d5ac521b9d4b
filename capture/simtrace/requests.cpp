#include "capture/simtrace/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace simreplay::simtrace {
namespace {

/// Larger slot numbers cannot come from a real run and would only cost memory.
constexpr std::size_t most_slots = 1U << 24;

}  // namespace

void Requests::open(const CallName& at, std::int32_t slot, FaultLog& faults) {
  const auto index = static_cast<std::size_t>(slot);
  if (index != smallest_free_)
    faults.add(fault_at(at, fmt::format("request slot {}, the smallest that is free", smallest_free_),
                        is_open(slot) ? fmt::format("slot {}, which call {} opened", slot, slots_[index].call)
                                      : fmt::format("slot {}", slot)));
  if (index >= most_slots) return;
  if (index >= slots_.size()) slots_.resize(index + 1);
  slots_[index] = {true, at.op, at.call, std::nullopt};
  while (smallest_free_ < slots_.size() && slots_[smallest_free_].is_open) smallest_free_++;
}

std::optional<Requests::Open> Requests::close(const CallName& at, std::int64_t slot, FaultLog& faults) {
  expect_open(at, slot, faults);
  if (!is_open(slot)) return std::nullopt;
  const auto index = static_cast<std::size_t>(slot);
  smallest_free_ = std::min(smallest_free_, index);
  return std::exchange(slots_[index], Open{});
}

void Requests::expect_open(const CallName& at, std::int64_t slot, FaultLog& faults) const {
  if (!is_open(slot))
    faults.add(fault_at(at, "an open request", fmt::format("slot {}, which is free", slot)));
}

Requests::Open* Requests::opened_by(std::uint64_t call, std::int32_t slot) {
  if (!is_open(slot)) return nullptr;
  Open& open = slots_[static_cast<std::size_t>(slot)];
  return open.call == call ? &open : nullptr;
}

void Requests::expect_none_open(std::int32_t process, FaultLog& faults) const {
  for (std::size_t slot = 0; slot < slots_.size(); slot++)
    if (slots_[slot].is_open)
      faults.add(fault_at({process, slots_[slot].call, slots_[slot].op}, "a call that completes its request",
                          fmt::format("slot {} open at the end", slot)));
}

}  // namespace simreplay::simtrace
