#include "replay/network/infiniband/generate.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "common/error.hpp"
#include "replay/network/infiniband/spec.hpp"

namespace simreplay::infiniband {
namespace {

using End = FabricBuilder::End;

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What all kinds share: how cables are made.
struct Making {
  FabricBuilder builder{};
  LinkRate rate{}, host_rate{};
  Duration delay{};

  explicit Making(Spec& spec)
      : rate(spec.rate_or("rate", LinkRate{})),
        host_rate(spec.rate_or("host-rate", rate)),
        delay(spec.delay()) {}

  std::int32_t add_switch(std::string name, int ports) {
    if (ports > 254)
      throw Error(
          {.expected = "switches of at most 254 ports", .found = fmt::format("{} with {}", name, ports)});
    return builder.add_switch(std::move(name), ports);
  }
  /// Hosts at the ports `first` to `first + n - 1`.
  void add_hosts(std::int32_t sw, int first, int n) {
    for (int i = 0; i < n; i++) {
      const std::int32_t host = builder.add_host(fmt::format("h{}", hosts_++));
      builder.connect({false, sw, first + i}, {true, host}, host_rate, delay);
    }
  }
  void join(End a, End b) { builder.connect(a, b, rate, delay); }

 private:
  int hosts_ = 0;
};

Fabric single(Spec& spec) {
  const int hosts = spec.sizes(1, 1)[0];
  Making make(spec);
  spec.finish();
  make.add_hosts(make.add_switch("sw0", hosts), 1, hosts);
  return make.builder.build();
}

// --- extended generalised fat trees ------------------------------------------------------------------------

/// XGFT(h; m1..mh; w1..wh) of Öhring et al. (IPPS 1995): a node of level l has m_l children and one of level
/// l - 1 has w_l parents, each joined by links_l cables. Level 0 are the hosts, with one parent and one
/// cable.
struct Tree {
  std::vector<int> children, parents, links;  // of level 1, 2, ...
  std::vector<std::string> names;             // of level 1, 2, ...

