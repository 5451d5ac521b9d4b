#pragma once
// Requests of a process under the smallest numbers that are free.

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace simreplay::pack {

class RequestSlots {
 public:
  std::int32_t open(std::uint32_t request) {
    std::int32_t slot = next_;
    if (free_.empty()) {
      next_++;
    } else {
      slot = free_.top();
      free_.pop();
    }
    slots_[request] = slot;
    return slot;
  }

  std::optional<std::int32_t> find(std::uint32_t request) const {
    const auto it = slots_.find(request);
    return it == slots_.end() ? std::nullopt : std::optional(it->second);
  }

  std::optional<std::int32_t> close(std::uint32_t request) {
    const auto it = slots_.find(request);
    if (it == slots_.end()) return std::nullopt;
    const std::int32_t slot = it->second;
    slots_.erase(it);
    free_.push(slot);
    return slot;
  }

  std::size_t size() const { return slots_.size(); }

 private:
  std::int32_t next_ = 0;
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free_;
  std::unordered_map<std::uint32_t, std::int32_t> slots_;
};

}  // namespace simreplay::pack
