#include "replay/network/infiniband/torus_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "common/error.hpp"
#include "replay/network/infiniband/lines.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr int dims = 3;

using Place = std::array<int, dims>;

struct Config {
  bool wraps = true;
  Place sizes{1, 1, 1}, dateline{};
  Node origin = nothing;
  std::array<Node, dims> plus{nothing, nothing, nothing}, minus{nothing, nothing, nothing};
};

class ConfigReader {
 public:
  ConfigReader(const std::string& path, const Fabric& f) : lines_(Lines::of_file(path)), fabric_(f) {}

  Config read() {
    while (lines_.next()) {
      Cursor c(lines_);
      if (c.at_end() || c.rest()[0] == '#') continue;
      const std::string word = c.word();
      if (word == "torus" || word == "mesh")
        read_sizes(c, word == "torus");
      else if (word.size() == 7 && word.substr(2) == "_link" && is_axis(word[0]) &&
               (word[1] == 'p' || word[1] == 'm'))
        read_link(c, word[0] - 'x', word[1] == 'p');
      else if (word.size() == 10 && word.substr(1) == "_dateline" && is_axis(word[0]))
        config_.dateline[at(word[0] - 'x')] =
            static_cast<int>((c.skip_blanks(), c.decimal("a position", -1000, 1000)));
      else if (word == "next_seed")
        break;  // others for when the first is not there
      else if (word != "portgroup_max_ports" && word != "port_order" && word != "max_changes")
        lines_.refuse("torus, mesh, xp_link, xm_link, ..., x_dateline, ...", "`" + word + "`");
    }
    if (config_.origin == nothing)
      throw Error({.file = lines_.name(), .expected = "torus or mesh, and xp_link", .found = "none"});
    return config_;
  }

 private:
  static bool is_axis(char c) { return c >= 'x' && c <= 'z'; }

  void read_sizes(Cursor& c, bool wraps) {
    config_.wraps = wraps;
    for (int d = 0; d < dims; d++) {
      c.skip_blanks();
      config_.sizes[at(d)] = static_cast<int>(c.decimal("a size of a dimension", 1, 1000));
    }
    if (!c.at_end()) c.refuse("three sizes");
  }

  Node node(Cursor& c) {
    c.skip_blanks();
    const Guid guid = c.hex("the GUID of a switch");
    const Node n = fabric_.node_of_guid(guid);
    if (n == nothing || !fabric_.is_switch(n))
      lines_.refuse("the GUID of a switch of the fabric", fmt::format("{:#x}", guid));
    return n;
  }

  void read_link(Cursor& c, int d, bool plus) {
    const Node from = node(c), to = node(c);
    if (config_.origin != nothing && from != config_.origin)
      lines_.refuse("all links from one switch", fabric_.name(from));
    config_.origin = from;
    (plus ? config_.plus : config_.minus)[at(d)] = to;
  }

  Lines lines_;
  const Fabric& fabric_;
  Config config_;
};

/// Finds all places from the first ones: along a dimension the neighbor that shares no square with where we
/// come from; elsewhere the fourth corner of a square of which three are known.
class Placing {
 public:
  Placing(const std::string& path, const Fabric& f, const Config& c)
      : path_(path), fabric_(f), config_(c), place_(at(f.switches())) {
    for (int i = 0; i < c.sizes[0] * c.sizes[1] * c.sizes[2]; i++) grid_.push_back(nothing);
    if (grid_.size() != at(f.switches()))
      refuse(fmt::format("{} switches", grid_.size()), fmt::format("{}", f.switches()));
    neighbors_.resize(at(f.switches()));
    for (Node sw = 0; sw < f.switches(); sw++)
      for (int p = 1; p <= f.ports(sw); p++)
        if (const Node n = f.neighbor(f.port(sw, p)); n != nothing && n != sw && f.is_switch(n))
          neighbors_[at(sw)].insert_or_assign(n, true);
  }

  Grid run() {
    put({0, 0, 0}, config_.origin);
    for (int d = 0; d < dims; d++) walk(d);
    fill();
    check();
    Grid grid{.sizes = {config_.sizes.begin(), config_.sizes.end()}, .wraps = config_.wraps, .place = {}};
    for (Node sw = 0; sw < fabric_.switches(); sw++)
      for (int d = 0; d < dims; d++) {
        const int size = config_.sizes[at(d)];
        grid.place.push_back((((*place_[at(sw)])[at(d)] - config_.dateline[at(d)]) % size + size) % size);
      }
    return grid;
  }

 private:
  [[noreturn]] void refuse(std::string expected, std::string found) const {
    throw Error({.file = path_, .expected = std::move(expected), .found = std::move(found)});
  }

  Node& at_place(const Place& p) {
    return grid_[at((p[0] * config_.sizes[1] + p[1]) * config_.sizes[2] + p[2])];
  }

