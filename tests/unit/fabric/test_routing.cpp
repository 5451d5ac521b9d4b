// Routing of generated fabrics, and what the check finds in tables that are wrong.
#include <numeric>

#include "common/error.hpp"
#include "replay/network/infiniband/check.hpp"
#include "replay/network/infiniband/generate.hpp"
#include "replay/network/infiniband/lft_dump.hpp"
#include "replay/network/infiniband/routing/acyclic.hpp"
#include "replay/network/infiniband/routing/routing.hpp"
#include "replay/network/infiniband/text_form.hpp"
#include "replay/network/infiniband/torus_config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;
using namespace simreplay::infiniband;
using Catch::Matchers::ContainsSubstring;

namespace {

Check routed(const std::string& spec, const std::string& engine) {
  const Fabric f = generate(spec);
  return check(f, route(f, engine));
}

}  // namespace

TEST_CASE("every engine joins all pairs by shortest ways, on all kinds of fabrics") {
  const auto [spec, engine] = GENERATE(table<const char*, const char*>({
      {"fat-tree:leaves=5,spines=3,hosts=4,links=2", "minhop"},
      {"fat-tree:levels=3,radix=6", "updn"},
      {"fat-tree:levels=3,radix=6", "dnup"},
      {"fat-tree:levels=3,pods=3,leaves=2,middles=2,spines=2,hosts=3,links=2,uplinks=2", "ftree"},
      {"xgft:3x2x2x2,w2=2,w3=2,w4=2", "ftree"},
      {"torus:5x4,hosts=2,links=2", "dor"},
      {"torus:7x5", "lash"},
      {"mesh:4x3x2", "lash"},
      {"dragonfly+:groups=5,leaves=2,spines=2,hosts=2,global=2", "lash"},
      {"torus:4x3x2,hosts=2,links=2", "torus-2QoS"},
      {"mesh:5x3x2", "torus-2QoS"},
      {"torus:8", "torus-2QoS"},
  }));
  INFO(spec << " " << engine);
  const Check c = routed(spec, engine);
  CHECK(c.arrives());
  CHECK(c.detours == 0);
  CHECK(c.pairs > 0);
  CHECK((c.acyclic() || std::string(engine) == "dor"));
}

TEST_CASE("a mesh is free of circles by dimension order, not by shortest ways alone") {
  CHECK(routed("mesh:4x4,hosts=2", "dor").acyclic());
  const Fabric f = generate("mesh:4x4,hosts=2");
  const Check c = check(f, route(f, "minhop"));
  REQUIRE(c.cycle.size() >= 4);
  for (std::size_t i = 0; i < c.cycle.size(); i++)  // each leads to where the next begins
    CHECK(f.neighbor(c.cycle[i].out) == f.node_of(c.cycle[(i + 1) % c.cycle.size()].out));
  CHECK_THAT(cycle_to_string(f, c.cycle), ContainsSubstring("] lane 0, s"));
}

TEST_CASE("a ring of one dimension: the circle is found, two lanes break it") {
  CHECK(routed("torus:6", "dor").cycle.size() == 6);
  const Check c = routed("torus:6", "torus-2QoS");
  CHECK(c.acyclic());
  CHECK(c.lanes == 2);
}

TEST_CASE("routes are spread evenly where the tree allows it") {
  // 18 x 102 routes leave each leaf; ftree spreads them over its 18 cables.
  const Check c = routed("fat-tree:levels=2,leaves=36,spines=18,hosts=18", "ftree");
  CHECK(c.most_routes == c.fewest_routes);
  CHECK(c.most_routes == 18 * 35);
  CHECK(c.unused == 0);
}

TEST_CASE("lash needs lanes, and says so where they do not suffice") {
  const Fabric f = generate("torus:6x5,hosts=2");
  CHECK_THROWS_WITH(route(f, "lash", {.roots = {}, .max_lanes = 2}), ContainsSubstring("in 2 lanes"));
  CHECK(check(f, route(f, "lash", {.roots = {}, .max_lanes = 4})).acyclic());
}

TEST_CASE("a large tree is routed at once") {
  const Fabric f = generate("fat-tree:levels=3,pods=6,leaves=18,middles=18,spines=18,hosts=18");
  for (const char* engine : {"minhop", "updn", "ftree"}) CHECK(check(f, route(f, engine)).arrives());
}

TEST_CASE("wrong tables: pairs that are lost and circles are named") {
  const Fabric f = generate("fat-tree:leaves=3,spines=2,hosts=2");
  Tables t = route(f, "minhop");
  const Node h0 = f.host(0), leaf1 = 1, spine0 = 3;
  CHECK(check(f, t).arrives());

  t.set_port(leaf1, f.lid(h0), Tables::no_route);
  Check c = check(f, t);
  CHECK(c.lost == 2);  // those at leaf1; others pass it not
  REQUIRE(c.some_lost.size() == 1);
  CHECK(to_string(f, c.some_lost[0]) == "h2 to h0: leaf1, which has no route");

  t.set_port(leaf1, f.lid(h0), 3);   // up to spine0
  t.set_port(spine0, f.lid(h0), 2);  // and down again
  c = check(f, t);
  REQUIRE(c.lost >= 2);
  CHECK(c.some_lost[0].loop);
  CHECK(to_string(f, c.some_lost[0]) == "h2 to h0: leaf1, spine0, leaf1 again");

  t.set_port(leaf1, f.lid(h0), 1);  // to another host
  CHECK_THAT(to_string(f, check(f, t).some_lost[0]), ContainsSubstring("leaf1, which has no route"));
}

