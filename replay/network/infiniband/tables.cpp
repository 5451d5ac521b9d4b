#include "replay/network/infiniband/tables.hpp"

namespace simreplay::infiniband {

Tables::Tables(const Fabric& f)
    : switches_(f.switches()),
      stride_(static_cast<std::size_t>(f.max_lid()) + 1),
      ports_(static_cast<std::size_t>(f.switches()) * stride_, no_route) {}

void Tables::set_levels(std::vector<std::uint8_t> levels, int lanes) {
  levels_ = std::move(levels);
  lanes_ = lanes;
}

void Tables::set_levels_by_dimension(std::vector<std::uint8_t> levels, std::vector<std::uint8_t> dimensions) {
  levels_ = std::move(levels);
  dimensions_ = std::move(dimensions);
  lanes_ = 4;
}

}  // namespace simreplay::infiniband
