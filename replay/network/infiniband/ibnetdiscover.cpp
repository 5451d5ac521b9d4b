#include "replay/network/infiniband/ibnetdiscover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>

namespace simreplay::infiniband {
namespace {

enum class Kind { sw, adapter, router };

/// One line "[1] "S-..."[2] ...": what a device says of one of its ports.
struct Statement {
  std::int64_t line = 0;
  std::string remote;
  int remote_port = 0;
  Guid guid = 0, remote_guid = 0;
  Lid lid = 0, remote_lid = 0;
  std::optional<LinkRate> rate{};
};

struct Device {
  Kind kind = Kind::sw;
  std::string name;
  int ports = 0;
  Guid guid = 0;
  Lid lid = 0;
  std::map<int, Statement> said{};
};

/// Oddities that come many at a time: how many, and the first one.
struct Tally {
  std::string what;
  std::int64_t count = 0;
  std::string first{};
};

struct Keyword {
  std::string_view word;
  Kind kind;
};
constexpr std::array<Keyword, 6> keywords{{{"Switch", Kind::sw},
                                           {"Ca", Kind::adapter},
                                           {"Hca", Kind::adapter},
                                           {"Rt", Kind::router},
                                           {"Rtr", Kind::router},
                                           {"Router", Kind::router}}};

/// Masks of ibsim's `width`, `speed` and `extspeed`: what is enabled; the best is active.
struct MaskRow {
  unsigned bit;
  std::uint8_t lanes;
};
constexpr std::array<MaskRow, 5> widths{{{16, 2}, {1, 1}, {2, 4}, {4, 8}, {8, 12}}};
constexpr std::array<Speed, 3> speeds{Speed::sdr, Speed::ddr, Speed::qdr};
constexpr std::array<Speed, 5> extended_speeds{Speed::fdr, Speed::edr, Speed::hdr, Speed::ndr, Speed::xdr};

class Reader {
 public:
  explicit Reader(Lines lines) : lines_(std::move(lines)) {}

  Fabric read() {
    while (lines_.next()) read_line();
    if (devices_.empty())
      lines_.refuse("`Switch PORTS \"ID\"` or `Ca PORTS \"ID\"`", "none", lines_.number());
    if (lines_.had_mark()) builder_.note(lines_.name() + ": begins with a byte order mark");
    if (lines_.had_returns()) builder_.note(lines_.name() + ": lines end with CR LF");
    add_nodes();
    add_cables();
    for (const Tally* t : {&one_sided_, &unknown_ends_, &to_routers_, &no_rate_, &two_rates_, &unknown_words_,
                           &lmc_, &groups_})
      if (t->count > 0)
        builder_.note(fmt::format("{}: {}, first {}", t->what, format_count(t->count), t->first));
    return builder_.build();
  }

 private:
  void count(Tally& tally, std::int64_t line, const std::string& what = {}) {
    if (tally.count++ == 0) tally.first = lines_.place(line) + (what.empty() ? "" : " " + what);
  }

  void read_line() {
    const std::string_view text = lines_.text();
    if (text.empty() || text[0] == '#') return;
    if (text[0] == '[') return read_port();
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    for (const Keyword& k : keywords)
      if (k.word == word) return read_device(k);
    if (word.find('=') != std::string_view::npos) return read_assignments();
    for (const std::string_view group : {"Non-Chassis", "Chassis", "System", "DR"})  // of ibnetdiscover -g
      if (group == word) return count(groups_, lines_.number());
    lines_.refuse("Switch, Ca, Hca, Rt, [PORT] or NAME=VALUE", fmt::format("`{}`", text.substr(0, 40)));
  }

  /// "switchguid=0x200036(200036)", "width=3 speed=7"
  void read_assignments() {
    Cursor c(lines_);
    while (!c.at_end() && c.rest()[0] != '#') {
      const std::string word = c.word();
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) lines_.refuse("NAME=VALUE", "`" + word + "`");
      assign(word.substr(0, equals), word.substr(equals + 1));
    }
  }

