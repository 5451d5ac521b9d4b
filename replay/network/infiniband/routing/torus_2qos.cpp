// Torus-2QoS, as OpenSM's engine routes a mesh or torus that lacks nothing: along the first dimension, then
// the second, then the third, each the shorter way round, two equal ways without crossing the dateline. Bit d
// of the service level says that the packet crosses the dateline of dimension d, and so which of two lanes it
// takes there.

#include <fmt/format.h>

#include <cstdlib>

#include "common/error.hpp"
#include "replay/network/infiniband/routing/routing.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

class Torus {
 public:
  explicit Torus(const Fabric& f)
      : fabric_(f),
        grid_(grid_of(f)),
        ways_(at(f.switches() * 2 * grid_.dimensions())),
        turns_(ways_.size(), 0) {
    for (Node sw = 0; sw < f.switches(); sw++)
      for (int p = 1; p <= f.ports(sw); p++) sort_in(sw, f.port(sw, p));
  }

  Tables route() {
    Tables tables(fabric_);
    const auto n = at(fabric_.switches());
    std::vector<std::uint8_t> levels(n * n, 0);
    for (Node sw = 0; sw < fabric_.switches(); sw++)
      for (const Node target : fabric_.switches_by_guid()) {
        for (const Node host : fabric_.hosts_of(target))
          tables.set_port(
              sw, fabric_.lid(host),
              static_cast<std::uint8_t>(sw == target ? fabric_.number(fabric_.port_towards_host(host))
                                                     : next_port(sw, target)));
        tables.set_port(sw, fabric_.lid(target),
                        static_cast<std::uint8_t>(sw == target ? 0 : next_port(sw, target)));
        levels[at(sw) * n + at(target)] = level(sw, target);
      }
    tables.set_levels_by_dimension(std::move(levels), std::move(dimensions_));
    return tables;
  }

 private:
  static const Grid& grid_of(const Fabric& f) {
    if (!f.grid())
      throw Error({.operation = "torus-2QoS",
                   .expected = "a mesh or torus",
                   .found = "a fabric whose places are not known",
                   .remedy = "name them (--torus-config of simnet, infiniband.torus-config of a machine)"});
    return *f.grid();
  }

  std::vector<Port>& way(Node sw, int dimension, bool plus) {
    return ways_[at(sw * 2 * grid_.dimensions() + 2 * dimension + (plus ? 1 : 0))];
  }

  void sort_in(Node sw, Port p) {
    dimensions_.push_back(Tables::no_dimension);
    const Node n = fabric_.neighbor(p);
    if (n == nothing || !fabric_.is_switch(n)) return;
    for (int d = 0; d < grid_.dimensions(); d++) {
      const int size = grid_.sizes[at(d)], a = grid_.at(sw, d), b = grid_.at(n, d);
      if (a == b) continue;
      dimensions_.back() = static_cast<std::uint8_t>(d);
      // In a ring of two both cables lead to the same neighbor; they are one way, and never cross the
      // dateline.
      way(sw, d, size == 2 ? b > a : b == (a + 1) % size).push_back(p);
    }
  }

  /// Crossing the dateline, between the last place and the first, would be shorter.
  bool is_shorter_across(Node from, Node to, int d) const {
    const int direct = std::abs(grid_.at(to, d) - grid_.at(from, d));
    return direct > grid_.sizes[at(d)] - direct;
  }

  std::uint8_t level(Node from, Node to) const {
    unsigned level = 0;
    // OpenSM sets these bits on meshes too, where nothing crosses; each way in a mesh keeps to one lane all
    // the same.
    for (int d = 0; d < grid_.dimensions(); d++) level |= (is_shorter_across(from, to, d) ? 1U : 0U) << d;
    return static_cast<std::uint8_t>(level);
  }

  int next_port(Node sw, Node target) {
    for (int d = 0; d < grid_.dimensions(); d++) {
      const int a = grid_.at(sw, d), b = grid_.at(target, d);
      if (a == b) continue;
      const bool plus = (b > a) != (grid_.wraps && is_shorter_across(sw, target, d));
      const std::vector<Port>& ports = way(sw, d, plus);
      if (ports.empty())
        throw Error({.operation = "torus-2QoS",
                     .expected = "a mesh or torus that lacks no cable",
                     .found = fmt::format("none in dimension {} {} at {}", d, plus ? "upwards" : "downwards",
                                          fabric_.name(sw))});
      std::size_t& turn = turns_[at(sw * 2 * grid_.dimensions() + 2 * d + (plus ? 1 : 0))];
      return fabric_.number(ports[turn++ % ports.size()]);
    }
    return 0;
  }

  const Fabric& fabric_;
  const Grid& grid_;
  std::vector<std::vector<Port>> ways_;   // of each switch, dimension, direction
  std::vector<std::size_t> turns_;        // of parallel cables
  std::vector<std::uint8_t> dimensions_;  // of each port
};

}  // namespace

Tables route_torus_2qos(const Fabric& f, const RoutingOptions&) { return Torus(f).route(); }

}  // namespace simreplay::infiniband