  int levels() const { return static_cast<int>(children.size()); }
  /// Nodes of a level: a choice of a child on each level above, and of a parent on each level up to its own.
  int size(int level) const {
    std::int64_t n = 1;
    for (int i = level; i < levels(); i++) n *= children[at(i)];
    for (int i = 0; i < level; i++) n *= parents[at(i)];
    if (n > last_lid)
      throw Error({.expected = fmt::format("at most {} hosts and switches", last_lid), .found = "more"});
    return static_cast<int>(n);
  }
};

/// Switches of a level are numbered subtree by subtree; within a subtree by their choices of parents, the
/// lowest level's first: so switch i of level l has, in its subtree, the index i % copies(l).
int copies(const Tree& t, int level) {
  return std::accumulate(t.parents.begin(), t.parents.begin() + level, 1, std::multiplies<>());
}

/// "leaf3" where two levels are all, "leaf1_3" in subtree 1 of more, "spine7" at the top.
std::string name_in(const Tree& t, int level, int i) {
  const std::string& base = t.names[at(level - 1)];
  if (level == t.levels() || t.levels() == 2) return fmt::format("{}{}", base, i);
  const int of_subtree = t.size(level) / t.children.back();
  return fmt::format("{}{}_{}", base, i / of_subtree, i % of_subtree);
}

Fabric plant(const Tree& t, Making& make) {
  std::vector<std::vector<std::int32_t>> switches(at(t.levels() + 1));
  for (int l = 1; l <= t.levels(); l++) {
    const int down = t.children[at(l - 1)] * (l > 1 ? t.links[at(l - 1)] : 1);
    const int up = l < t.levels() ? t.parents[at(l)] * t.links[at(l)] : 0;
    const int n = t.size(l);
    for (int i = 0; i < n; i++) switches[at(l)].push_back(make.add_switch(name_in(t, l, i), down + up));
  }
  for (const std::int32_t leaf : switches[1]) make.add_hosts(leaf, 1, t.children[0]);
  for (int l = 1; l < t.levels(); l++) {
    const int here = copies(t, l), above = here * t.parents[at(l)];
    const int m = t.children[at(l)], w = t.parents[at(l)], links = t.links[at(l)];
    const int down = t.children[at(l - 1)] * (l > 1 ? t.links[at(l - 1)] : 1);
    for (int i = 0; at(i) < switches[at(l)].size(); i++) {
      const int subtree = i / here, copy = i % here;
      for (int p = 0; p < w; p++)
        for (int k = 0; k < links; k++)
          make.join({false, switches[at(l)][at(i)], down + p * links + k + 1},
                    {false, switches[at(l + 1)][at(subtree / m * above + copy * w + p)],
                     subtree % m * links + k + 1});
    }
  }
  return make.builder.build();
}

/// All switches alike, with `radix` ports: fewer go up than down if oversubscribed.
Tree tree_of_radix(Spec& spec, int levels, int radix) {
  const int over = spec.count_or("oversubscription", 1);
  const int up = radix / (over + 1), down = radix - up, half = radix / 2;
  if (radix % 2 != 0 || up == 0 || radix % (over + 1) != 0)
    spec.refuse("an even radix that 1 + oversubscription divides",
                fmt::format("radix {}, oversubscription {}", radix, over));
  if (levels == 2) return {{down, radix}, {1, up}, {1, 1}, {"leaf", "spine"}};
  return {{down, half, radix}, {1, up, half}, {1, 1, 1}, {"leaf", "middle", "spine"}};
}

Tree tree_of_counts(Spec& spec, int levels) {
  const int hosts = spec.count("hosts", 0), leaves = spec.count("leaves");
  if (levels == 2)
    return {{hosts, leaves}, {1, spec.count("spines")}, {1, spec.count_or("links", 1)}, {"leaf", "spine"}};
  const int pods = spec.count("pods"), middles = spec.count("middles");
  return {{hosts, leaves, pods},
          {1, middles, spec.count("spines")},
          {1, spec.count_or("links", 1), spec.count_or("uplinks", 1)},
          {"leaf", "middle", "spine"}};
}

Fabric fat_tree(Spec& spec) {
  const int levels = spec.count_or("levels", 2, 2);
  if (levels > 3) spec.refuse("levels 2 or 3, or kind xgft", fmt::format("{}", levels));
  const int radix = spec.count_or("radix", 0, 2);
  const Tree tree = radix > 0 ? tree_of_radix(spec, levels, radix) : tree_of_counts(spec, levels);
  Making make(spec);
  spec.finish();
  return plant(tree, make);
}

Fabric xgft(Spec& spec) {
  Tree tree;
  tree.children = spec.sizes(1, 8);
  for (int l = 1; l <= tree.levels(); l++) {
    tree.parents.push_back(spec.count_or(fmt::format("w{}", l), 1));
    tree.links.push_back(spec.count_or(fmt::format("links{}", l), 1));
    tree.names.push_back(fmt::format("level{}_", l));
  }
  if (tree.parents[0] != 1 || tree.links[0] != 1)
    spec.refuse("hosts with one cable (w1=1, links1=1)", "more");
  Making make(spec);
  spec.finish();
  return plant(tree, make);
}

// --- meshes and tori ---------------------------------------------------------------------------------------

Fabric grid(Spec& spec, bool wraps) {
  Grid g{.sizes = spec.sizes(1, 3), .wraps = wraps, .place = {}};
  const int hosts = spec.count_or("hosts", 1, 0), links = spec.count_or("links", 1);
  Making make(spec);
  spec.finish();
  const int dims = g.dimensions();
  std::int64_t n = 1;
  for (const int size : g.sizes) n *= size;
  if (n > last_lid) spec.refuse(fmt::format("at most {} switches", last_lid), format_count(n));
  std::vector<int> stride(at(dims), 1);
  for (int d = dims - 2; d >= 0; d--) stride[at(d)] = stride[at(d + 1)] * g.sizes[at(d + 1)];

  for (int i = 0; i < n; i++) {
    std::string name = "s";
    for (int d = 0; d < dims; d++) {
      g.place.push_back(i / stride[at(d)] % g.sizes[at(d)]);
      name += fmt::format("{}{}", d > 0 ? "_" : "", g.place.back());
    }
    make.add_hosts(make.add_switch(name, 2 * dims * links + hosts), 2 * dims * links + 1, hosts);
  }
  // Out of the ports of +d, into those of -d.
  for (int i = 0; i < n; i++)
    for (int d = 0; d < dims; d++) {
      const int x = g.at(i, d), size = g.sizes[at(d)];
      if (size == 1 || (x + 1 == size && !wraps)) continue;
      const int next = i + ((x + 1) % size - x) * stride[at(d)];
      for (int k = 0; k < links; k++)
        make.join({false, i, 2 * d * links + k + 1}, {false, next, (2 * d + 1) * links + k + 1});
    }
  Fabric fabric = make.builder.build();
  fabric.set_grid(std::move(g));
  return fabric;
}

Fabric mesh(Spec& spec) { return grid(spec, false); }
Fabric torus(Spec& spec) { return grid(spec, true); }

// --- dragonfly+ --------------------------------------------------------------------------------------------

/// Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters (HiPINEB 2017): groups of leaves and
/// spines, each leaf joined to each spine of its group; spines of different groups joined, as many cables for
/// each pair of groups.
Fabric dragonfly_plus(Spec& spec) {
  const int groups = spec.count("groups"), leaves = spec.count("leaves"), spines = spec.count("spines");
  const int hosts = spec.count("hosts", 0), global = spec.count("global", 0);
  Making make(spec);
  spec.finish();
  if (groups > 1 && (spines * global) % (groups - 1) != 0)
    spec.refuse("spines x global that the number of other groups divides",
                fmt::format("{} x {} for {}", spines, global, groups - 1));
  const int per_pair = groups > 1 ? spines * global / (groups - 1) : 0;
  const int per_group = leaves + spines;
  for (int g = 0; g < groups; g++) {
    for (int l = 0; l < leaves; l++) {
      const auto leaf = make.add_switch(fmt::format("leaf{}_{}", g, l), hosts + spines);
      make.add_hosts(leaf, 1, hosts);
    }
    for (int s = 0; s < spines; s++) {
      const auto spine = make.add_switch(fmt::format("spine{}_{}", g, s), leaves + global);
      for (int l = 0; l < leaves; l++)
        make.join({false, g * per_group + l, hosts + s + 1}, {false, spine, l + 1});
    }
  }
  const auto end = [&](int group, int distance, int k) {
    const int i = (distance - 1) * per_pair + k;
    return End{false, group * per_group + leaves + i / global, leaves + i % global + 1};
  };
  for (int g = 0; g < groups; g++)
    for (int h = g + 1; h < groups; h++)
      for (int k = 0; k < per_pair; k++) make.join(end(g, h - g, k), end(h, groups - (h - g), k));
  return make.builder.build();
}

struct Kind {
  std::string_view name;
  Fabric (*make)(Spec&);
  std::string_view help;
};

constexpr std::array<Kind, 6> kinds{{
    {"single", single, "single:HOSTS                             one switch"},
    {"fat-tree", fat_tree,
     "fat-tree:levels=2,leaves=8,spines=4,hosts=8[,links=1]; fat-tree:levels=3,pods=6,leaves=18,middles=18,\n"
     "                 spines=18,hosts=18[,links=1,uplinks=1]; "
     "fat-tree:levels=2|3,radix=36[,oversubscription=2]"},
    {"xgft", xgft, "xgft:M1xM2x...,w2=...,w3=...[,links2=1...] children and parents of each level"},
    {"mesh", mesh, "mesh:5x5[,hosts=1,links=1]               one to three dimensions"},
    {"torus", torus, "torus:4x4x4[,hosts=1,links=1]"},
    {"dragonfly+", dragonfly_plus, "dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=4"},
}};

}  // namespace

bool is_spec(std::string_view text) {
  const std::string_view kind = text.substr(0, text.find(':'));
  for (const Kind& k : kinds)
    if (k.name == kind) return true;
  return false;
}

Fabric generate(std::string_view text) {
  Spec spec(text);
  std::string names;
  for (const Kind& k : kinds) {
    if (k.name == spec.kind()) return k.make(spec);
    names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  throw Error({.operation = std::string(text),
               .expected = "a kind of fabric: " + names,
               .found = "`" + spec.kind() + "`"});
}

std::string spec_help() {
  std::string text;
  for (const Kind& k : kinds) text += "  " + std::string(k.help) + "\n";
  return text + "  all: rate=4xEDR, host-rate=RATE, cable=2m|12ns\n";
}

}  // namespace simreplay::infiniband
