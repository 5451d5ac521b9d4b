#include "replay/network/infiniband/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/error.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t few = 5;
  const std::size_t shown = std::min(few, names.size());
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (names.size() > few)
    text += fmt::format(" and {} more", format_count(static_cast<std::int64_t>(names.size() - few)));
  return text;
}

/// OpenSM gives 1 to the port it runs at, then counts through all GUIDs.
void assign_lids(const std::vector<Guid>& port_guids, Node first_host, std::vector<Lid>& lids,
                 std::vector<std::string>& notes) {
  std::vector<bool> taken(at(last_lid) + 1, false);
  std::vector<Node> missing;
  std::vector<std::string> twice;
  for (Node n = 0; at(n) < lids.size(); n++) {
    Lid& lid = lids[at(n)];
    if (lid != 0 && taken[at(lid)]) {
      twice.push_back(fmt::format("{}", lid));
      lid = 0;
    }
    if (lid == 0) missing.push_back(n);
    taken[at(lid)] = true;
  }
  if (!twice.empty()) notes.push_back("LIDs given twice, the second node gets another: " + some_of(twice));
  const bool some_given = missing.size() < lids.size();
  if (some_given && missing.size() > twice.size())
    notes.push_back(fmt::format("nodes without LID get free ones: {}",
                                format_count(static_cast<std::int64_t>(missing.size() - twice.size()))));
  std::stable_sort(missing.begin(), missing.end(), [&](Node a, Node b) {
    const bool first_a = a == first_host, first_b = b == first_host;
    if (first_a != first_b) return first_a;
    return sort_key(port_guids[at(a)]) < sort_key(port_guids[at(b)]);
  });
  Lid next = 1;
  for (const Node n : missing) {
    while (next <= last_lid && taken[at(next)]) next++;
    if (next > last_lid)
      throw Error({.expected = fmt::format("at most {} hosts and switches", format_count(last_lid)),
                   .found = format_count(static_cast<std::int64_t>(lids.size()))});
    lids[at(n)] = next++;
  }
}

/// What most cables have, among those between switches or those to hosts.
std::optional<LinkRate> usual_rate(const Fabric& f, bool to_hosts) {
  std::map<std::pair<int, int>, int> counts;
  for (const Cable& c : f.cables())
    if ((!f.is_switch(f.node_of(c.a)) || !f.is_switch(f.node_of(c.b))) == to_hosts)
      counts[{c.rate.lanes, static_cast<int>(c.rate.speed)}]++;
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return std::nullopt;
  return LinkRate{static_cast<std::uint8_t>(most->first.first), static_cast<Speed>(most->first.second)};
}

void note_degraded(const Fabric& f, std::vector<std::string>& notes) {
  for (const bool to_hosts : {false, true}) {
    const auto usual = usual_rate(f, to_hosts);
    std::vector<std::string> degraded;
    for (const Cable& c : f.cables())
      if ((!f.is_switch(f.node_of(c.a)) || !f.is_switch(f.node_of(c.b))) == to_hosts &&
          slower(c.rate, *usual))
        degraded.push_back(fmt::format("{} - {} {}", f.port_name(c.a), f.port_name(c.b), to_string(c.rate)));
    if (!degraded.empty())
      notes.push_back(fmt::format("cables slower than the usual {} {}: {}", to_string(*usual),
                                  to_hosts ? "to hosts" : "between switches", some_of(degraded)));
  }
}

void note_parallel(const Fabric& f, std::vector<std::string>& notes) {
  std::map<std::pair<Node, Node>, int> cables;
  for (const Cable& c : f.cables()) cables[std::minmax(f.node_of(c.a), f.node_of(c.b))]++;
  std::int64_t pairs = 0, loops = 0;
  for (const auto& [ends, n] : cables) {
    pairs += n > 1 && ends.first != ends.second;
    loops += ends.first == ends.second ? n : 0;
  }
  if (pairs > 0)
    notes.push_back(fmt::format("neighbors with parallel cables: {} pairs", format_count(pairs)));
  if (loops > 0) notes.push_back(fmt::format("cables from a switch to itself: {}", format_count(loops)));
}

void note_islands(const Fabric& f, std::vector<std::string>& notes) {
  std::vector<std::string> islands, lonely;
  std::vector<bool> seen(at(f.nodes()), false);
  for (Node start = 0; start < f.nodes(); start++) {
    if (seen[at(start)]) continue;
    std::vector<Node> reached{start};
    seen[at(start)] = true;
    for (std::size_t i = 0; i < reached.size(); i++)
      for (int p = 1; p <= f.ports(reached[i]); p++) {
        const Node n = f.neighbor(f.port(reached[i], p));
        if (n == nothing || seen[at(n)]) continue;
        seen[at(n)] = true;
        reached.push_back(n);
      }
    if (reached.size() == 1)
      lonely.push_back(f.name(start));
    else
      islands.push_back(fmt::format("{} ({} nodes)", f.name(start),
                                    format_count(static_cast<std::int64_t>(reached.size()))));
  }
  if (f.nodes() > 1 && !lonely.empty()) notes.push_back("without any cable: " + some_of(lonely));
  if (islands.size() > 1)
    notes.push_back(
        fmt::format("{} islands that no cable joins: those of {}", islands.size(), some_of(islands)));
}

}  // namespace

