#pragma once
// A medium that serves all who send on it at the same time in equal parts: each of S senders moves on at 1/S
// of the rate (processor sharing).
//
// All senders move on alike, so one number, the progress of a sender since the medium was last idle, stands
// for all: a transfer ends when progress has grown by its work. Progress grows by 1/S per picosecond. It is
// counted in parts of a picosecond that all S up to some number divide; then everything is exact. What needs
// a fraction of a picosecond to end holds the medium until the picosecond is over.

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "common/units.hpp"
#include "replay/network/ethernet/figures.hpp"

namespace simreplay::ethernet {

class Medium {
 public:
  using Work = Uint128;  // in parts of a picosecond of the whole medium
  struct Transfer {
    Work end;  // progress at its end
    std::int32_t sender;
    friend bool operator>(const Transfer& a, const Transfer& b) {
      return a.end != b.end ? a.end > b.end : a.sender > b.sender;
    }
  };

  Medium(const Ratio& per_byte, std::int32_t most_senders);

  /// Throws Error if it takes longer than times can be.
  Work work_of(std::int64_t bytes) const;
  /// When the next transfer ends; never if there is none.
  TimePoint next_end() const;
  /// A transfer that has ended by now, one after the other.
  std::optional<Transfer> take_ended(TimePoint now);
  /// `now` is not before the last one. There must be some work.
  void start(TimePoint now, std::int32_t sender, Work work);
  /// The sender goes on where its transfer ended, which has just been taken.
  void go_on(const Transfer& ended, Work work);

  Duration busy() const { return busy_; }
  Int128 sender_time_ps() const { return sender_time_ps_; }  // sum over senders of the time they sent
  std::int32_t most_senders() const { return most_; }
  bool exact() const { return slack_ == 0; }

 private:
  std::int64_t senders() const { return static_cast<std::int64_t>(transfers_.size()); }
  void move_to(TimePoint now);

  Ratio per_byte_;
  std::uint64_t parts_ = 1;  // of a picosecond
  Work slack_ = 0;           // may be missing at an end: covers what was lost where S does not divide
  Work progress_ = 0;
  TimePoint now_{};
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers_;

  Duration busy_{};
  Int128 sender_time_ps_ = 0;
  std::int32_t most_ = 0;
};

}  // namespace simreplay::ethernet
