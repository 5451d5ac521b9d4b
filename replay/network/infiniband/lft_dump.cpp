#include "replay/network/infiniband/lft_dump.hpp"

#include <fmt/format.h>

#include <cctype>
#include <unordered_map>

#include "common/error.hpp"
#include "replay/network/infiniband/lines.hpp"

namespace simreplay::infiniband {
namespace {

class Reader {
 public:
  Reader(const std::string& path, const Fabric& f) : lines_(Lines::of_file(path)), fabric_(f), tables_(f) {
    for (Node sw = 0; sw < f.switches(); sw++) by_guid_.emplace(f.guid(sw), sw);
  }

  Tables read(std::vector<std::string>& notes) {
    while (lines_.next()) {
      const std::string_view text = lines_.text();
      if (text.substr(0, 12) == "Unicast lids")
        read_switch();
      else if (text.substr(0, 2) == "0x")
        read_entry();
      else if (!text.empty() && text[0] != '#' && !is_decoration(text))
        lines_.refuse("`Unicast lids ... guid GUID` or `0xLID PORT`",
                      fmt::format("`{}`", text.substr(0, 40)));
    }
    if (told_.empty()) throw Error({.file = lines_.name(), .expected = "forwarding tables", .found = "none"});
    if (told_.size() < by_guid_.size())
      notes.push_back(
          fmt::format("{}: says nothing of {} switches", lines_.name(), by_guid_.size() - told_.size()));
    if (unknown_lids_ > 0)
      notes.push_back(fmt::format("{}: entries for LIDs that the fabric lacks, left out: {}", lines_.name(),
                                  format_count(unknown_lids_)));
    return std::move(tables_);
  }

 private:
  /// "76 lids dumped", and the headings of ibroute: "  Lid  Out   Destination", "       Port     Info".
  static bool is_decoration(std::string_view text) {
    return text.find("lids dumped") != std::string_view::npos ||
           text.find("valid lids") != std::string_view::npos || text.substr(0, 3) == "Lid" ||
           text.substr(0, 4) == "Port";
  }

  /// "Unicast lids [0-76] of switch Lid 2 guid 0x0000000000200000 ('leaf0'):"
  void read_switch() {
    const std::size_t guid_at = lines_.text().find("guid ");
    if (guid_at == std::string_view::npos) lines_.refuse("the GUID of a switch", "none");
    Cursor c(lines_);
    c.take(lines_.text().substr(0, guid_at + 5));
    const Guid guid = c.hex("the GUID of a switch");
    const auto found = by_guid_.find(guid);
    if (found == by_guid_.end()) lines_.refuse("a switch of the fabric", fmt::format("GUID {:#018x}", guid));
    switch_ = found->second;
    if (!told_.emplace(switch_, lines_.number()).second)
      lines_.refuse("every switch once",
                    fmt::format("{} again, first in line {}", fabric_.name(switch_), told_[switch_]));
  }

  /// "0x0001 007 # Channel Adapter portguid 0x0000000000100001: 'h0'"
  void read_entry() {
    if (switch_ == nothing)
      lines_.refuse("a switch before its entries", fmt::format("`{}`", lines_.text().substr(0, 40)));
    Cursor c(lines_);
    const std::uint64_t lid = c.hex("a LID");
    c.skip_blanks();
    const auto port = c.decimal("a port", 0, 255);
    if (port != Tables::no_route && port > fabric_.ports(switch_))
      lines_.refuse(fmt::format("a port of {} from 0 to {}", fabric_.name(switch_), fabric_.ports(switch_)),
                    fmt::format("{}", port));
    if (lid > static_cast<std::uint64_t>(fabric_.max_lid()) ||
        fabric_.node_of_lid(static_cast<Lid>(lid)) == nothing) {
      unknown_lids_++;
      return;
    }
    tables_.set_port(switch_, static_cast<Lid>(lid), static_cast<std::uint8_t>(port));
  }

  Lines lines_;
  const Fabric& fabric_;
  Tables tables_;
  std::unordered_map<Guid, Node> by_guid_;
  std::unordered_map<Node, std::int64_t> told_;  // and where
  Node switch_ = nothing;
  std::int64_t unknown_lids_ = 0;
};

}  // namespace

Tables read_lft_dump(const std::string& path, const Fabric& fabric, std::vector<std::string>& notes) {
  return Reader(path, fabric).read(notes);
}

std::string write_lft_dump(const Tables& tables, const Fabric& f) {
  std::string text;
  for (const Node sw : f.switches_by_guid()) {
    text += fmt::format("Unicast lids [0-{}] of switch Lid {} guid {:#018x} ('{}'):\n", f.max_lid(),
                        f.lid(sw), f.guid(sw), f.name(sw));
    int lids = 0;  // also those without route, as OpenSM counts
    for (Lid lid = 1; lid <= f.max_lid(); lid++) {
      const Node n = f.node_of_lid(lid);
      if (n == nothing) continue;
      lids++;
      if (tables.port(sw, lid) == Tables::no_route) continue;
      text += fmt::format("{:#06x} {:03} # {} portguid {:#018x}: '{}'\n", lid, tables.port(sw, lid),
                          f.is_switch(n) ? "Switch" : "Channel Adapter", f.port_guid(n), f.name(n));
    }
    text += fmt::format("{} lids dumped\n", lids);
  }
  return text;
}

}  // namespace simreplay::infiniband
