#include "replay/network/infiniband/text_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <unordered_map>

#include "common/error.hpp"
#include "replay/network/infiniband/generate.hpp"
#include "replay/network/infiniband/ibnetdiscover.hpp"

namespace simreplay::infiniband {
namespace {

using End = FabricBuilder::End;

class Reader {
 public:
  explicit Reader(Lines lines) : lines_(std::move(lines)) {}

  Fabric read() {
    bool begun = false;
    while (lines_.next()) {
      Cursor c(lines_);
      if (c.at_end() || c.rest()[0] == '#') continue;
      const std::string word = c.word();
      if (!begun && word != "fabric") lines_.refuse("`fabric 1`", "`" + word + "`");
      if (word == "fabric")
        read_version(c, begun);
      else if (word == "default")
        read_cable_words(c, rate_, delay_, nullptr);
      else if (word == "switch" || word == "host")
        read_node(c, word == "host");
      else if (word == "cable")
        read_cable(c);
      else
        lines_.refuse("default, switch, host or cable", "`" + word + "`");
      begun = true;
    }
    if (!begun) lines_.refuse("`fabric 1`", "nothing", lines_.number());
    return builder_.build();
  }

 private:
  void read_version(Cursor& c, bool begun) {
    const std::string version = c.word();
    if (begun || version != "1") lines_.refuse("`fabric 1` once, first", "`fabric " + version + "`");
  }

  std::string name(Cursor& c, std::string_view what) {
    c.skip_blanks();
    if (!c.rest().empty() && c.rest()[0] == '"') return c.quoted(what);
    std::string word = c.word();
    if (word.empty()) c.refuse(what);
    return word;
  }

  bool more(Cursor& c) { return !c.at_end() && c.rest()[0] != '#'; }

  void read_node(Cursor& c, bool host) {
    const std::string id = name(c, "a name");
    int ports = 1;
    if (!host) {
      c.skip_blanks();
      ports = static_cast<int>(c.decimal("a number of ports", 1, 254));
    }
    Guid guid = 0, port_guid = 0;
    Lid lid = 0;
    while (more(c)) {
      if (c.take("guid="))
        guid = c.hex("a GUID");
      else if (host && c.take("port-guid="))
        port_guid = c.hex("a GUID");
      else if (c.take("lid="))
        lid = static_cast<Lid>(c.decimal("a LID", 1, last_lid));
      else
        c.refuse(host ? "guid=, port-guid= or lid=" : "guid= or lid=");
    }
    const std::int32_t index =
        host ? builder_.add_host(id, guid, port_guid, lid) : builder_.add_switch(id, ports, guid, lid);
    if (!ends_.emplace(id, End{host, index, 0}).second)
      lines_.refuse("every name once", "`" + id + "` again");
  }

  /// "leaf0:9", "leaf0" for its next free port, "h17". In quotes: "a name":9.
  End end(Cursor& c) {
    c.skip_blanks();
    const bool is_quoted = !c.rest().empty() && c.rest()[0] == '"';
    std::string id = name(c, "SWITCH:PORT or HOST");
    std::string port;
    if (is_quoted) {
      if (c.take(":")) port = c.word();
    } else if (ends_.count(id) == 0 && id.rfind(':') != std::string::npos) {
      port = id.substr(id.rfind(':') + 1);
      id.resize(id.rfind(':'));
    }
    const auto found = ends_.find(id);
    if (found == ends_.end()) lines_.refuse("a switch or host from a line above", "`" + id + "`");
    return with_port(found->second, id, port);
  }

  End with_port(End e, const std::string& id, const std::string& port) {
    const int ports = e.host ? 1 : builder_.ports(e.index);
    e.port = 1;
    if (!port.empty()) {
      const bool is_number = port.size() <= 3 && std::all_of(port.begin(), port.end(),
                                                             [](char c) { return c >= '0' && c <= '9'; });
      e.port = is_number ? std::stoi(port) : 0;
    } else if (!e.host) {
      e.port = builder_.next_free_port(e.index);
      if (e.port == 0) lines_.refuse("a free port of `" + id + "`", "none");
    }
    if (e.port < 1 || e.port > ports)
      lines_.refuse(fmt::format("a port of `{}` from 1 to {}", id, ports), "`" + port + "`");
    if (!builder_.is_free(e))
      lines_.refuse("a free port", fmt::format("{}:{}, which has a cable", id, e.port));
    return e;
  }

