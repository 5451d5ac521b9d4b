#include "replay/network/infiniband/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "common/units.hpp"
#include "replay/network/infiniband/lft_dump.hpp"
#include "replay/network/infiniband/routing/routing.hpp"
#include "replay/network/infiniband/text_form.hpp"
#include "replay/network/infiniband/torus_config.hpp"

namespace simreplay::infiniband {
namespace {

template <std::string Source::*Member>
void set_text(Source& s, std::string_view text) {
  if (text.empty()) throw std::invalid_argument("expected a name, found none");
  s.*Member = text;
}

void set_max_lanes(Source& s, std::string_view text) {
  const std::int64_t lanes = parse_count(text);
  if (lanes < 1 || lanes > 15) throw std::invalid_argument(fmt::format("expected 1 to 15, found {}", lanes));
  s.max_lanes = static_cast<int>(lanes);
}

constexpr std::array<SourceRow, 5> rows{
    {{"topology", "SPEC|FILE",
      "a fabric to be made, or a file: output of ibnetdiscover, a netlist of ibsim, our own text form",
      set_text<&Source::topology>},
     {"routing", "NAME|FILE",
      "minhop (default), updn, dnup, dor, ftree, lash, torus-2QoS, or tables dumped by OpenSM",
      set_text<&Source::routing>},
     {"roots", "FILE", "GUIDs of root switches, one a line (updn, ftree)", set_text<&Source::roots>},
     {"torus-config", "FILE", "OpenSM's torus-2QoS.conf, for a torus from a file",
      set_text<&Source::torus_config>},
     {"max-lanes", "N", "lanes that lash may use, 1 to 15 (default: 8)", set_max_lanes}}};

}  // namespace

std::span<const SourceRow> source_rows() { return rows; }

Fabric load_fabric(const Source& source) {
  Fabric fabric = load_fabric(source.topology);
  if (!source.torus_config.empty()) fabric.set_grid(read_torus_config(source.torus_config, fabric));
  return fabric;
}

Tables load_tables(const Source& source, const Fabric& fabric, std::vector<std::string>& notes) {
  if (!is_engine(source.routing) && std::filesystem::exists(source.routing))
    return read_lft_dump(source.routing, fabric, notes);
  RoutingOptions how{.max_lanes = source.max_lanes};
  if (!source.roots.empty()) how.roots = read_roots(source.roots, fabric);
  return route(fabric, source.routing, how);
}

std::string faults(const Fabric& fabric, const Check& check) {
  constexpr std::size_t shown = 4;
  std::vector<std::string> all;
  if (!check.arrives())
    all.push_back(fmt::format("{} of {} pairs of hosts do not arrive", format_count(check.lost),
                              format_count(check.pairs)));
  for (std::size_t i = 0; i < std::min(shown, check.some_lost.size()); i++)
    all.push_back(to_string(fabric, check.some_lost[i]));
  if (!check.acyclic())
    all.push_back("packets can block each other: " + cycle_to_string(fabric, check.cycle));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace simreplay::infiniband
