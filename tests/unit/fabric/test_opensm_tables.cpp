// Our tables against those that OpenSM 3.3.23 made of the same fabrics: every port, every service level; and
// what our check says of them against summary.tsv, which was computed by another program.
#include <fmt/format.h>

#include <map>
#include <sstream>

#include "replay/network/infiniband/check.hpp"
#include "replay/network/infiniband/ibnetdiscover.hpp"
#include "replay/network/infiniband/lft_dump.hpp"
#include "replay/network/infiniband/routing/routing.hpp"
#include "replay/network/infiniband/torus_config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/fabric/opensm_data.hpp"

using namespace simreplay;
using namespace simreplay::infiniband;

namespace {

const std::vector<std::string> fabrics{"single16",      "ft2_full",   "ft2_over2",   "ft2_over4",
                                       "ft3_k8",        "ft3_k16",    "torus2d_6x5", "torus3d_4x4x4",
                                       "torus3d_3x4x5", "mesh2d_5x5", "irregular20"};

/// A row of summary.tsv as text, without its first two columns.
std::string facts_of(const Check& c, bool levels_known) {
  return fmt::format("{}\t{:.3f}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", c.pairs, c.mean_switches(), c.longest,
                     c.detours, c.most_routes, c.fewest_routes, levels_known ? std::to_string(c.levels) : "-",
                     c.lanes == 0 ? "-" : std::to_string(c.lanes), c.acyclic() ? "acyclic" : "cycle");
}

/// Rows of a fabric: engine, the rest.
std::map<std::string, std::string> summary_of(const std::string& folder, const std::string& fabric) {
  std::istringstream rows(test::content_of(folder + "/summary.tsv"));
  std::map<std::string, std::string> of_fabric;
  std::string row;
  while (std::getline(rows, row)) {
    const std::size_t first = row.find('\t'), second = row.find('\t', first + 1);
    if (row.substr(0, first) == fabric)
      of_fabric[row.substr(first + 1, second - first - 1)] = row.substr(second + 1);
  }
  return of_fabric;
}

Fabric read_fabric_of(const std::string& folder, const std::string& name) {
  return read_ibnetdiscover({name, test::unpacked(folder + "/" + name + "/ibnetdiscover.txt.gz")});
}

std::vector<Node> roots_of(const std::string& base, const Fabric& f) {
  if (std::filesystem::exists(base + ".roots")) return read_roots(base + ".roots", f);
  return {f.node_of_guid(0x200000)};
}

Tables our_tables(const std::string& base, Fabric& f, const std::string& engine) {
  RoutingOptions options;
  const bool given_roots = engine.ends_with("-a");
  if (given_roots) options.roots = roots_of(base, f);
  if (engine == "torus-2QoS") f.set_grid(read_torus_config(base + ".torus-2QoS.conf", f));
  return route(f, given_roots ? engine.substr(0, engine.size() - 2) : engine, options);
}

/// "switchLID GUID port(LID 1) port(LID 2) ..."
std::int64_t differences_from_compact(const Tables& t, const Fabric& f, const std::string& dump) {
  std::int64_t differences = 0, entries = 0;
  std::istringstream rows(dump);
  std::string row, guid;
  while (std::getline(rows, row)) {
    std::istringstream columns(row);
    Lid own = 0;
    columns >> own >> guid;
    int port = 0;
    for (Lid lid = 1; columns >> port; lid++, entries++)
      differences += t.port(f.node_of_lid(own), lid) != port;
  }
  return entries == static_cast<std::int64_t>(f.switches()) * f.max_lid() ? differences : -1;
}

std::int64_t different_levels(const Tables& t, const Fabric& f, const std::string& path_sl) {
  std::int64_t differences = 0;
  std::istringstream rows(path_sl);
  Lid from = 0, to = 0;
  int level = 0;
  while (rows >> from >> to >> level)
    differences += t.service_level(f.switch_of(f.node_of_lid(from)), f.switch_of(f.node_of_lid(to))) != level;
  return differences;
}

void compare(const std::string& folder, const std::string& name, Fabric& f, const std::string& engine,
             const std::string& facts) {
  INFO(engine);
  const std::string base = folder + "/" + name + "/", path = base + engine;
  const Tables ours = our_tables(base + name, f, engine);
  if (std::filesystem::exists(path + ".lfts.gz")) {
    const bool same = write_lft_dump(ours, f) == test::unpacked(path + ".lfts.gz");
    CHECK(same);
  } else {
    CHECK(differences_from_compact(ours, f, test::unpacked(path + ".lft-compact.gz")) == 0);
  }
  const bool levels_known = std::filesystem::exists(path + ".path-sl.gz");
  if (levels_known) CHECK(different_levels(ours, f, test::unpacked(path + ".path-sl.gz")) == 0);
  CHECK(facts_of(check(f, ours), levels_known) == facts);
}

}  // namespace

TEST_CASE("all engines make OpenSM's tables of all fabrics, byte for byte") {
  const std::string folder = test::fabrics_folder();
  if (folder.empty()) return;
  const std::string name = GENERATE(from_range(fabrics));
  INFO(name);
  Fabric f = read_fabric_of(folder, name);
  int compared = 0;
  for (const auto& [engine, facts] : summary_of(folder, name)) {
    const std::string plain = engine.ends_with("-a") ? engine.substr(0, engine.size() - 2) : engine;
    if (!is_engine(plain)) continue;
    compare(folder, name, f, engine, facts);
    compared++;
  }
  CHECK(compared >= 3);
}

TEST_CASE("tables of engines that we lack are read and checked") {
  const std::string folder = test::fabrics_folder();
  if (folder.empty()) return;
  const auto [name, engine] = GENERATE(table<const char*, const char*>(
      {{"torus3d_4x4x4", "sssp"}, {"irregular20", "nue"}, {"ft3_k8", "dfsssp"}}));
  INFO(name);
  const Fabric f = read_fabric_of(folder, name);
  const test::ScratchFolder scratch;
  const std::string dump = test::unpacked(fmt::format("{}/{}/{}.lfts.gz", folder, name, engine));
  test::write_content(scratch.file("lfts"), dump);
  std::vector<std::string> notes;
  const Tables t = read_lft_dump(scratch.file("lfts"), f, notes);
  CHECK(notes.empty());
  CHECK(write_lft_dump(t, f) == dump);
  // Without lanes: hops and loads are those of the summary, circles may be more.
  const std::string facts = summary_of(folder, name)[engine];
  std::string six;
  for (int column = 0, i = 0; column < 6; i++) {
    six += facts[static_cast<std::size_t>(i)];
    column += facts[static_cast<std::size_t>(i)] == '\t';
  }
  CHECK(facts_of(check(f, t), false).substr(0, six.size()) == six);
}

TEST_CASE("engines refuse what OpenSM refuses") {
  const std::string folder = test::fabrics_folder();
  if (folder.empty()) return;
  for (const char* name : {"torus2d_6x5", "mesh2d_5x5", "irregular20"}) {
    const Fabric f = read_fabric_of(folder, name);
    CHECK_THROWS(route(f, "updn"));
    CHECK_THROWS(route(f, "ftree"));
  }
  CHECK_THROWS(route(read_fabric_of(folder, "single16"), "ftree"));
}
