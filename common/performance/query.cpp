#include "common/performance/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace simreplay::performance {
namespace {

__extension__ using Wide = __int128;  // sums over many tasks leave 64 bits

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}

template <class T>
T number_of(std::string_view text, std::string_view what) {
  T n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0)
    throw std::invalid_argument(fmt::format("expected {}, found '{}'", what, text));
  return n;
}

Kind kind_of(std::string_view text) {
  for (const Kind k : {Kind::channel, Kind::task, Kind::processor})
    if (name_of(k) == text) return k;
  throw std::invalid_argument(fmt::format("expected channel, task or processor, found '{}'", text));
}

Level level_of(Kind kind, std::string_view text) {
  std::vector<std::string_view> valid;
  for (const Level l : levels_of(kind)) {
    if (name_of(l) == text) return l;
    valid.push_back(name_of(l));
  }
  throw std::invalid_argument(
      fmt::format("expected a level of {}s ({}), found '{}'", name_of(kind), fmt::join(valid, ", "), text));
}

const MetricInfo* metric_of(Kind kind, std::string_view text) {
  if (const MetricInfo* m = find_metric(kind, text)) return m;
  std::vector<std::string_view> valid;
  for (const MetricInfo& m : metrics())
    if (m.is_of(kind)) valid.push_back(m.name);
  throw std::invalid_argument(
      fmt::format("expected a metric of {}s ({}), found '{}'", name_of(kind), fmt::join(valid, ", "), text));
}

/// Resources of a level, made of those of the finest.
struct Group {
  std::string name;
  std::array<Wide, cells> sum{};
  std::int64_t members = 0;

  void add(const Cells& c, Cell first, Cell end) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); i++) {
      const Wide v = c.value[i];
      sum[i] = is_largest(static_cast<Cell>(i)) ? std::max(sum[i], v) : sum[i] + v;
    }
  }
  Wide operator[](Cell c) const { return sum[static_cast<std::size_t>(c)]; }
};
constexpr Cell first_cell{}, end_of_cells{static_cast<Cell>(cells)};

class Groups {
 public:
  Groups(const Figures& figures, const Query& query) : figures_(figures), query_(query) {
    if (query.kind == Kind::channel)
      add_channels();
    else
      add_tasks();
  }
  const std::map<std::int64_t, Group>& all() const { return groups_; }

 private:
  std::int64_t place_of(std::int32_t processor) const {
    switch (query_.level) {
      case Level::node:
        return figures_.nodes[static_cast<std::size_t>(processor)];
      case Level::system:
        return 0;
      default:
        return processor;
    }
  }
  bool wants(std::int64_t object) const { return !query_.object || *query_.object == object; }
  Group* group(std::int64_t object) {
    if (!wants(object)) return nullptr;
    Group& g = groups_[object];
    if (g.name.empty())
      g.name = query_.level == Level::system ? "system" : fmt::format("{} {}", name_of(query_.level), object);
    return &g;
  }

  void add_tasks() {
    for (std::size_t t = 0; t < figures_.tasks.size(); t++)
      if (Group* g = group(place_of(static_cast<std::int32_t>(t)))) {
        g->add(figures_.tasks[t], first_cell, end_of_cells);
        g->members++;
      }
  }
  /// At a processor counts what it sends and what it receives.
  void add_channels() {
    for (std::size_t i = 0; i < figures_.channels.size(); i++) {
      const Channel& c = figures_.channels[i];
      const Cells& of = figures_.channel_cells[i];
      if (query_.level == Level::channel) {
        if (query_.to ? query_.object == c.source && query_.to == c.destination
                      : wants(static_cast<std::int64_t>(i))) {
          Group& g = groups_[static_cast<std::int64_t>(i)];
          g.name = to_text(c);
          g.add(of, first_cell, end_of_cells);
          g.members = 1;
        }
        continue;
      }
      if (Group* from = group(place_of(c.source))) {
        from->add(of, first_of_sender, first_of_receiver);
        from->members++;
      }
      if (Group* to = group(place_of(c.destination))) {
        to->add(of, first_of_receiver, end_of_cells);
        if (place_of(c.source) != place_of(c.destination)) to->members++;
      }
    }
  }

  const Figures& figures_;
  const Query& query_;
  std::map<std::int64_t, Group> groups_;
};

std::int64_t saturated(Wide w) {
  return static_cast<std::int64_t>(std::min<Wide>(w, std::numeric_limits<std::int64_t>::max()));
}

Value value_of(const Group& g, const MetricInfo& m) {
  Value v{.object = g.name, .metric = &m, .is_whole = !m.is_ratio(), .whole = 0, .value = 0, .mean = 0};
  if (m.is_ratio()) {
    v.value = g[m.per] == 0 ? 0 : static_cast<double>(g[m.cell]) / static_cast<double>(g[m.per]);
    v.mean = v.value;
    return v;
  }
  v.whole = saturated(g[m.cell]);
  v.value = static_cast<double>(g[m.cell]);
  v.mean = is_largest(m.cell) || g.members == 0 ? v.value : v.value / static_cast<double>(g.members);
  return v;
}