TEST_CASE("islands and hosts without a cable are lost pairs, or refused") {
  const Fabric f = read_text_form({"two",
                                   "fabric 1\nswitch a 4\nswitch b 4\nhost h\nhost i\nhost j\nhost "
                                   "lonely\ncable a h\ncable a i\ncable b j\n"});
  CHECK_THAT(f.notes().back(), ContainsSubstring("2 islands"));
  const Check c = check(f, route(f, "minhop"));
  CHECK(c.pairs == 12);
  CHECK(c.lost == 10);
  CHECK_THROWS_WITH(route(f, "lash"),
                    ContainsSubstring("expected one fabric, found a, which reaches 1 of 2"));
}

TEST_CASE("tables are written as OpenSM dumps them and read again") {
  const Fabric f = generate("fat-tree:leaves=3,spines=2,hosts=2");
  const Tables t = route(f, "updn");
  const test::ScratchFolder scratch;
  const std::string path = scratch.file("lfts"), dump = write_lft_dump(t, f);
  CHECK(dump.substr(0, 141) ==
        "Unicast lids [0-11] of switch Lid 2 guid 0x0000000000200000 ('leaf0'):\n"
        "0x0001 001 # Channel Adapter portguid 0x0000000000100001: 'h0'\n0x0002 ");
  test::write_content(path, dump);
  std::vector<std::string> notes;
  CHECK(write_lft_dump(read_lft_dump(path, f, notes), f) == dump);
  CHECK(notes.empty());

  const auto refused = [&](const std::string& content) {
    test::write_content(path, content);
    try {
      read_lft_dump(path, f, notes);
    } catch (const Error& e) {
      return std::string(e.what()).substr(path.size());
    }
    return std::string("read");
  };
  const std::string head = "Unicast lids [0-3] of switch Lid 2 guid 0x200000 ('leaf0'):\n";
  CHECK(refused("") == ": expected forwarding tables, found none");
  CHECK(refused("hello\n") == ":1: expected `Unicast lids ... guid GUID` or `0xLID PORT`, found `hello`");
  CHECK(refused("0x0001 001\n") == ":1: expected a switch before its entries, found `0x0001 001`");
  CHECK(refused(head + "0x0001 099\n") == ":2: expected a port of leaf0 from 0 to 4, found 99");
  CHECK(refused(head + head) == ":2: expected every switch once, found leaf0 again, first in line 1");
  CHECK(refused("Unicast lids [0-3] of switch guid 0xbad:\n") ==
        ":1: expected a switch of the fabric, found GUID 0x0000000000000bad");
  CHECK(refused(head + "0x0001 001 # h0\n0x00ff 001\n") == "read");
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], ContainsSubstring("says nothing of 4 switches"));
  CHECK_THAT(notes[1], ContainsSubstring("LIDs that the fabric lacks, left out: 1"));
}

TEST_CASE("places in a torus follow from its cables") {
  const test::ScratchFolder scratch;
  const auto places = [&](const std::string& spec, const std::string& config) {
    test::write_content(scratch.file("conf"), config);
    const Fabric f = generate(spec);
    const Grid found = read_torus_config(scratch.file("conf"), f);
    for (Node sw = 0; sw < f.switches(); sw++)
      for (int d = 0; d < f.grid()->dimensions(); d++)
        if (found.at(sw, d) != f.grid()->at(sw, d)) return false;
    return true;
  };
  const std::string xyz = "xp_link 0x200000 0x200014\nyp_link 0x200000 0x200005\nzp_link 0x200000 0x200001\n";
  CHECK(places("torus:3x4x5", "torus 3 4 5\nym_link 0x200000 0x20000f\n" + xyz));
  CHECK(places("mesh:3x4x5", "# a mesh\nmesh 3 4 5\n" + xyz));
  CHECK(places("torus:6x5", "torus 6 5 1\nxm_link 0x200000 0x200019\nyp_link 0x200000 0x200001\n"));
  CHECK_THROWS_WITH(places("torus:3x4x5", "torus 3 4 5\n" + xyz),
                    ContainsSubstring("both yp_link and ym_link in a ring of four"));
  CHECK_THROWS_WITH(places("torus:3x4x5", "torus 3 5 4\n" + xyz), ContainsSubstring("expected"));
  CHECK_THROWS_WITH(places("torus:3x4x5", "torus 3 4\n"),
                    ContainsSubstring("conf:1: expected a size of a dimension"));
  CHECK_THROWS_WITH(places("torus:3x4x5", "torus 3 4 5\nxp_link 0x200000 0x300000\n"),
                    ContainsSubstring("conf:2: expected the GUID of a switch"));
  CHECK_THROWS_WITH(places("torus:6x6", "torus 6 5 1\nxp_link 0x200000 0x200006\n"),
                    ContainsSubstring("expected 30 switches, found 36"));
  CHECK_THROWS_WITH(route(generate("single:4"), "torus-2QoS"), ContainsSubstring("--torus-config"));
}

TEST_CASE("a graph without circles refuses the edge that closes one") {
  // A ring of four switches, one link each: 0 -> 1 -> 2 -> 3 -> 0.
  const std::vector<int> begins{0, 1, 2, 3, 4}, targets{1, 2, 3, 0};
  AcyclicGraph g(begins, targets);
  CHECK(g.add(3, 0));
  CHECK(g.add(2, 3));
  CHECK(g.add(1, 2));
  CHECK(!g.add(0, 1));
  CHECK(g.add(1, 2));  // counted twice
  g.remove(1, 2);
  CHECK(!g.add(0, 1));
  g.remove(1, 2);
  CHECK(g.add(0, 1));
  CHECK(!g.add(1, 2));
}
