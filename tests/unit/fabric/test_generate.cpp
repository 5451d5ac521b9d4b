// Generated fabrics against the closed forms of their kinds.
#include <set>

#include "common/error.hpp"
#include "replay/network/infiniband/generate.hpp"
#include "replay/network/infiniband/routing/hops.hpp"
#include "replay/network/infiniband/text_form.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/fabric/opensm_data.hpp"

using namespace simreplay;
using namespace simreplay::infiniband;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Hops between switches with hosts, at most.
int diameter(const Fabric& f) {
  int most = 0;
  for (Node a = 0; a < f.switches(); a++) {
    if (f.hosts_of(a).empty()) continue;
    const auto hops = hops_to(f, a);
    for (Node b = 0; b < f.switches(); b++)
      if (!f.hosts_of(b).empty()) most = std::max(most, static_cast<int>(hops[static_cast<std::size_t>(b)]));
  }
  return most;
}

struct Expected {
  const char* spec;
  int hosts, switches, cables, diameter;
};

}  // namespace

TEST_CASE("generated fabrics have the nodes, cables and diameter of their kind") {
  const Expected e = GENERATE(values<Expected>({
      {"single:16", 16, 1, 16, 0},
      {"fat-tree:levels=2,leaves=8,spines=4,hosts=8,links=2", 64, 12, 64 + 8 * 4 * 2, 2},
      {"fat-tree:levels=2,radix=36", 648, 54, 648 + 648, 2},
      {"fat-tree:levels=2,radix=36,oversubscription=2", 864, 48, 864 + 36 * 12, 2},
      {"fat-tree:levels=3,radix=8", 128, 80, 3 * 128, 4},  // k^3/4 hosts, 5k^2/4 switches
      {"fat-tree:levels=3,pods=6,leaves=18,middles=18,spines=18,hosts=18", 1944, 540, 3 * 1944, 4},
      {"fat-tree:levels=3,pods=2,leaves=3,middles=4,spines=1,hosts=5,links=2,uplinks=3", 30, 18,
       30 + 2 * 3 * 4 * 2 + 8 * 3, 4},
      {"xgft:2x3x4x5,w2=2,w3=3,w4=2", 120, 60 + 20 * 2 + 5 * 6 + 12, 120 + 60 * 2 + 40 * 3 + 30 * 2, 6},
      {"mesh:5x4,hosts=2", 40, 20, 40 + 4 * 4 + 5 * 3, 7},
      {"mesh:7", 7, 7, 7 + 6, 6},
      {"torus:4x4x4,hosts=2", 128, 64, 128 + 3 * 64, 6},
      {"torus:6x5,hosts=0,links=3", 0, 30, 2 * 30 * 3, 0},
      {"torus:3x4x5", 60, 60, 60 + 3 * 60, 1 + 2 + 2},
      {"dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=4", 144, 72, 144 + 9 * 16 + 9 * 16 / 2, 3},
      {"dragonfly+:groups=5,leaves=2,spines=2,hosts=3,global=2", 30, 20, 30 + 5 * 4 + 5 * 4 / 2, 3},
  }));
  INFO(e.spec);
  const Fabric f = generate(e.spec);
  CHECK(f.hosts() == e.hosts);
  CHECK(f.switches() == e.switches);
  CHECK(static_cast<int>(f.cables().size()) == e.cables);
  CHECK(diameter(f) == e.diameter);
  std::set<Lid> lids;
  for (Node n = 0; n < f.nodes(); n++) lids.insert(f.lid(n));
  CHECK((static_cast<int>(lids.size()) == f.nodes() && *lids.begin() == 1 && *lids.rbegin() == f.nodes()));
  for (Port p = 0; p < f.all_ports(); p++)
    if (f.peer(p) != nothing) REQUIRE(f.peer(f.peer(p)) == p);
  // Written and read again it is the same.
  const std::string text = write_text_form(f);
  CHECK(write_text_form(read_text_form({"again", text})) == text);
}

