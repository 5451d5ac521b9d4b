#pragma once
// What the algorithms share: ranks on a ring, sizes of blocks, vectors cut into parts, powers of two.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>

#include "replay/collectives/algorithms.hpp"

namespace simreplay::collectives {

/// a mod p for a in [-p, 2p).
constexpr int wrap(int a, int p) { return a < 0 ? a + p : a >= p ? a - p : a; }

constexpr int largest_power_of_two(int p) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
}
constexpr bool is_power_of_two(int p) { return largest_power_of_two(p) == p; }
constexpr int log2_of_power(int power) { return std::countr_zero(static_cast<unsigned>(power)); }
constexpr int lowest_bit(int v) { return v & -v; }

/// First member of the aligned group of `width` (a power of two) members that v belongs to.
constexpr int group_of(int v, int width) { return v & ~(width - 1); }

/// Rules and fall-backs count elements, the trace counts bytes. Reductions are taken to combine elements of
/// 8 bytes (the last may be shorter), all other operations to move single bytes.
inline constexpr std::int64_t reduced_element = 8, moved_element = 1;

/// A vector that is cut between elements.
class Vector {
 public:
  constexpr Vector(std::int64_t bytes, std::int64_t element) : bytes_(bytes), element_(element) {}
  constexpr std::int64_t count() const { return bytes_ / element_ + (bytes_ % element_ != 0); }
  /// Bytes of the elements [first, first + elements), as far as the vector goes.
  constexpr std::int64_t bytes(std::int64_t first, std::int64_t elements) const {
    return start(first + elements) - start(first);
  }

 private:
  constexpr std::int64_t start(std::int64_t element) const {
    return element >= count() ? bytes_ : element * element_;
  }
  std::int64_t bytes_, element_;
};

/// Sizes of the members' blocks: all alike, or listed.
class Blocks {
 public:
  explicit Blocks(std::int64_t each) : each_(each) {}
  explicit Blocks(std::span<const std::int64_t> sizes) : sizes_(sizes) {}
  explicit Blocks(const Call& c) : each_(c.bytes), sizes_(c.blocks) {}

  std::int64_t of(int member) const {
    return sizes_.empty() ? each_ : sizes_[static_cast<std::size_t>(member)];
  }
  /// Of `count` members from `first` on, where 0 follows the last.
  std::int64_t of(int first, int count) const {
    if (sizes_.empty()) return each_ * count;
    const auto begin = static_cast<std::size_t>(first), n = static_cast<std::size_t>(count);
    const std::size_t straight = std::min(n, sizes_.size() - begin);
    return sum(sizes_.subspan(begin, straight)) + sum(sizes_.first(n - straight));
  }

 private:
  static std::int64_t sum(std::span<const std::int64_t> s) { return std::reduce(s.begin(), s.end()); }
  std::int64_t each_ = 0;
  std::span<const std::int64_t> sizes_{};
};

/// Of p members only a power of two takes part: the first 2 * extra members form pairs, of which one stays.
class Fold {
 public:
  enum class Stays : bool { even, odd };
  Fold(int p, Stays stays) : power_(largest_power_of_two(p)), extra_(p - power_), stays_(stays) {}

  int power() const { return power_; }
  int extra() const { return extra_; }
  bool paired(int rank) const { return rank < 2 * extra_; }
  bool leaves(int rank) const { return paired(rank) && (rank % 2 == 0) == (stays_ == Stays::odd); }
  /// Of a member that stays: its number among those; and back.
  int number(int rank) const { return paired(rank) ? rank / 2 : rank - extra_; }
  int rank(int number) const {
    return number < extra_ ? 2 * number + (stays_ == Stays::odd) : number + extra_;
  }
  /// The first member whose block is in the care of number v; v = power stands for the end.
  int first_member(int v) const { return v < extra_ ? 2 * v : v + extra_; }

 private:
  int power_, extra_;
  Stays stays_;
};

/// In a doubling step, the groups [.., v, ..) of `width` members and the one beside it exchange. If p cuts
/// one of them short, members without a partner get what the others received: each of those hands it on.
/// Calls send(to) and receive(from) with v-ranks, in the order of the messages.
template <class Send, class Receive>
void hand_on(int v, int width, int p, Send&& send, Receive&& receive) {
  const int served = p - group_of(v, width) - width;  // members of the group above, hence partners below
  if (group_of(v ^ width, width) + width <= p) return;
  for (int d = width >> 1; d > 0; d >>= 1) {
    const int other = v ^ d, limit = group_of(v, d << 1) + served;
    if (v < other && v < limit && other >= limit) send(other);
    if (other < v && other < limit && v >= limit) receive(other);
  }
}

}  // namespace simreplay::collectives
