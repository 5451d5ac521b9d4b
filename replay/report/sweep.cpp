#include "replay/report/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace simreplay::report {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// The first row holds the headings; all columns are set to the right.
std::string aligned(const Table& table) {
  std::vector<std::size_t> width(table[0].size(), 0);
  for (const auto& row : table)
    for (std::size_t c = 0; c < row.size(); c++) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : table) {
    for (std::size_t c = 0; c < row.size(); c++)
      text += fmt::format("{:>{}}", row[c], width[c] + (c > 0 ? 2 : 0));
    text += "\n";
  }
  return text;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

/// In quotes where it needs them (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::size_t Sweep::best() const {
  const auto it = std::ranges::min_element(rows, {}, [](const Summary& s) { return s.predicted_ps; });
  return static_cast<std::size_t>(it - rows.begin());
}

std::string to_text(const Sweep& s) {
  const Summary& any = s.rows.front();
  std::string text =
      fmt::format("trace       {}: {} processes, {} calls, {} messages\n", any.trace_file,
                  format_count(any.facts.processes), format_count(any.calls), format_count(any.messages));
  if (!any.facts.command.empty()) text += fmt::format("program     {}\n", any.facts.command);
  text += fmt::format("recorded    {}\n\n", format_duration(Duration{any.recorded_ps}));

  const auto best = static_cast<double>(s.rows[s.best()].predicted_ps);
  Table table{{""}};
  table[0].insert(table[0].end(), s.keys.begin(), s.keys.end());
  for (const char* heading :
       {"predicted", "of best", "speedup", "efficiency", "computation", "communication", "idle"})
    table[0].emplace_back(heading);
  for (std::size_t i = 0; i < s.rows.size(); i++) {
    const Summary& row = s.rows[i];
    const Total& total = row.total;
    std::vector<std::string> line{i == s.best() ? "*" : ""};
    line.insert(line.end(), s.values[i].begin(), s.values[i].end());
    line.push_back(format_duration(Duration{row.predicted_ps}));
    line.push_back(best > 0 ? fmt::format("{:.3f}", static_cast<double>(row.predicted_ps) / best) : "-");
    line.push_back(fmt::format("{:.3g}", row.speedup));
    line.push_back(fmt::format("{:.1f} %", 100 * row.efficiency));
    for (const double part : {total.computation_ps, total.communication_ps, total.idle_ps})
      line.push_back(percent(part, total.time_ps));
    table.push_back(std::move(line));
  }
  text += aligned(table) + "\n";
  for (const std::string& w : any.warnings) text += "warning: " + w + "\n";
  text += fmt::format("replayed {} machines in {} {} over the trace, {:.3f} s on {} {}\n", s.rows.size(),
                      s.passes, s.passes == 1 ? "pass" : "passes", s.replay_seconds, s.ranks,
                      s.ranks == 1 ? "rank" : "ranks");
  return text;
}

std::string to_csv(const Sweep& s) {
  std::string text;
  for (const std::string& key : s.keys) text += csv_field(key) + ",";
  text += "predicted_ps,speedup,efficiency,computation_ps,communication_ps,idle_ps,best\r\n";
  for (std::size_t i = 0; i < s.rows.size(); i++) {
    for (const std::string& value : s.values[i]) text += csv_field(value) + ",";
    const Total& total = s.rows[i].total;
    text += fmt::format("{},{},{},{:.0f},{:.0f},{:.0f},{}\r\n", s.rows[i].predicted_ps, s.rows[i].speedup,
                        s.rows[i].efficiency, total.computation_ps, total.communication_ps, total.idle_ps,
                        i == s.best() ? 1 : 0);
  }
  return text;
}

std::string to_json(const Sweep& s) {
  const Summary& any = s.rows.front();
  nlohmann::ordered_json j;
  j["trace"] = any.trace_file;
  j["program"] = any.facts.command;
  j["processes"] = any.facts.processes;
  j["calls"] = any.calls;
  j["messages"] = any.messages;
  j["recorded_ps"] = any.recorded_ps;
  j["swept"] = s.keys;
  j["best"] = s.best();
  j["passes"] = s.passes;
  j["ranks"] = s.ranks;
  j["replay_seconds"] = s.replay_seconds;
  auto& rows = j["rows"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < s.rows.size(); i++) {
    const Summary& row = s.rows[i];
    nlohmann::ordered_json values;
    for (std::size_t k = 0; k < s.keys.size(); k++) values[s.keys[k]] = s.values[i][k];
    rows.push_back({{"values", values},
                    {"predicted_ps", row.predicted_ps},
                    {"speedup", row.speedup},
                    {"efficiency", row.efficiency},
                    {"computation_ps", row.total.computation_ps},
                    {"communication_ps", row.total.communication_ps},
                    {"idle_ps", row.total.idle_ps}});
  }
  return j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace simreplay::report
