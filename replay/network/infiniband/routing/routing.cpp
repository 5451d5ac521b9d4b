#include "replay/network/infiniband/routing/routing.hpp"

#include <fmt/format.h>

#include <array>

#include "common/error.hpp"
#include "replay/network/infiniband/lines.hpp"

namespace simreplay::infiniband {
namespace {

struct Engine {
  std::string_view name;
  Tables (*route)(const Fabric&, const RoutingOptions&);
};

constexpr std::array<Engine, 7> engines{{{"minhop", route_min_hop},
                                         {"updn", route_updn},
                                         {"dnup", route_dnup},
                                         {"dor", route_dor},
                                         {"ftree", route_fat_tree},
                                         {"lash", route_lash},
                                         {"torus-2QoS", route_torus_2qos}}};

const Engine* find(const std::string& name) {
  for (const Engine& e : engines)
    if (e.name == name) return &e;
  return nullptr;
}

}  // namespace

bool is_engine(const std::string& name) { return find(name) != nullptr; }

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Engine& e : engines) names.emplace_back(e.name);
  return names;
}

Tables route(const Fabric& fabric, const std::string& name, const RoutingOptions& options) {
  const Engine* engine = find(name);
  if (engine == nullptr)
    throw Error({.expected = fmt::format("a routing: {}", fmt::join(engine_names(), ", ")),
                 .found = "`" + name + "`"});
  return engine->route(fabric, options);
}

std::vector<Node> read_roots(const std::string& path, const Fabric& fabric) {
  Lines lines = Lines::of_file(path);
  std::vector<Node> roots;
  while (lines.next()) {
    Cursor c(lines);
    if (c.at_end() || c.rest()[0] == '#') continue;
    const Guid guid = c.hex("the GUID of a switch");
    const Node node = fabric.node_of_guid(guid);
    if (node == nothing || !fabric.is_switch(node))
      lines.refuse("the GUID of a switch of the fabric", fmt::format("{:#018x}", guid));
    roots.push_back(node);
  }
  if (roots.empty()) throw Error({.file = path, .expected = "GUIDs of switches", .found = "none"});
  return roots;
}

}  // namespace simreplay::infiniband
