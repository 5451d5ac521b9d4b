// Fabrics as they are found in the field: what is odd is noted, what has no meaning is refused with its line.
#include <fmt/format.h>

#include "common/error.hpp"
#include "replay/network/infiniband/ibnetdiscover.hpp"
#include "replay/network/infiniband/text_form.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;
using namespace simreplay::infiniband;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Two switches, parallel cables between them of which one is degraded; two hosts, one with two ports.
const std::string field = R"(#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
# Initiated from node 0008f10403960558 port 0008f10403960559

vendid=0x8f1
devid=0x5a06
sysimgguid=0x5442ba00003000
switchguid=0x5442ba00003080(5442ba00003080)
Switch	24 "S-005442ba00003080"		# "ISR 9024; "edge" #1" enhanced port 0 lid 6 lmc 0
[1]	"S-0008f10400410015"[1]		# "SW-6IB4" lid 3 4xDDR
[2]	"S-0008f10400410015"[2]		# "SW-6IB4" lid 3 4xDDR
[3]	"S-0008f10400410015"[3]		# "SW-6IB4" lid 3 1xSDR s=1 w=2 v=4
[22][ext 5]	"H-0008f10403961354"[1](8f10403961355) 		# "node1 HCA-1" lid 4 4xQDR
[24]	"H-0008f10403961354"[2](8f10403961356) 		# "node1 HCA-1" lid 5 4xQDR

vendid=0x8f1
devid=0x5a05
switchguid=0x8f10400410015(8f10400410015)
Switch	8 "S-0008f10400410015"		# "SW-6IB4" base port 0 lid 3 lmc 0
[1]	"S-005442ba00003080"[1]		# "ISR 9024" lid 6 4xDDR
[2]	"S-005442ba00003080"[2]		# "ISR 9024" lid 6 4xDDR
[3]	"S-005442ba00003080"[3]		# "ISR 9024" lid 6 1xSDR
[6]	"H-0008f10403960984"[1](8f10403960985) 		# "node2" lid 16 4xQDR

caguid=0x8f10403961354
Ca	2 "H-0008f10403961354"		# "node1 HCA-1"
[1](8f10403961355) 	"S-005442ba00003080"[22]		# lid 4 lmc 0 "ISR 9024" lid 6 4xQDR
[2](8f10403961356) 	"S-005442ba00003080"[24]		# lid 5 lmc 0 "ISR 9024" lid 6 4xQDR

caguid=0x8f10403960984
Ca	1 "H-0008f10403960984"		# "node2"
[1](8f10403960985) 	"S-0008f10400410015"[6]		# lid 16 lmc 0 "SW-6IB4" lid 3 4xQDR
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t i = 0; (i = text.find(from, i)) != std::string::npos; i += to.size())
    text.replace(i, from.size(), to);
  return text;
}

Fabric read(const std::string& text) { return read_ibnetdiscover({"net.txt", text}); }

std::string notes_of(const Fabric& f) { return fmt::format("{}", fmt::join(f.notes(), "\n")); }

void check_field(const Fabric& f) {
  REQUIRE(f.switches() == 2);
  REQUIRE(f.hosts() == 3);
  CHECK(f.name(0) == "ISR 9024; \"edge\" #1");
  CHECK(f.guid(0) == 0x5442ba00003080);
  CHECK(f.name(f.host(1)) == "node1 HCA-1/2");
  CHECK(f.port_guid(f.host(1)) == 0x8f10403961356);
  CHECK(f.lid(f.host(2)) == 16);
  CHECK(f.port_name(f.port_towards_host(f.host(0))) == "ISR 9024; \"edge\" #1[22]");
  CHECK(to_string(f.cable(f.port(0, 3)).rate) == "1xSDR");
  CHECK(to_string(f.cable(f.first_port(f.host(2))).rate) == "4xQDR");
}

}  // namespace

TEST_CASE("what ibnetdiscover prints is read") {
  const Fabric f = read(field);
  check_field(f);
  CHECK(notes_of(f) ==
        "neighbors with parallel cables: 1 pairs\n"
        "cables slower than the usual 4xDDR between switches: ISR 9024; \"edge\" #1[3] - SW-6IB4[3] 1xSDR");
}

TEST_CASE("line ends and byte order marks change nothing but the notes") {
  const Fabric f = read("\xEF\xBB\xBF" + with(field, "\n", "\r\n"));
  check_field(f);
  CHECK_THAT(notes_of(f),
             ContainsSubstring("net.txt: begins with a byte order mark\nnet.txt: lines end with CR LF\n"));
}

