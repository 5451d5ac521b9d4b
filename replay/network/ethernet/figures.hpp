#pragma once
// What happened to messages, in sums that do not depend on the order of their parts.

#include <algorithm>
#include <cstdint>

#include "common/units.hpp"
#include "replay/network/ethernet/wide.hpp"

namespace simreplay::ethernet {

/// Of times: how many, their sum, the longest.
struct Times {
  std::int64_t count = 0;
  Int128 sum_ps = 0;
  std::int64_t most_ps = 0;

  void add(Duration d) { add(1, d.count(), d.count()); }
  void add(std::int64_t n, Int128 sum, std::int64_t most) {
    count += n;
    sum_ps += sum;
    most_ps = std::max(most_ps, most);
  }
  void add(const Times& other) { add(other.count, other.sum_ps, other.most_ps); }
  std::int64_t mean_ps() const { return count == 0 ? 0 : static_cast<std::int64_t>(sum_ps / count); }
  friend bool operator==(const Times&, const Times&) = default;
};

/// Of the messages that arrived.
struct Arrived {
  Times latency;  // from the process that handed over to the arrival
  std::int64_t bytes = 0;
  TimePoint last{};

  void add(TimePoint sent, TimePoint arrival, std::int64_t size) {
    latency.add(arrival - sent);
    bytes += size;
    last = std::max(last, arrival);
  }
  void add(const Arrived& other) {
    latency.add(other.latency);
    bytes += other.bytes;
    last = std::max(last, other.last);
  }
};

inline double share(Int128 part, Int128 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace simreplay::ethernet