TEST_CASE("settings of cables reach the cables, exactly") {
  const Fabric f = generate("fat-tree:leaves=2,spines=2,hosts=1,rate=4xFDR,host-rate=1xSDR,cable=20m");
  const Cable to_host = f.cable(f.first_port(f.host(0))), between = f.cable(f.port(0, 2));
  CHECK(to_string(to_host.rate) == "1xSDR");
  CHECK(per_byte(to_host.rate) == Ratio(4000, 1));         // 2 Gb/s
  CHECK(per_byte(between.rate) == Ratio(8000 * 11, 600));  // 54.54... Gb/s
  CHECK(per_byte(between.rate).times(std::int64_t{3}) == 440);
  CHECK(between.delay == Duration{100'000});
  CHECK(per_byte({4, Speed::edr}) == Ratio(80, 1));
  CHECK(per_byte({12, Speed::xdr}) == Ratio(8000, 2400));
  CHECK(slower({4, Speed::fdr10}, {4, Speed::fdr}));
  CHECK(slower({1, Speed::hdr}, {4, Speed::fdr}));
  CHECK(parse_link_rate("4xFDR10") == LinkRate{4, Speed::fdr10});
  CHECK(!parse_link_rate("3xEDR"));
  CHECK(!parse_link_rate("4xEDRs"));
}

TEST_CASE("bad specs say what is valid") {
  const auto [spec, part] = GENERATE(table<const char*, const char*>({
      {"hypercube:4", "expected a kind of fabric: single, fat-tree"},
      {"torus:4x0", "expected a size from 1 to 100000, found `0`"},
      {"torus:4x4x4x4", "expected 1 to 3 sizes after the colon"},
      {"torus", "found none"},
      {"torus:4x4,host=2", "expected settings of torus: hosts, links, rate, host-rate, cable, found `host`"},
      {"fat-tree:levels=2,leaves=4,spines=2", "expected hosts=NUMBER"},
      {"fat-tree:levels=2,radix=36,oversubscription=4", "an even radix"},
      {"fat-tree:levels=2,radix=36,radix=36", "expected every setting once"},
      {"mesh:3x3,rate=4xEDDR", "expected rate as in 4xEDR"},
      {"mesh:3x3,cable=2", "expected cable as a length or a time"},
      {"mesh:3x3,hosts=-1", "hosts from 0"},
      {"mesh:300x300", "at most 49151 switches"},
      {"single:300", "switches of at most 254 ports"},
      {"dragonfly+:groups=4,leaves=2,spines=2,hosts=1,global=1",
       "spines x global that the number of other groups divides"},
  }));
  INFO(spec);
  CHECK_THROWS_WITH(generate(spec), ContainsSubstring(part));
}

TEST_CASE("generated fabrics are cabled as the netlists that OpenSM was run on") {
  const std::string folder = test::fabrics_folder();
  if (folder.empty()) return;
  const auto [name, spec] = GENERATE(table<const char*, const char*>({
      {"single16", "single:16"},
      {"ft2_full", "fat-tree:leaves=8,spines=4,hosts=8,links=2"},
      {"ft2_over4", "fat-tree:leaves=8,spines=2,hosts=8"},
      {"ft3_k8", "fat-tree:levels=3,radix=8"},
      {"ft3_k16", "fat-tree:levels=3,radix=16"},
      {"torus2d_6x5", "torus:6x5,hosts=2"},
      {"torus3d_3x4x5", "torus:3x4x5"},
      {"mesh2d_5x5", "mesh:5x5,hosts=2"},
  }));
  INFO(name);
  const Fabric ours = generate(spec), theirs = load_fabric(folder + "/" + name + "/" + name + ".net");
  REQUIRE(ours.all_ports() == theirs.all_ports());
  bool same = true;
  for (Node n = 0; n < ours.nodes(); n++)
    same &= ours.guid(n) == theirs.guid(n) && ours.port_guid(n) == theirs.port_guid(n) &&
            ours.lid(n) == theirs.lid(n);
  for (Port p = 0; p < ours.all_ports(); p++) same &= ours.peer(p) == theirs.peer(p);
  CHECK(same);
}
