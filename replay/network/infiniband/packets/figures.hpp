#pragma once
// What a run did to each link and how long messages took: plain sums, the same for any division.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

/// Of a port as a sender.
struct PortFigures {
  std::int64_t packets = 0, bytes = 0;
  Duration busy{0};
  Duration queued{0};   // packets, from ready to start, summed up
  Duration stalled{0};  // the port stood idle for want of credits with a packet at hand
};

/// Counts of durations: eight classes for each power of two of picoseconds, so within 12.5 %.
class Histogram {
 public:
  void add(Duration d) { counts_[class_of(d.count())]++; }
  std::int64_t total() const;
  Duration smallest_of(std::size_t i) const;
  /// The lower bound of the class of this share of all (0 to 1); 0 without any.
  Duration quantile(double share) const;
  std::array<std::int64_t, 512>& counts() { return counts_; }
  const std::array<std::int64_t, 512>& counts() const { return counts_; }

 private:
  static std::size_t class_of(std::int64_t ps);
  std::array<std::int64_t, 512> counts_{};
};

struct Figures {
  std::vector<PortFigures> ports;                  // by port
  Duration bin{0};                                 // 0: no bins
  std::vector<std::vector<std::int64_t>> busy_ps;  // of each port and bin
  std::int64_t messages = 0, bytes = 0;            // arrived
  Histogram latency;
  TimePoint end{};  // the last arrival at an adapter

  std::int64_t packet_hops() const;
  void add_to_bins(Port port, TimePoint start, TimePoint stop);
};

/// The ports that were busy the longest share of the time, the busiest first, at most `most`.
std::vector<Port> hot_ports(const Figures& figures, std::size_t most);

/// What the figures are about.
struct FabricFacts {
  std::string name, routing;  // as asked for
  int lanes = 1;
};

/// All of it: links that carried something, hot ones, latencies; before them the facts, if there are some.
std::string to_json(const Figures& figures, const Fabric& fabric, std::size_t hot = 10);
std::string to_json(const Figures& figures, const Fabric& fabric, const FabricFacts& facts,
                    std::size_t hot = 10);

/// The same in a few lines for people.
std::vector<std::string> summary(const Figures& figures, const Fabric& fabric, const FabricFacts& facts);

}  // namespace simreplay::infiniband