TEST_CASE("oddities are noted, with the place of the first") {
  struct Oddity {
    std::string text, note;
  };
  const Oddity odd = GENERATE(values<Oddity>({
      {with(with(field, "lid 16", "lid 0"), "lid 6", "lid 65535"), "nodes without LID get free ones: 2"},
      {with(field, "lid 5 lmc 0", "lid 4 lmc 0"), "LIDs given twice, the second node gets another: 4"},
      {with(field, "[2]\t\"S-005442ba00003080\"[2]\t\t# \"ISR 9024\" lid 6 4xDDR\n", ""),
       "cables that only one end tells of: 1, first net.txt:12 \"SW-6IB4\"[2] says nothing"},
      {field.substr(0, field.find("caguid=0x8f10403960984")),
       "cables to devices that are not in the file, left out: 1, first net.txt:24"},
      {with(field, "lid 6 1xSDR", "lid 6 4xDDR"),
       "cables whose ends tell different rates, taken for the slower: 1, first net.txt:13 1xSDR and 4xDDR"},
      {with(field, " 4xDDR", ""), "cables without a rate, taken for 4xEDR: 2, first net.txt:11"},
      {with(field, "lid 16 lmc 0", "lid 16 lmc 1"),
       "ports with several LIDs (LMC above 0), of which the first is used: 1"},
      {with(field, "lid 16 4xQDR", "lid 16 4xQDR ( Could be FDR)"),
       "words in comments that mean nothing here: 4, first net.txt:24 `(`"},
      {"Non-Chassis Nodes\n" + field, "headings of chassis, passed over: 1"},
      {field + "Switch 4 \"S-00000000000000aa\"\nCa 1 \"H-00000000000000bb\"\n",
       "without any cable: S-00000000000000aa, H-00000000000000bb"},
      {field + "Switch 4 \"S-0a\"\n[1] \"S-0b\"[1]\nSwitch 4 \"S-0b\"\n[1] \"S-0a\"[1]\n",
       "2 islands that no cable joins"},
      {field + "Rt 2 \"R-0000000000000001\"\n[1] \"S-0008f10400410015\"[7] # \"SW-6IB4\" lid 3 4xDDR\n",
       "cables of routers, left out: 1"},
  }));
  CHECK_THAT(notes_of(read(odd.text)), ContainsSubstring(odd.note));
}

TEST_CASE("a host that only its switch tells of keeps its identity") {
  const Fabric f = read(field.substr(0, field.find("\n[1](8f10403961355)")));
  REQUIRE(f.hosts() == 2);
  CHECK(f.lid(f.host(0)) == 4);
  CHECK(f.port_guid(f.host(1)) == 0x8f10403961356);
  CHECK(f.number(f.first_port(f.host(1))) == 2);
}

TEST_CASE("what has no meaning is refused with its line") {
  const auto [text, part] = GENERATE(table<std::string, std::string>({
      {"", "net.txt:0: expected `Switch PORTS"},
      {"# nothing but a comment\n", "net.txt:1: expected `Switch PORTS"},
      {"<html>\n", "net.txt:1: expected Switch, Ca, Hca, Rt, [PORT] or NAME=VALUE, found `<html>`"},
      {"SW 3 1 0x0002c902 4x SDR\n", "net.txt:1: expected Switch"},
      {"[1] \"S-01\"[1]\n", "net.txt:1: expected a device before its ports"},
      {"Switch x \"S-01\"\n", "net.txt:1: expected a number of ports from 0 to 254, found `x \"S-01\"`"},
      {"Switch 999 \"S-01\"\n", "expected a number of ports from 0 to 254"},
      {"Switch 8 S-01\n", "expected the quoted name of the device, found `S-01`"},
      {"Switch 8 \"S-01\n", "expected the quoted name of the device"},
      {"Switch 8 \"S-01\"\n[9] \"S-01\"[1]\n", "net.txt:2: expected a port number from 0 to 8"},
      {"Switch 8 \"S-01\"\n[1 \"S-01\"[1]\n", "net.txt:2: expected `]`"},
      {"Switch 8 \"S-01\"\n[1] \"S-01\"[\n",
       "expected the port number at the other end from 0 to 254, found the end of the line"},
      {"Switch 8 \"S-01\"\n[1] \"S-02\"[9]\nSwitch 8 \"S-02\"\n",
       "net.txt:2: expected a port from 1 to 8 of \"S-02\", found [9]"},
      {"Switch 8 \"S-01\"\nSwitch 8 \"S-01\"\n", "net.txt:2: expected every device once"},
      {"Switch 8 \"S-01\"\n[1] \"S-02\"[1]\n[1] \"S-02\"[2]\n",
       "net.txt:3: expected every port of a device once, found [1] again, first in line 2"},
      {"Switch 8 \"S-01\"\n[1] \"S-02\"[1]\nSwitch 8 \"S-02\"\n[1] \"S-01\"[3]\n",
       "net.txt:4: expected a cable back to [1] of \"S-01\" (line 2), found one to \"S-01\"[3]"},
      {"Switch 8 \"S-01\"\n[1] \"S-02\"[1]\n[2] \"S-02\"[1]\nSwitch 8 \"S-02\"\n",
       "net.txt:3: expected a free port"},
      {"switchguid=0xzz\n", "net.txt:1: expected switchguid=NUMBER, found `zz`"},
  }));
  INFO(text);
  CHECK_THROWS_WITH(read(text), ContainsSubstring(part));
}