std::uint64_t sort_key(Guid guid) { return __builtin_bswap64(guid); }

Node Fabric::node_of_guid(Guid guid) const {
  const auto found = std::find(guids_.begin(), guids_.end(), guid);
  return found == guids_.end() ? nothing : static_cast<Node>(found - guids_.begin());
}

std::vector<Node> Fabric::hosts_of(Node sw) const {
  std::vector<Node> hosts;
  for (int p = 1; p <= ports(sw); p++) {
    const Node n = neighbor(port(sw, p));
    if (n != nothing && !is_switch(n)) hosts.push_back(n);
  }
  return hosts;
}

std::string Fabric::port_name(Port p) const { return fmt::format("{}[{}]", name(node_of(p)), number(p)); }

std::int32_t FabricBuilder::add_switch(std::string name, int ports, Guid guid, Lid lid) {
  const auto i = static_cast<std::int32_t>(switches_.size());
  if (guid == 0) guid = 0x200000 + static_cast<Guid>(i);
  switches_.push_back({std::move(name), guid, guid, lid, 1, std::vector<std::int32_t>(at(ports), nothing)});
  return i;
}

std::int32_t FabricBuilder::add_host(std::string name, Guid guid, Guid port_guid, Lid lid, int adapter_port) {
  const auto i = static_cast<std::int32_t>(hosts_.size());
  if (guid == 0) guid = 0x100000 + 2 * static_cast<Guid>(i);
  if (port_guid == 0) port_guid = guid + static_cast<Guid>(adapter_port);
  hosts_.push_back({std::move(name), guid, port_guid, lid, adapter_port, {nothing}});
  return i;
}

std::int32_t FabricBuilder::used(End e) const {
  return e.host ? hosts_[at(e.index)].ends[0] : switches_[at(e.index)].ends[at(e.port - 1)];
}
std::int32_t& FabricBuilder::used(End e) {
  return e.host ? hosts_[at(e.index)].ends[0] : switches_[at(e.index)].ends[at(e.port - 1)];
}

int FabricBuilder::next_free_port(std::int32_t sw) const {
  const auto& ends = switches_[at(sw)].ends;
  const auto free = std::find(ends.begin(), ends.end(), nothing);
  return free == ends.end() ? 0 : static_cast<int>(free - ends.begin()) + 1;
}

void FabricBuilder::connect(End a, End b, LinkRate rate, Duration delay) {
  used(a) = used(b) = static_cast<std::int32_t>(links_.size());
  links_.push_back({a, b, rate, delay});
}

void FabricBuilder::number_nodes(Fabric& f) const {
  f.switches_ = static_cast<int>(switches_.size());
  for (const auto* devices : {&switches_, &hosts_})
    for (const Device& d : *devices) {
      const auto node = static_cast<Node>(f.names_.size());
      f.names_.push_back(d.name);
      f.guids_.push_back(d.guid);
      f.port_guids_.push_back(d.port_guid);
      f.lids_.push_back(d.lid);
      f.first_port_.push_back(f.first_port_.back() + static_cast<Port>(d.ends.size()));
      f.owners_.insert(f.owners_.end(), d.ends.size(), node);
    }
  for (const Device& d : hosts_) f.adapter_port_.push_back(static_cast<std::uint8_t>(d.adapter_port));
  f.by_guid_.resize(switches_.size());
  std::iota(f.by_guid_.begin(), f.by_guid_.end(), 0);
  std::stable_sort(f.by_guid_.begin(), f.by_guid_.end(),
                   [&f](Node a, Node b) { return sort_key(f.guid(a)) < sort_key(f.guid(b)); });
}

void FabricBuilder::lay_cables(Fabric& f) const {
  f.peers_.assign(f.owners_.size(), nothing);
  f.cable_of_.assign(f.owners_.size(), nothing);
  const auto port = [&f](End e) { return e.host ? f.first_port(f.host(e.index)) : f.port(e.index, e.port); };
  for (const Link& l : links_) {
    const Port a = port(l.a), b = port(l.b);
    f.peers_[at(a)] = b;
    f.peers_[at(b)] = a;
    f.cable_of_[at(a)] = f.cable_of_[at(b)] = static_cast<std::int32_t>(f.cables_.size());
    f.cables_.push_back({a, b, l.rate, l.delay});
  }
}

Fabric FabricBuilder::build() {
  Fabric f;
  number_nodes(f);
  lay_cables(f);
  f.notes_ = notes_;
  assign_lids(f.port_guids_, f.hosts() > 0 ? f.host(0) : nothing, f.lids_, f.notes_);
  const Lid top = f.lids_.empty() ? 0 : *std::max_element(f.lids_.begin(), f.lids_.end());
  f.by_lid_.assign(at(top) + 1, nothing);
  for (Node n = 0; n < f.nodes(); n++) f.by_lid_[at(f.lid(n))] = n;
  note_parallel(f, f.notes_);
  note_degraded(f, f.notes_);
  note_islands(f, f.notes_);
  return f;
}

}  // namespace simreplay::infiniband