  void assign(const std::string& name, const std::string& value) {
    if (name == "switchguid" || name == "caguid" || name == "rtguid" || name == "nodeguid")
      next_guid_ = number(name, value, 16);
    else if (unsigned* mask = mask_of(name))
      *mask = static_cast<unsigned>(number(name, value, 10));
  }

  unsigned* mask_of(const std::string& name) {
    if (name == "width" || name == "w") return &width_;
    if (name == "speed" || name == "s") return &speed_;
    if (name == "extspeed" || name == "e") return &extended_;
    return nullptr;
  }

  std::uint64_t number(const std::string& name, std::string_view text, int base) const {
    if (base == 16 && text.substr(0, 2) == "0x") text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || (end != text.data() + text.size() && *end != '('))
      lines_.refuse(fmt::format("{}=NUMBER", name), fmt::format("`{}`", text));
    return value;
  }

  /// "Switch  36 "S-0002..."  # "name" enhanced port 0 lid 6 lmc 0"
  void read_device(const Keyword& keyword) {
    Cursor c(lines_);
    c.take(keyword.word);
    c.skip_blanks();
    Device d{.kind = keyword.kind, .name = {}};
    d.ports = static_cast<int>(c.decimal("a number of ports", 0, 254));
    c.skip_blanks();
    const std::string id = c.quoted("the quoted name of the device");
    d.guid = next_guid_ != 0 ? next_guid_ : guid_of(id);
    next_guid_ = 0;
    Lid before_name = 0;
    const std::string description = read_comment(c, before_name, d.lid, nullptr);
    d.name = description.empty() ? id : description;
    const auto [old, is_new] = index_.emplace(id, devices_.size());
    if (!is_new) lines_.refuse("every device once", "\"" + id + "\" again");
    devices_.push_back(std::move(d));
  }

  /// "S-0002c902..." has the GUID in it.
  static Guid guid_of(const std::string& id) {
    Guid guid = 0;
    if (id.size() < 3 || id[1] != '-') return 0;
    const auto [end, error] = std::from_chars(id.data() + 2, id.data() + id.size(), guid, 16);
    return error == std::errc() && end == id.data() + id.size() ? guid : 0;
  }

  /// "[1](10006d) "S-..."[7](..)  # lid 11 lmc 0 "name" lid 2 4xEDR", "[1] "s0_1"[2] w=1 s=2"
  void read_port() {
    if (devices_.empty())
      lines_.refuse("a device before its ports", fmt::format("`{}`", lines_.text().substr(0, 40)));
    Device& device = devices_.back();
    Cursor c(lines_);
    c.take("[");
    const int port = static_cast<int>(c.decimal("a port number", 0, device.ports));
    c.expect("]", "`]`");
    Statement s{.line = lines_.number(), .remote = {}};
    if (c.take("[ext")) {  // the number printed on a chassis
      c.skip_blanks();
      c.decimal("the port number on the chassis", 0, 1000);
      c.expect("]", "`]`");
    }
    if (c.take("(")) {
      s.guid = c.hex("a port GUID");
      c.expect(")", "`)`");
    }
    c.skip_blanks();
    s.remote = c.quoted("the quoted name of the device at the other end");
    if (c.take("[")) {
      s.remote_port = static_cast<int>(c.decimal("the port number at the other end", 0, 254));
      c.expect("]", "`]`");
    } else {
      s.remote_port = 1;
    }
    if (c.take("(")) {
      s.remote_guid = c.hex("a port GUID");
      c.expect(")", "`)`");
    }
    read_comment(c, s.lid, s.remote_lid, &s.rate);
    if (!s.rate) s.rate = enabled_rate();
    if (port == 0) return;
    const auto [old, is_new] = device.said.emplace(port, std::move(s));
    if (!is_new)
      lines_.refuse("every port of a device once",
                    fmt::format("[{}] again, first in line {}", port, old->second.line));
  }

  std::optional<LinkRate> enabled_rate() const {
    LinkRate rate;
    if (width_ == 0 && speed_ == 0 && extended_ == 0) return std::nullopt;
    for (const MaskRow& r : widths)
      if ((width_ & r.bit) != 0) rate.lanes = r.lanes;
    rate.speed = Speed::sdr;
    for (unsigned i = 0; i < speeds.size(); i++)
      if ((speed_ >> i & 1) != 0) rate.speed = speeds[i];
    for (unsigned i = 0; i < extended_speeds.size(); i++)
      if ((extended_ >> i & 1) != 0) rate.speed = extended_speeds[i];
    return rate;
  }