  void put(const Place& p, Node n) {
    if (at_place(p) == n) return;
    if (place_[at(n)] || at_place(p) != nothing)
      refuse(fmt::format("another switch than {} at ({}, {}, {})", fabric_.name(n), p[0], p[1], p[2]),
             "it in two places");
    place_[at(n)] = p;
    at_place(p) = n;
  }

  std::vector<Node> common(Node a, Node b) const {
    std::vector<Node> both;
    for (const auto& [n, yes] : neighbors_[at(a)])
      if (neighbors_[at(b)].count(n) > 0) both.push_back(n);
    return both;
  }

  /// Along dimension d from the origin, first up, then down from it.
  void walk(int d) {
    const int size = config_.sizes[at(d)];
    if (size == 1) return;
    const Node plus = config_.plus[at(d)], minus = config_.minus[at(d)];
    if (plus == nothing && minus == nothing)
      refuse(fmt::format("{}p_link or {}m_link", "xyz"[d], "xyz"[d]), "none");
    Place p{};
    if (plus != nothing) put((p[at(d)] = 1, p), plus);
    if (minus != nothing && (config_.wraps || plus == nothing)) put((p[at(d)] = size - 1, p), minus);
    if (size == 4 && config_.wraps && (plus == nothing || minus == nothing))  // squares are everywhere
      refuse(fmt::format("both {}p_link and {}m_link in a ring of four", "xyz"[d], "xyz"[d]), "one");
    for (int x = 2; plus != nothing && x < size; x++) {
      Place before{}, here{}, next{};
      before[at(d)] = x - 2, here[at(d)] = x - 1, next[at(d)] = x;
      if (at_place(next) == nothing) put(next, straight_on(at_place(before), at_place(here), d));
    }
    for (int x = size - 2; plus == nothing && x > 0; x--) {
      Place before{}, here{}, next{};
      before[at(d)] = (x + 2) % size, here[at(d)] = x + 1, next[at(d)] = x;
      put(next, straight_on(at_place(before), at_place(here), d));
    }
  }

  Node straight_on(Node before, Node here, int d) const {
    if (config_.sizes[at(d)] == 4 && config_.wraps) {  // the one opposite to the origin
      for (const Node n : common(config_.plus[at(d)], config_.minus[at(d)]))
        if (!place_[at(n)]) return n;
    }
    for (const auto& [n, yes] : neighbors_[at(here)])
      if (n != before && !place_[at(n)] && common(n, before).size() == 1) return n;
    refuse(fmt::format("a switch behind {}", fabric_.name(here)), "none");
  }

  void fill() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; at(i) < grid_.size(); i++) {
        const Place p{i / (config_.sizes[1] * config_.sizes[2]), i / config_.sizes[2] % config_.sizes[1],
                      i % config_.sizes[2]};
        if (at_place(p) == nothing) changed |= fill_corner(p);
      }
    }
  }

  bool fill_corner(const Place& p) {
    for (int d = 0; d < dims; d++)
      for (int e = d + 1; e < dims; e++) {
        if (p[at(d)] == 0 || p[at(e)] == 0) continue;
        Place a = p, b = p, opposite = p;
        a[at(d)]--, b[at(e)]--, opposite[at(d)]--, opposite[at(e)]--;
        if (at_place(a) == nothing || at_place(b) == nothing || at_place(opposite) == nothing) continue;
        for (const Node n : common(at_place(a), at_place(b)))
          if (n != at_place(opposite) && !place_[at(n)]) {
            put(p, n);
            return true;
          }
      }
    return false;
  }

  void check() {
    for (Node sw = 0; sw < fabric_.switches(); sw++) {
      if (!place_[at(sw)]) refuse("a place for every switch", "none for " + fabric_.name(sw));
      for (const auto& [n, yes] : neighbors_[at(sw)])
        if (!place_[at(n)] || !adjacent(*place_[at(sw)], *place_[at(n)]))
          refuse("cables to the next switch of a dimension",
                 fmt::format("one from {} to {}", fabric_.name(sw), fabric_.name(n)));
    }
  }

  bool adjacent(const Place& a, const Place& b) const {
    int steps = 0;
    for (int d = 0; d < dims; d++) {
      const int way = std::abs(a[at(d)] - b[at(d)]);
      steps += config_.wraps ? std::min(way, config_.sizes[at(d)] - way) : way;
    }
    return steps == 1;
  }

  std::string path_;
  const Fabric& fabric_;
  const Config& config_;
  std::vector<std::map<Node, bool>> neighbors_;
  std::vector<std::optional<Place>> place_;  // of each switch
  std::vector<Node> grid_;                   // the switch at each place
};

}  // namespace

Grid read_torus_config(const std::string& path, const Fabric& fabric) {
  const Config config = ConfigReader(path, fabric).read();
  return Placing(path, fabric, config).run();
}

}  // namespace simreplay::infiniband
