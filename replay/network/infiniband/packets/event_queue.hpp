#pragma once
// Events in the order of their times: a ring of short stretches of time (a calendar), each a list; what lies
// behind the ring waits in a heap. Only the stretches at hand are sorted.
//
// The order is total, (time, key, data), and does not depend on the order of insertion.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "common/huge_pages.hpp"
#include "common/units.hpp"

namespace simreplay::infiniband {

struct Event {
  TimePoint time;
  std::int32_t data = 0;
  std::uint32_t key = 0;  // kind and place

  /// All of it as one number, which compares without branches.
  Uint128 order() const {
    return static_cast<Uint128>(static_cast<std::uint64_t>(time.time_since_epoch().count())) << 64 |
           static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint32_t>(data);
  }
  friend bool operator<(const Event& a, const Event& b) { return a.order() < b.order(); }
  friend bool operator>(const Event& a, const Event& b) { return b < a; }
};

class EventQueue {
 public:
  static constexpr TimePoint never = TimePoint::max();

  EventQueue() { heads_.fill(-1); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// Not before the event popped last.
  void push(const Event& e) {
    size_++;
    const std::int64_t stretch = stretch_of(e.time);
    if (stretch <= at_) {
      late_.push_back(e);
      std::push_heap(late_.begin(), late_.end(), std::greater<>());
    } else if (stretch - at_ < stretches) {
      list(stretch, e);
    } else {
      far_.push_back(e);
      std::push_heap(far_.begin(), far_.end(), std::greater<>());
    }
  }

  /// Time of the next event; never if there is none.
  TimePoint next() {
    if (now_.empty() && !refill() && late_.empty()) return never;
    if (late_.empty()) return now_.back().time;
    return now_.empty() ? late_.front().time : std::min(now_.back().time, late_.front().time);
  }

  /// The next event if it is among the stretches at hand.
  const Event* peek() const {
    if (now_.empty()) return late_.empty() ? nullptr : &late_.front();
    return late_.empty() || now_.back() < late_.front() ? &now_.back() : &late_.front();
  }

  /// An event that comes soon, if it is known: about the one `n` after the next.
  const Event* ahead(std::size_t n) const {
    if (n < now_.size()) return &now_[now_.size() - 1 - n];
    n -= now_.size();
    return n < soon_.size() ? &soon_[soon_.size() - 1 - n] : nullptr;
  }

  /// There must be one, and next() must have been called.
  Event pop() {
    size_--;
    if (late_.empty() || (!now_.empty() && now_.back() < late_.front())) {
      const Event e = now_.back();
      now_.pop_back();
      return e;
    }
    std::pop_heap(late_.begin(), late_.end(), std::greater<>());
    const Event e = late_.back();
    late_.pop_back();
    return e;
  }

 private:
  static constexpr std::int64_t stretches = 4096;
  static constexpr std::size_t words = stretches / 64;
  static constexpr int widest = 40, narrowest = 4;  // bits of picoseconds
  struct alignas(64) Chunk {                        // of a list: two lines of the cache
    std::int32_t next = -1;
    std::uint32_t count = 0;
    std::array<Event, 7> events;
  };

  std::int64_t stretch_of(TimePoint t) const { return t.time_since_epoch().count() >> width_; }

  void list(std::int64_t stretch, const Event& e) {
    const auto slot = static_cast<std::size_t>(stretch & (stretches - 1));
    std::int32_t& head = heads_[slot];
    if (head < 0 || chunk(head).count == chunk(head).events.size()) add_chunk(head);
    Chunk& c = chunk(head);
    c.events[c.count++] = e;
    bits_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  Chunk& chunk(std::int32_t i) { return chunks_[static_cast<std::size_t>(i)]; }
  void add_chunk(std::int32_t& head) {
    std::int32_t i = spare_;
    if (i < 0) {
      i = static_cast<std::int32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      spare_ = chunk(i).next;
    }
    chunk(i).next = head;
    chunk(i).count = 0;
    head = i;
  }

  /// The first stretch behind the one at hand that has events, or none (-1).
  std::int64_t next_listed() const {
    const auto first = static_cast<std::size_t>((at_ + 1) & (stretches - 1));
    std::uint64_t word = bits_[first / 64] & (~std::uint64_t{0} << (first % 64));
    for (std::size_t n = 0, w = first / 64; n <= words; n++, w = (w + 1) % words, word = bits_[w]) {
      if (word == 0) continue;
      const auto slot = static_cast<std::int64_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      return at_ + 1 + ((slot - (at_ + 1)) & (stretches - 1));
    }
    return -1;
  }

  /// Of what is left, the next stretch, and the one behind it so that events can be seen coming; but not one
  /// that is far behind, for all that comes before it were late then. False if there is none.
  bool refill() {
    if (size_ == late_.size()) return false;
    adapt();
    now_.swap(soon_);
    if (now_.empty()) take_stretch(now_, std::numeric_limits<std::int64_t>::max());
    take_stretch(soon_, at_ + 2);
    return true;
  }

  void take_stretch(std::vector<Event>& to, std::int64_t limit) {
    std::int64_t next = next_listed();
    if (!far_.empty() && (next < 0 || stretch_of(far_.front().time) < next))
      next = stretch_of(far_.front().time);
    if (next < 0 || next > limit) return;
    at_ = next;
    take_list(static_cast<std::size_t>(at_ & (stretches - 1)), to);
    while (!far_.empty() && stretch_of(far_.front().time) == at_) {
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      to.push_back(far_.back());
      far_.pop_back();
      from_far_++;
    }
    std::sort(to.begin(), to.end(), std::greater<>());
    turns_++;
    taken_ += to.size();
  }

  void take_list(std::size_t slot, std::vector<Event>& to) {
    std::int32_t i = heads_[slot];
    heads_[slot] = -1;
    bits_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    while (i >= 0) {
      Chunk& c = chunk(i);
      to.insert(to.end(), c.events.begin(), c.events.begin() + c.count);
      const std::int32_t next = std::exchange(c.next, spare_);
      spare_ = i;
      i = next;
    }
  }

  /// Stretches with many events are narrowed; if many events come from behind the ring, they are widened.
  void adapt() {
    if (turns_ < 4096) return;
    const bool crowded = taken_ > 32 * turns_, sparse = from_far_ * 4 > taken_;
    const int change = sparse && width_ < widest ? 1 : crowded && !sparse && width_ > narrowest ? -1 : 0;
    turns_ = taken_ = from_far_ = 0;
    if (change == 0 || (change < 0 && widened_)) return;
    widened_ = widened_ || change > 0;
    rebuild(width_ + change);
  }

  void rebuild(int width) {
    std::vector<Event> all;
    all.swap(far_);
    for (std::size_t slot = 0; slot < heads_.size(); slot++) take_list(slot, all);
    for (std::vector<Event>* taken : {&now_, &soon_}) {
      all.insert(all.end(), taken->begin(), taken->end());
      taken->clear();
    }
    const TimePoint start = all.empty() ? TimePoint{} : std::min_element(all.begin(), all.end())->time;
    width_ = width;
    at_ = stretch_of(start) - 1;
    size_ -= all.size();
    for (const Event& e : all) push(e);
  }

  int width_ = 10;
  std::int64_t at_ = -1;           // the last stretch that was taken up
  std::vector<Event> now_, soon_;  // of it and the one before it, the next one last
  std::vector<Event> late_, far_;  // heaps: come for a stretch that was taken up; behind the ring
  std::array<std::int32_t, stretches> heads_;
  std::array<std::uint64_t, words> bits_{};
  HugeVector<Chunk> chunks_;
  std::int32_t spare_ = -1;
  std::size_t size_ = 0;
  std::uint64_t turns_ = 0, taken_ = 0, from_far_ = 0;
  bool widened_ = false;
};

}  // namespace simreplay::infiniband