  /// Rate, delay, "x2": in any order.
  void read_cable_words(Cursor& c, LinkRate& rate, Duration& delay, int* copies) {
    while (more(c)) {
      const std::string word = c.word();
      if (const auto found = parse_link_rate(word)) {
        rate = *found;
      } else if (copies != nullptr && word.size() > 1 && word.size() < 5 && word[0] == 'x' &&
                 std::all_of(word.begin() + 1, word.end(), [](char d) { return d >= '0' && d <= '9'; })) {
        *copies = std::stoi(word.substr(1));
      } else {
        try {
          delay = parse_delay(word);
        } catch (const std::invalid_argument&) {
          lines_.refuse("a rate (4xEDR), a length (2m), a time (12ns)" +
                            std::string(copies != nullptr ? ", a number of cables (x2)" : ""),
                        "`" + word + "`");
        }
      }
    }
  }

  void read_cable(Cursor& c) {
    const std::string_view line = c.rest();
    End a = end(c), b = end(c);
    LinkRate rate = rate_;
    Duration delay = delay_;
    int copies = 1;
    read_cable_words(c, rate, delay, &copies);
    builder_.connect(a, b, rate, delay);
    for (int i = 1; i < copies; i++) {
      for (End* e : {&a, &b}) {
        e->port = e->host ? 0 : builder_.next_free_port(e->index);
        if (e->port == 0)
          lines_.refuse(fmt::format("{} free ports at both ends", copies), fmt::format("`{}`", line));
      }
      builder_.connect(a, b, rate, delay);
    }
  }

  Lines lines_;
  FabricBuilder builder_;
  std::unordered_map<std::string, End> ends_;
  LinkRate rate_{};
  Duration delay_ = usual_delay;
};

std::string quoted(const std::string& name) {
  const bool plain = !name.empty() && name.find_first_of(" \t#:\"") == std::string::npos;
  return plain ? name : "\"" + name + "\"";
}

}  // namespace

Fabric read_text_form(Lines lines) { return Reader(std::move(lines)).read(); }

std::string write_text_form(const Fabric& f) {
  std::string text = "fabric 1\n";
  const auto add = [&text](const std::string& line) { text += line; };
  for (Node n = 0; n < f.nodes(); n++) {
    if (f.is_switch(n))
      add(fmt::format("switch {} {} guid={:#x} lid={}\n", quoted(f.name(n)), f.ports(n), f.guid(n),
                      f.lid(n)));
    else
      add(fmt::format("host {} guid={:#x} port-guid={:#x} lid={}\n", quoted(f.name(n)), f.guid(n),
                      f.port_guid(n), f.lid(n)));
  }
  const auto end = [&f](Port p) {
    const Node n = f.node_of(p);
    return f.is_switch(n) ? fmt::format("{}:{}", quoted(f.name(n)), f.number(p)) : quoted(f.name(n));
  };
  for (const Cable& c : f.cables())
    add(fmt::format("cable {} {} {} {}ps\n", end(c.a), end(c.b), to_string(c.rate), c.delay.count()));
  return text;
}

Fabric load_fabric(const std::string& text) {
  if (is_spec(text) && !std::filesystem::exists(text)) return generate(text);
  if (text.find(':') != std::string::npos && !std::filesystem::exists(text))
    return generate(text);  // to be refused
  Lines lines = Lines::of_file(text);
  while (lines.next()) {
    if (lines.text().empty() || lines.text()[0] == '#') continue;
    const bool own = Cursor(lines).word() == "fabric";
    lines.restart();
    return own ? read_text_form(std::move(lines)) : read_ibnetdiscover(std::move(lines));
  }
  throw Error({.file = text, .expected = "a fabric", .found = "an empty file"});
}

}  // namespace simreplay::infiniband