  /// What follows the facts: ibsim's settings, then "# ..." with LIDs before and after a quoted name, which
  /// is returned, and the rate.
  std::string read_comment(Cursor& c, Lid& before, Lid& after, std::optional<LinkRate>* rate) {
    const struct { unsigned width, speed, extended; } usual{width_, speed_, extended_};
    while (!c.at_end() && c.rest()[0] != '#') {
      const std::string word = c.word();
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) lines_.refuse("NAME=VALUE or a comment", "`" + word + "`");
      assign(word.substr(0, equals), word.substr(equals + 1));
    }
    if (rate != nullptr && (usual.width != width_ || usual.speed != speed_ || usual.extended != extended_)) {
      *rate = enabled_rate();  // of this port only
      width_ = usual.width, speed_ = usual.speed, extended_ = usual.extended;
    }
    if (c.at_end()) return {};
    const std::string_view comment = c.rest().substr(1);
    const std::size_t begin = comment.find('"'), end = comment.rfind('"');
    const bool named = begin != std::string_view::npos && end > begin;
    read_words(comment.substr(0, begin), before, rate);
    if (!named) return {};
    read_words(comment.substr(end + 1), after, rate);
    return std::string(comment.substr(begin + 1, end - begin - 1));
  }

  /// "base port 0 lid 82 lmc 0", "lid 2 4xEDR s=4 w=4"
  void read_words(std::string_view text, Lid& lid, std::optional<LinkRate>* rate) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = std::min(text.find_first_not_of(" \t", i), text.size());
      i = std::min(text.find_first_of(" \t", begin), text.size());
      if (i > begin) words.emplace_back(text.substr(begin, i - begin));
    }
    for (std::size_t i = 0; i < words.size(); i++) {
      const bool has_value = i + 1 < words.size();
      if (words[i] == "lid" && has_value) {
        const auto value =
            static_cast<Lid>(std::min<std::uint64_t>(number("lid", words[++i], 10), last_lid + 1));
        if (lid == 0 && value <= last_lid) lid = value;  // 65535: none
      } else if (words[i] == "lmc" && has_value) {
        if (words[++i] != "0") count(lmc_, lines_.number());
      } else if (const auto found = parse_link_rate(words[i]); found && rate != nullptr && !*rate) {
        *rate = found;
      } else if (rate != nullptr && words[i].find('=') == std::string::npos) {
        count(unknown_words_, lines_.number(), "`" + words[i] + "`");
      }
    }
  }

  // --- the fabric ------------------------------------------------------------------------------------------

  /// What is known of an adapter's port that has a cable.
  struct AdapterPort {
    Guid guid = 0;
    Lid lid = 0;
  };

  /// By the adapter itself, or else by the switch at the other end.
  std::vector<std::map<int, AdapterPort>> find_adapter_ports() const {
    std::vector<std::map<int, AdapterPort>> ports(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); i++)
      for (const auto& [port, s] : devices_[i].said) {
        if (devices_[i].kind == Kind::adapter) ports[i][port] = {s.guid, s.lid};
        const auto other = index_.find(s.remote);
        if (other == index_.end() || devices_[other->second].kind != Kind::adapter) continue;
        ports[other->second].try_emplace(s.remote_port, AdapterPort{s.remote_guid, s.remote_lid});
      }
    return ports;
  }

  void add_nodes() {
    const auto adapter_ports = find_adapter_ports();
    ends_.resize(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); i++) {
      const Device& d = devices_[i];
      if (d.kind == Kind::sw) ends_[i][0] = {false, builder_.add_switch(d.name, d.ports, d.guid, d.lid), 0};
      if (d.kind != Kind::adapter) continue;
      const auto& ports = adapter_ports[i];
      if (ports.empty()) builder_.add_host(d.name, d.guid);
      for (const auto& [port, known] : ports) {
        const std::string name = ports.size() > 1 ? fmt::format("{}/{}", d.name, port) : d.name;
        ends_[i][port] = {true, builder_.add_host(name, d.guid, known.guid, known.lid, port), 1};
      }
    }
  }

  FabricBuilder::End end(std::size_t device, int port) const {
    if (devices_[device].kind == Kind::sw) return {false, ends_[device].at(0).index, port};
    return ends_[device].at(port);
  }

  void add_cables() {
    for (std::size_t i = 0; i < devices_.size(); i++)
      for (const auto& [port, s] : devices_[i].said) add_cable(i, port, s);
  }

  void add_cable(std::size_t device, int port, const Statement& s) {
    const auto found = index_.find(s.remote);
    if (found == index_.end()) return count(unknown_ends_, s.line, "\"" + s.remote + "\"");
    const std::size_t other = found->second;
    const Device& remote = devices_[other];
    if (devices_[device].kind == Kind::router || remote.kind == Kind::router)
      return count(to_routers_, s.line);
    if (s.remote_port < 1 || s.remote_port > remote.ports)
      lines_.refuse(fmt::format("a port from 1 to {} of \"{}\"", remote.ports, s.remote),
                    fmt::format("[{}]", s.remote_port), s.line);
    const auto answer = remote.said.find(s.remote_port);
    const bool answered = answer != remote.said.end();
    if (answered) check_answer(device, port, s, answer->second);
    if (answered && std::pair(other, s.remote_port) < std::pair(device, port)) return;  // laid from there
    if (!answered)
      count(one_sided_, s.line, fmt::format("\"{}\"[{}] says nothing", remote.name, s.remote_port));
    const auto a = end(device, port), b = end(other, s.remote_port);
    if (!builder_.is_free(b))
      lines_.refuse("a free port", fmt::format("\"{}\"[{}], which has a cable", remote.name, s.remote_port),
                    s.line);
    builder_.connect(a, b, agreed_rate(s, answered ? &answer->second : nullptr));
  }

  void check_answer(std::size_t device, int port, const Statement& s, const Statement& answer) {
    const auto back = index_.find(answer.remote);
    if (back != index_.end() && back->second == device && answer.remote_port == port) return;
    lines_.refuse(
        fmt::format("a cable back to [{}] of \"{}\" (line {})", port, devices_[device].name, s.line),
        fmt::format("one to \"{}\"[{}]", answer.remote, answer.remote_port), answer.line);
  }

  LinkRate agreed_rate(const Statement& s, const Statement* answer) {
    const std::optional<LinkRate> theirs = answer != nullptr ? answer->rate : std::nullopt;
    if (!s.rate && !theirs) count(no_rate_, s.line);
    if (s.rate && theirs && *s.rate != *theirs)
      count(two_rates_, s.line, fmt::format("{} and {}", to_string(*s.rate), to_string(*theirs)));
    if (!s.rate || !theirs) return s.rate.value_or(theirs.value_or(LinkRate{}));
    return slower(*theirs, *s.rate) ? *theirs : *s.rate;
  }

  Lines lines_;
  FabricBuilder builder_;
  std::vector<Device> devices_;
  std::unordered_map<std::string, std::size_t> index_;  // by id
  std::vector<std::map<int, FabricBuilder::End>> ends_;
  Guid next_guid_ = 0;
  unsigned width_ = 0, speed_ = 0, extended_ = 0;
  Tally one_sided_{"cables that only one end tells of"};
  Tally unknown_ends_{"cables to devices that are not in the file, left out"};
  Tally to_routers_{"cables of routers, left out"};
  Tally no_rate_{"cables without a rate, taken for 4xEDR"};
  Tally two_rates_{"cables whose ends tell different rates, taken for the slower"};
  Tally unknown_words_{"words in comments that mean nothing here"};
  Tally lmc_{"ports with several LIDs (LMC above 0), of which the first is used"};
  Tally groups_{"headings of chassis, passed over"};
};

}  // namespace

Fabric read_ibnetdiscover(Lines lines) { return Reader(std::move(lines)).read(); }

}  // namespace simreplay::infiniband
