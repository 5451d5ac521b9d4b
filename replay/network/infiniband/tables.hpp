#pragma once
// Where packets go: the output port of each switch for each destination LID, and the lanes they take.

#include <cstdint>
#include <string>
#include <vector>

#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

class Tables {
 public:
  static constexpr std::uint8_t no_route = 255;  // in a forwarding table
  static constexpr std::uint8_t no_dimension = 255;

  explicit Tables(const Fabric& fabric);

  std::uint8_t port(Node sw, Lid lid) const { return ports_[at(sw, lid)]; }  // 0: the switch itself
  const std::uint8_t* entry(Node sw, Lid lid) const { return &ports_[at(sw, lid)]; }
  void set_port(Node sw, Lid lid, std::uint8_t port) { ports_[at(sw, lid)] = port; }
  int switches() const { return switches_; }
  Lid max_lid() const { return static_cast<Lid>(stride_) - 1; }

  /// The service level of packets between hosts at these switches.
  std::uint8_t service_level(Node from, Node to) const {
    return levels_.empty() ? std::uint8_t{0}
                           : levels_[static_cast<std::size_t>(from) * static_cast<std::size_t>(switches_) +
                                     static_cast<std::size_t>(to)];
  }
  /// The lane behind port `out` of a switch, for a packet that came in by `in`; both of the whole fabric.
  std::uint8_t lane(Port in, Port out, std::uint8_t level) const {
    if (dimensions_.empty()) return level;
    const std::uint8_t d = dimensions_[static_cast<std::size_t>(out)],
                       from = dimensions_[static_cast<std::size_t>(in)];
    if (d == no_dimension) return 0;
    const unsigned turn = from != no_dimension && from > d ? 2 : 0;
    return static_cast<std::uint8_t>((static_cast<unsigned>(level) >> d & 1U) | turn);
  }
  /// The lane of the cable from a host to its switch.
  std::uint8_t first_lane(std::uint8_t level) const { return dimensions_.empty() ? level : std::uint8_t{0}; }
  /// One more than the highest lane that can occur.
  int lanes() const { return lanes_; }

  /// Lane = service level, given for each pair of switches.
  void set_levels(std::vector<std::uint8_t> levels, int lanes);
  /// Torus-2QoS: bit d of the level is the lane within dimension d; turns against the order of dimensions get
  /// lanes of their own. `dimensions` is that of each port of a switch, or none.
  void set_levels_by_dimension(std::vector<std::uint8_t> levels, std::vector<std::uint8_t> dimensions);

 private:
  std::size_t at(Node sw, Lid lid) const {
    return static_cast<std::size_t>(sw) * stride_ + static_cast<std::size_t>(lid);
  }

  int switches_, lanes_ = 1;
  std::size_t stride_;
  std::vector<std::uint8_t> ports_;
  std::vector<std::uint8_t> levels_;      // of each pair of switches; empty: all 0
  std::vector<std::uint8_t> dimensions_;  // of each port of the fabric; empty: lane = level
};

}  // namespace simreplay::infiniband
