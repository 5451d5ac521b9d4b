#pragma once
// A subnet: switches and hosts, their ports, and the cables between ports.
//
// Everything is numbered: nodes are the switches from 0, then the hosts; ports are those of node 0, of node
// 1, ... A host is one port of a channel adapter: an adapter with two ports that are cabled is two hosts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "replay/network/infiniband/link.hpp"

namespace simreplay::infiniband {

using Node = std::int32_t;
using Port = std::int32_t;
using Lid = std::int32_t;
using Guid = std::uint64_t;

inline constexpr std::int32_t nothing = -1;  // no node, no port
inline constexpr Lid last_lid = 0xBFFF;      // of the unicast ones
inline constexpr Duration usual_delay{10'000};

struct Cable {
  Port a = nothing, b = nothing;
  LinkRate rate{};
  Duration delay = usual_delay;  // of a signal, one way
};

/// Where each switch stands in a mesh or torus.
struct Grid {
  std::vector<int> sizes;  // of each dimension
  bool wraps = false;      // a torus
  std::vector<int> place;  // of each switch, one number per dimension, one switch after the other

  int dimensions() const { return static_cast<int>(sizes.size()); }
  int at(Node node, int dimension) const {
    return place[static_cast<std::size_t>(node) * sizes.size() + static_cast<std::size_t>(dimension)];
  }
};

class Fabric {
 public:
  int switches() const { return switches_; }
  int hosts() const { return static_cast<int>(names_.size()) - switches_; }
  int nodes() const { return static_cast<int>(names_.size()); }
  bool is_switch(Node n) const { return n < switches_; }
  Node host(int i) const { return switches_ + i; }

  const std::string& name(Node n) const { return names_[index(n)]; }
  Guid guid(Node n) const { return guids_[index(n)]; }            // of the switch or the adapter
  Guid port_guid(Node n) const { return port_guids_[index(n)]; }  // of a switch: its own
  Lid lid(Node n) const { return lids_[index(n)]; }
  Lid max_lid() const { return static_cast<Lid>(by_lid_.size()) - 1; }
  Node node_of_lid(Lid lid) const { return lid <= max_lid() ? by_lid_[index(lid)] : nothing; }
  Node node_of_guid(Guid guid) const;  // the first one of an adapter

  int all_ports() const { return static_cast<int>(peers_.size()); }
  int ports(Node n) const { return first_port_[index(n + 1)] - first_port_[index(n)]; }
  Port port(Node n, int number) const { return first_port_[index(n)] + number - 1; }  // numbers from 1
  Port first_port(Node n) const { return first_port_[index(n)]; }
  Node node_of(Port p) const { return owners_[index(p)]; }
  /// As printed on the device. An adapter's port keeps its number.
  int number(Port p) const {
    const Node n = node_of(p);
    return is_switch(n) ? p - first_port(n) + 1 : adapter_port_[index(n - switches_)];
  }
  Port peer(Port p) const { return peers_[index(p)]; }  // nothing if no cable is in it
  Node neighbor(Port p) const { return peer(p) == nothing ? nothing : node_of(peer(p)); }
  const Cable& cable(Port p) const { return cables_[index(cable_of_[index(p)])]; }
  const std::vector<Cable>& cables() const { return cables_; }

  /// The switch that a host is cabled to, or nothing, and its port there.
  Port port_towards_host(Node host) const { return peer(first_port(host)); }
  Node switch_of(Node host) const {
    const Node n = neighbor(first_port(host));
    return n != nothing && is_switch(n) ? n : nothing;
  }
  /// Hosts at a switch, in the order of its ports.
  std::vector<Node> hosts_of(Node sw) const;

  /// Switches as OpenSM sorts them: by GUID as a little-endian computer reads it, its last byte first.
  const std::vector<Node>& switches_by_guid() const { return by_guid_; }

  const std::optional<Grid>& grid() const { return grid_; }
  void set_grid(Grid grid) { grid_ = std::move(grid); }

  /// What is odd about it, for people.
  const std::vector<std::string>& notes() const { return notes_; }
  /// "leaf0[3]"
  std::string port_name(Port p) const;

 private:
  friend class FabricBuilder;
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  int switches_ = 0;
  std::vector<std::string> names_;
  std::vector<Guid> guids_, port_guids_;
  std::vector<Lid> lids_;
  std::vector<Node> by_lid_, by_guid_;
  std::vector<Port> first_port_{0};
  std::vector<std::uint8_t> adapter_port_;
  std::vector<Node> owners_;
  std::vector<Port> peers_;
  std::vector<std::int32_t> cable_of_;
  std::vector<Cable> cables_;
  std::optional<Grid> grid_;
  std::vector<std::string> notes_;
};

/// The order in which OpenSM sorts GUIDs.
std::uint64_t sort_key(Guid guid);

/// Takes switches, hosts and cables in any order.
class FabricBuilder {
 public:
  struct End {
    bool host = false;
    std::int32_t index = 0;  // among switches or among hosts
    int port = 1;            // of a switch
  };

  /// `lid` 0: to be assigned. `guid` 0: to be made up.
  std::int32_t add_switch(std::string name, int ports, Guid guid = 0, Lid lid = 0);
  std::int32_t add_host(std::string name, Guid guid = 0, Guid port_guid = 0, Lid lid = 0,
                        int adapter_port = 1);
  void connect(End a, End b, LinkRate rate, Duration delay = usual_delay);
  bool is_free(End end) const { return used(end) == nothing; }
  /// 0 if there is none.
  int next_free_port(std::int32_t sw) const;
  int ports(std::int32_t sw) const {
    return static_cast<int>(switches_[static_cast<std::size_t>(sw)].ends.size());
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  /// Assigns the LIDs that are missing as OpenSM does: 1 to the first host, the others by GUID. Notes what is
  /// odd: LIDs missing or given twice, parallel and degraded cables, islands, hosts without a cable. Throws
  /// Error if there are more nodes than LIDs.
  Fabric build();

 private:
  struct Device {
    std::string name;
    Guid guid, port_guid;
    Lid lid;
    int adapter_port = 1;
    std::vector<std::int32_t> ends;  // cable of each port
  };
  struct Link {
    End a, b;
    LinkRate rate;
    Duration delay;
  };
  std::int32_t used(End end) const;
  std::int32_t& used(End end);
  void number_nodes(Fabric& fabric) const;
  void lay_cables(Fabric& fabric) const;

  std::vector<Device> switches_, hosts_;
  std::vector<Link> links_;
  std::vector<std::string> notes_;
};

}  // namespace simreplay::infiniband
