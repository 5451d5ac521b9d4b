#include "replay/engine/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "common/error.hpp"

namespace simreplay::engine {
namespace {

/// Calls `line(number, words)` for each line that is not blank; `#` starts a comment.
template <class Line>
void read_lines(const std::string& file, Line&& line) {
  std::ifstream in(file);
  if (!in) throw Error({.file = file, .expected = "a file that can be read", .found = "none"});
  std::string text;
  for (std::int64_t number = 1; std::getline(in, text); number++) {
    std::istringstream words(text.substr(0, text.find('#')));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (!list.empty()) line(number, list);
  }
}

constexpr const char* forms = "`process N SPEEDUP`, `node N SPEEDUP` or `region NAME SPEEDUP`";

std::optional<std::int32_t> find_region(const std::string& name, std::span<const trace::Metric> metrics) {
  const auto it = std::ranges::find(metrics, trace::Metric{trace::MetricKind::region, name});
  if (it == metrics.end()) return std::nullopt;
  return static_cast<std::int32_t>(it - metrics.begin());
}

std::string expected_regions(std::span<const trace::Metric> metrics) {
  std::vector<std::string> names;
  for (const trace::Metric& m : metrics)
    if (m.kind == trace::MetricKind::region) names.push_back(m.name);
  return names.empty() ? "no region, for the trace has none"
                       : fmt::format("a region of the trace ({})", fmt::join(names, ", "));
}

}  // namespace

Placement::Placement(const Machine& machine, std::int32_t processes, std::span<const trace::Metric> metrics)
    : speedup_(machine.cpu_speedup) {
  per_node_ = static_cast<std::int32_t>(std::min<std::int64_t>(machine.processes_per_node, processes));
  nodes_ = (processes + per_node_ - 1) / per_node_;
  if (machine.placement == "block") {
    scheme_ = Scheme::block;
  } else if (machine.placement == "cyclic") {
    scheme_ = Scheme::cyclic;
  } else if (machine.placement != "one-per-node") {
    scheme_ = Scheme::listed;
    read_nodes(machine.placement, processes);
  }
  if (!machine.speedups.empty()) read_speedups(machine.speedups, processes, metrics);
  for (const auto& [process, factor] : machine.faster) of_process_[process] = speedup(process) * factor;
}

std::int32_t Placement::node(std::int32_t process) const {
  switch (scheme_) {
    case Scheme::one_per_node:
      return process;
    case Scheme::block:
      return process / per_node_;
    case Scheme::cyclic:
      return process % nodes_;
    case Scheme::listed:
      return listed_[static_cast<std::size_t>(process)];
  }
  return process;
}

std::int32_t Placement::nodes(std::int32_t processes) const {
  std::int32_t most = -1;
  for (std::int32_t p = 0; p < processes; p++) most = std::max(most, node(p));
  return most + 1;
}

const Ratio& Placement::speedup(std::int32_t process) const {
  if (const auto it = of_process_.find(process); it != of_process_.end()) return it->second;
  if (of_node_.empty()) return speedup_;
  const auto it = of_node_.find(node(process));
  return it == of_node_.end() ? speedup_ : it->second;
}

void Placement::read_nodes(const std::string& file, std::int32_t processes) {
  read_lines(file, [&](std::int64_t line, const std::vector<std::string>& words) {
    for (const std::string& word : words) try {
        listed_.push_back(static_cast<std::int32_t>(parse_count(word)));
      } catch (const std::invalid_argument& e) {
        throw Error(
            {.file = file, .line = line, .expected = "a node number per process", .found = "'" + word + "'"});
      }
  });
  if (listed_.size() != static_cast<std::size_t>(processes))
    throw Error({.file = file,
                 .expected = fmt::format("a node number for each of {} processes", processes),
                 .found = fmt::format("{} numbers", listed_.size())});
}

const Ratio* Placement::speedup_of_region(std::int32_t region) const {
  const auto it = of_region_.find(region);
  return it == of_region_.end() ? nullptr : &it->second;
}

void Placement::read_speedups(const std::string& file, std::int32_t processes,
                              std::span<const trace::Metric> metrics) {
  read_lines(file, [&](std::int64_t line, const std::vector<std::string>& words) {
    const auto refuse = [&](const std::string& expected, const std::string& found) {
      throw Error({.file = file, .line = line, .expected = expected, .found = found});
    };
    const bool is_region = words[0] == "region";
    if (words.size() < 3 || (words.size() > 3 && !is_region) ||
        (words[0] != "process" && words[0] != "node" && !is_region))
      refuse(forms, fmt::format("'{}'", fmt::join(words, " ")));
    try {
      const Ratio speedup = parse_ratio(words.back());
      if (is_region) {
        const std::string name = fmt::format("{}", fmt::join(words.begin() + 1, words.end() - 1, " "));
        const auto region = find_region(name, metrics);
        if (!region) refuse(expected_regions(metrics), fmt::format("'{}'", name));
        of_region_[*region] = speedup;
        return;
      }
      const std::int64_t number = parse_count(words[1]);
      if (words[0] == "process" && number >= processes)
        refuse(forms, fmt::format("process {} of {}", number, processes));
      (words[0] == "process" ? of_process_ : of_node_)[static_cast<std::int32_t>(number)] = speedup;
    } catch (const std::invalid_argument& e) {
      throw Error({.file = file, .line = line, .problem = e.what()});
    }
  });
  check_products(file);
}

/// Speeds are exact, so those of regions and processors must fit together.
void Placement::check_products(const std::string& file) const {
  std::vector<Ratio> speedups{speedup_};
  for (const auto* list : {&of_process_, &of_node_})
    for (const auto& [number, speedup] : *list) speedups.push_back(speedup);
  for (const auto& [region, factor] : of_region_)
    for (const Ratio& speedup : speedups) try {
        static_cast<void>(speedup * factor);
      } catch (const std::overflow_error& e) {
        throw Error(
            {.file = file,
             .expected = "speeds with fewer digits",
             .found = fmt::format("{} of a region on a processor of {}", factor.value(), speedup.value())});
      }
}

}  // namespace simreplay::engine