TEST_CASE("truncated and garbled files give a fabric or an error, nothing else") {
  for (std::size_t n = 0; n < field.size(); n += 7) {
    try {
      read(field.substr(0, n));
    } catch (const Error&) {
    }
    std::string garbled = field;
    garbled[n] = static_cast<char>(garbled[n] ^ 0x15);
    try {
      read(garbled);
    } catch (const Error&) {
    }
  }
  SUCCEED();
}

TEST_CASE("netlists of ibsim: names for identities, rates by masks") {
  const Fabric f = read(
      "width=3\nspeed=7\nextspeed=3\n\nswitchguid=0x200000\nSwitch\t4 "
      "\"edge\"\n[1]\t\"h0\"[1]\n[2]\t\"h1\"[1] s=1 w=1 e=0\n"
      "caguid=0x100000\nHca\t1 \"h0\"\n[1]\t\"edge\"[1]\nHca\t1 \"h1\"\n[1]\t\"edge\"[2]\n");
  REQUIRE(f.hosts() == 2);
  CHECK(f.name(0) == "edge");
  CHECK(f.guid(0) == 0x200000);
  CHECK(f.port_guid(f.host(0)) == 0x100001);
  CHECK(to_string(f.cable(f.port(0, 1)).rate) == "4xEDR");
  CHECK(to_string(f.cable(f.port(0, 2)).rate) == "1xSDR");
}

TEST_CASE("our own form") {
  const auto own = [](const std::string& text) { return read_text_form({"own.txt", text}); };
  const Fabric f =
      own("fabric 1  # small\ndefault 4xHDR 3m\nswitch leaf 6\nswitch \"top switch\" 4 guid=0xabc "
          "lid=77\nhost a\nhost b lid=5\n"
          "cable leaf:2 a\ncable leaf b 2xHDR 30ns\ncable leaf \"top switch\":2 x2 4xNDR\n");
  CHECK(f.lid(1) == 77);
  CHECK(f.number(f.port_towards_host(f.host(0))) == 2);
  CHECK(f.number(f.port_towards_host(f.host(1))) == 1);
  CHECK(f.cable(f.first_port(f.host(0))).delay == Duration{15'000});
  CHECK(to_string(f.cable(f.first_port(f.host(1))).rate) == "2xHDR");
  CHECK(f.port_name(f.peer(f.port(0, 3))) == "top switch[2]");
  CHECK(f.port_name(f.peer(f.port(0, 4))) == "top switch[1]");

  const auto [text, part] = GENERATE(table<std::string, std::string>({
      {"switch a 4\n", "own.txt:1: expected `fabric 1`, found `switch`"},
      {"fabric 2\n", "own.txt:1: expected `fabric 1` once, first"},
      {"fabric 1\nrouter a\n", "own.txt:2: expected default, switch, host or cable, found `router`"},
      {"fabric 1\nswitch a\n", "expected a number of ports from 1 to 254, found the end of the line"},
      {"fabric 1\nhost a\nhost a\n", "own.txt:3: expected every name once"},
      {"fabric 1\nhost a\ncable a b\n", "own.txt:3: expected a switch or host from a line above, found `b`"},
      {"fabric 1\nhost a\nswitch s 1\nhost b\ncable a s\ncable b s\n",
       "own.txt:6: expected a free port of `s`, found none"},
      {"fabric 1\nhost a\nswitch s 1\ncable a s:2\n",
       "own.txt:4: expected a port of `s` from 1 to 1, found `2`"},
      {"fabric 1\nhost a\nswitch s 1\ncable a s 400Gpbs\n", "own.txt:4: expected a rate (4xEDR)"},
      {"fabric 1\nhost a\nswitch s 1\ncable a s\ncable a s\n",
       "own.txt:5: expected a free port, found a:1, which has a cable"},
      {"fabric 1\nhost a lid=0\n", "own.txt:2: expected a LID from 1 to 49151"},
  }));
  INFO(text);
  CHECK_THROWS_WITH(own(text), ContainsSubstring(part));
}

TEST_CASE("files are told apart by their first words") {
  const test::ScratchFolder scratch;
  test::write_content(scratch.file("own"), "\n# mine\nfabric 1\nhost a\nhost b\ncable a b\n");
  test::write_content(scratch.file("net"), field);
  test::write_content(scratch.file("empty"), "# no\n");
  CHECK(load_fabric(scratch.file("own")).hosts() == 2);
  CHECK(load_fabric(scratch.file("net")).hosts() == 3);
  CHECK(load_fabric("single:3").hosts() == 3);
  CHECK_THROWS_WITH(load_fabric(scratch.file("empty")),
                    ContainsSubstring("expected a fabric, found an empty file"));
  CHECK_THROWS_WITH(load_fabric(scratch.file("none")), ContainsSubstring("found none that can be read"));
  CHECK_THROWS_WITH(load_fabric("tours:4x4"), ContainsSubstring("expected a kind of fabric"));
}
