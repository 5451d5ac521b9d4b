#pragma once
// The regions that a thread is in. Programs may leave out ends or say them in another order than that of the
// beginnings; what then holds is said here once, for all who follow regions.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay {

/// What may be wrong with a region or timer.
enum class Unpaired : std::uint8_t { not_begun, outlived, not_ended };

constexpr const char* text_of(Unpaired fault, trace::MetricKind kind) {
  const bool is_timer = kind == trace::MetricKind::timer;
  switch (fault) {
    case Unpaired::not_begun:
      return is_timer ? "is stopped, but was not started" : "is ended, but was not begun";
    case Unpaired::outlived:
      return "is still open where a region around it ends";
    case Unpaired::not_ended:
      return is_timer ? "is never stopped" : "is never ended";
  }
  return "";
}

/// `Begin`: what is to be known of a beginning.
template <class Begin>
class RegionStack {
 public:
  struct Open {
    std::int32_t region = 0;
    Begin begin{};
  };

  void begin(std::int32_t region, Begin begin) { open_.push_back({region, std::move(begin)}); }

  /// Ends the innermost region of this number and before it, from the inside, those that were begun in it and
  /// not ended: `close(open, is_asked)` is called for each. False, and nothing, if there is none.
  template <class Close>
  bool end(std::int32_t region, Close&& close) {
    std::size_t depth = open_.size();
    while (depth > 0 && open_[depth - 1].region != region) depth--;
    if (depth == 0) return false;
    while (open_.size() >= depth) {
      const Open innermost = std::move(open_.back());
      open_.pop_back();
      close(innermost, open_.size() + 1 == depth);
    }
    return true;
  }

  /// From the outermost to the innermost.
  const std::vector<Open>& open() const { return open_; }

 private:
  std::vector<Open> open_;
};

}  // namespace simreplay
