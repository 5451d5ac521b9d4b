#pragma once
// From MPI handles to what we know about them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace simreplay::recorder {

/// Values by handle, several to a handle, first in, first out: MPI libraries return one and the same handle
/// for all sends that are finished at once, and use others again as soon as they are free.
/// Open addressing; allocates only to grow.
template <class Handle, class Value>
class HandleMap {
 public:
  void push(Handle handle, const Value& value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    const std::uint32_t node = new_node(value);
    Slot& slot = slots_[find_slot(handle)];
    if (slot.first == none) {
      slot = {handle, node, node};
      used_++;
    } else {
      nodes_[slot.last].next = node;
      slot.last = node;
    }
  }

  /// The oldest value of this handle, or nullptr.
  Value* find(Handle handle) {
    if (used_ == 0) return nullptr;
    const Slot& slot = slots_[find_slot(handle)];
    return slot.first == none ? nullptr : &nodes_[slot.first].value;
  }

  std::optional<Value> pop(Handle handle) {
    if (used_ == 0) return std::nullopt;
    const std::size_t at = find_slot(handle);
    Slot& slot = slots_[at];
    if (slot.first == none) return std::nullopt;
    const std::uint32_t node = slot.first;
    slot.first = nodes_[node].next;
    if (slot.first == none) erase(at);
    nodes_[node].next = free_;
    free_ = node;
    return nodes_[node].value;
  }

  /// Number of handles that have values.
  std::size_t size() const { return used_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Slot {
    Handle handle{};
    std::uint32_t first = none, last = none;
  };
  struct Node {
    Value value;
    std::uint32_t next;
  };

  std::size_t home(Handle handle) const {
    std::uint64_t bits = 0;
    if constexpr (std::is_pointer_v<Handle>)
      bits = reinterpret_cast<std::uintptr_t>(handle);
    else
      bits = static_cast<std::uint64_t>(handle);
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15ULL) >> 32) & (slots_.size() - 1);
  }

  std::size_t find_slot(Handle handle) const {
    std::size_t at = home(handle);
    while (slots_[at].first != none && slots_[at].handle != handle) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::uint32_t new_node(const Value& value) {
    if (free_ == none) {
      nodes_.push_back({value, none});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {value, none};
    return node;
  }

  /// Closes the gap, so that no chain of displaced slots is cut and no tombstones pile up.
  void erase(std::size_t gap) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (gap + 1) & mask; slots_[at].first != none; at = (at + 1) & mask) {
      const std::size_t wanted = home(slots_[at].handle);
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;  // the gap lies before its home
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = {};
    used_--;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : 2 * old.size(), Slot{});
    for (const Slot& slot : old)
      if (slot.first != none) slots_[find_slot(slot.handle)] = slot;
  }

  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::size_t used_ = 0;
};

}  // namespace simreplay::recorder