std::string shown(double value, const MetricInfo& m) {
  switch (m.unit) {
    case Unit::picoseconds:
      return value < 9e18 ? format_duration(Duration{static_cast<std::int64_t>(value)})
                          : fmt::format("{:.4g} s", value * 1e-12);
    case Unit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::bytes:
      return fmt::format("{:.15g} B", value);
    default:
      return fmt::format("{:.6g}", value);
  }
}

}  // namespace

std::string to_text(const Channel& c) {
  std::string text = fmt::format("{}>{}", c.source, c.destination);
  text += c.tag < 0 ? " collective" : fmt::format(" tag {}", c.tag);
  if (c.communicator != 0) text += fmt::format(" communicator {}", c.communicator);
  return text;
}

Query parse_query(std::string_view text) {
  const std::vector<std::string_view> parts = parts_of(text);
  if (parts.size() > 4)
    throw std::invalid_argument(fmt::format("expected KIND:LEVEL:OBJECT:METRIC, found '{}'", text));
  Query q;
  q.kind = kind_of(parts[0]);
  q.level = levels_of(q.kind).front();
  if (parts.size() > 1) q.level = level_of(q.kind, parts[1]);
  if (parts.size() > 2 && parts[2] != "*") {
    const std::size_t arrow = q.level == Level::channel ? parts[2].find('>') : std::string_view::npos;
    const std::string_view what = q.level == Level::channel ? "a channel's number or SOURCE>DESTINATION, or *"
                                                            : "the number of an object, or *";
    q.object = number_of<std::int64_t>(parts[2].substr(0, arrow), what);
    if (arrow != std::string_view::npos) q.to = number_of<std::int32_t>(parts[2].substr(arrow + 1), what);
  }
  if (parts.size() > 3 && parts[3] != "*") q.metric = metric_of(q.kind, parts[3]);
  return q;
}

std::string to_text(const Query& q) {
  std::string object = q.object ? fmt::format("{}", *q.object) : "*";
  if (q.to) object += fmt::format(">{}", *q.to);
  return fmt::format("{}:{}:{}:{}", name_of(q.kind), name_of(q.level), object,
                     q.metric ? q.metric->name : "*");
}

std::vector<Value> answer(const Figures& figures, const Query& query) {
  const Groups groups(figures, query);
  if (groups.all().empty() && query.object) {
    Query all = query;
    all.object.reset();
    all.to.reset();
    const std::size_t n = Groups(figures, all).all().size();
    throw std::invalid_argument(
        n == 0 ? fmt::format("{}: there are no {}s", to_text(query), name_of(query.level))
               : fmt::format("{}: expected a {} that is there (0 to {}{}), found '{}{}'", to_text(query),
                             name_of(query.level), n - 1,
                             query.level == Level::channel ? ", or SOURCE>DESTINATION" : "", *query.object,
                             query.to ? fmt::format(">{}", *query.to) : ""));
  }
  std::vector<Value> values;
  for (const auto& [number, group] : groups.all())
    for (const MetricInfo& m : metrics())
      if (query.metric ? query.metric == &m : m.is_of(query.kind)) values.push_back(value_of(group, m));
  return values;
}

std::string describe_metrics() {
  std::string text =
      "Queries are KIND:LEVEL:OBJECT:METRIC; * is any object or metric, as what is left out.\n\n";
  for (const Kind k : {Kind::channel, Kind::task, Kind::processor}) {
    std::vector<std::string_view> names;
    for (const Level l : levels_of(k)) names.push_back(name_of(l));
    text += fmt::format("{:<10} at levels {}\n", name_of(k), fmt::join(names, ", "));
  }
  text += fmt::format("\n{:<20} {:<5} {:<24} {}\n", "metric", "unit", "of", "what");
  for (const MetricInfo& m : metrics()) {
    std::vector<std::string_view> of;
    for (const Kind k : {Kind::channel, Kind::task, Kind::processor})
      if (m.is_of(k)) of.push_back(name_of(k));
    text += fmt::format("{:<20} {:<5} {:<24} {}\n", m.name, name_of(m.unit), fmt::join(of, ", "), m.help);
  }
  return text;
}

std::string to_text(const std::vector<Value>& values) {
  std::size_t object = 6, metric = 6;
  for (const Value& v : values) {
    object = std::max(object, v.object.size());
    metric = std::max(metric, v.metric->name.size());
  }
  std::string text =
      fmt::format("{:<{}}  {:<{}}  {:>16}  {:>16}\n", "object", object, "metric", metric, "value", "mean");
  for (const Value& v : values)
    text += fmt::format("{:<{}}  {:<{}}  {:>16}  {:>16}\n", v.object, object, v.metric->name, metric,
                        shown(v.value, *v.metric), shown(v.mean, *v.metric));
  return text;
}

std::string to_json(const std::vector<Value>& values) {
  auto array = nlohmann::ordered_json::array();
  for (const Value& v : values) {
    nlohmann::ordered_json row{{"object", v.object}, {"metric", v.metric->name}};
    row["value"] = v.is_whole && v.whole != std::numeric_limits<std::int64_t>::max()
                       ? nlohmann::ordered_json(v.whole)
                       : nlohmann::ordered_json(v.value);
    row["mean"] = v.mean;
    row["unit"] = name_of(v.metric->unit);
    array.push_back(std::move(row));
  }
  return array.dump();
}

}  // namespace simreplay::performance
