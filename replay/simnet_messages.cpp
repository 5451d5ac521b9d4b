// Messages in, arrivals out.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "common/error.hpp"
#include "replay/simnet_runs.hpp"

namespace simreplay {
namespace {

using infiniband::Arrival;
using infiniband::Injection;
using Json = nlohmann::json;

constexpr std::string_view line_form = "TIME SOURCE DESTINATION BYTES [ID]";

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::int64_t whole_number(const Json& message, const char* key) {
  if (!message.at(key).is_number_integer())
    throw std::invalid_argument(
        fmt::format("expected {} as a whole number, found {}", key, message.at(key).dump()));
  return message.at(key).get<std::int64_t>();
}

std::int64_t id_of(std::string_view text) {
  try {
    return parse_count(text);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(fmt::format("expected an id (a whole number), found `{}`", text));
  }
}

}  // namespace

MessageReader::MessageReader(const infiniband::Fabric& fabric) : fabric_(fabric) {
  for (std::int32_t i = 0; i < fabric.hosts(); i++) hosts_.emplace(fabric.name(fabric.host(i)), i);
}

std::int32_t MessageReader::host(std::string_view name) const {
  if (const auto found = hosts_.find(name); found != hosts_.end()) return found->second;
  std::int64_t number = -1;
  try {
    number = parse_count(name);
  } catch (const std::invalid_argument&) {
  }
  if (number < 0 || number >= fabric_.hosts())
    throw std::invalid_argument(fmt::format("expected a host ({}, ..., or a number from 0 to {}), found `{}`",
                                            fabric_.name(fabric_.host(0)), fabric_.hosts() - 1, name));
  return static_cast<std::int32_t>(number);
}

Injection MessageReader::read(const Json& message, std::int64_t default_id) const {
  static const std::set<std::string> known{"time_ps", "time", "source",       "destination",
                                           "bytes",   "id",   "service_level"};
  for (const auto& [key, value] : message.items())
    if (known.count(key) == 0)
      throw std::invalid_argument(fmt::format("expected one of {}, found {}", fmt::join(known, ", "), key));
  for (const char* key : {"source", "destination", "bytes"})
    if (!message.contains(key)) throw std::invalid_argument(fmt::format("expected {}, found none", key));
  Injection i{.id = default_id};
  if (message.contains("time_ps")) {
    i.time = TimePoint{Duration{whole_number(message, "time_ps")}};
  } else if (message.contains("time")) {
    i.time = TimePoint{parse_duration(text_of(message["time"]))};
  }
  i.source = host(text_of(message["source"]));
  i.destination = host(text_of(message["destination"]));
  i.bytes = message["bytes"].is_string() ? parse_bytes(message["bytes"].get<std::string>())
                                         : whole_number(message, "bytes");
  if (message.contains("id")) i.id = whole_number(message, "id");
  if (message.contains("service_level"))
    i.level = static_cast<std::int32_t>(whole_number(message, "service_level"));
  return i;
}

Injection MessageReader::read(std::string_view line, std::int64_t default_id) const {
  if (line.find_first_not_of(" \t") != std::string_view::npos && line[line.find_first_not_of(" \t")] == '{') {
    try {
      return read(Json::parse(line), default_id);
    } catch (const Json::exception& e) {
      throw std::invalid_argument(fmt::format("expected a JSON object, found `{}`", line));
    }
  }
  std::istringstream words{std::string(line)};
  std::vector<std::string> w;
  for (std::string word; words >> word;) w.push_back(word);
  if (w.size() < 4 || w.size() > 5)
    throw std::invalid_argument(fmt::format("expected {}, found `{}`", line_form, line));
  Injection i{.time = TimePoint{parse_duration(w[0])}, .id = w.size() == 5 ? id_of(w[4]) : default_id};
  i.source = host(w[1]);
  i.destination = host(w[2]);
  i.bytes = parse_bytes(w[3]);
  return i;
}

std::vector<Injection> MessageReader::read_file(const std::string& path) const {
  std::ifstream file(path);
  if (!file) throw Error({.file = path, .expected = "a file", .found = "none that can be read"});
  std::vector<Injection> list;
  std::set<std::int64_t> ids;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') continue;
    try {
      list.push_back(read(std::string_view(line), std::ssize(list)));
    } catch (const std::exception& e) {
      throw Error({.file = path, .line = number, .problem = e.what()});
    }
    if (!ids.insert(list.back().id).second)
      throw Error(
          {.file = path, .line = number, .problem = fmt::format("id {} is given twice", list.back().id)});
  }
  if (list.empty()) throw Error({.file = path, .expected = "messages", .found = "none"});
  return list;
}

nlohmann::ordered_json arrival_json(const Arrival& a, const infiniband::Fabric& fabric,
                                    const infiniband::PacketNetwork& model) {
  const infiniband::PacketNetwork::Unloaded idle = model.unloaded(a.source, a.destination, a.bytes);
  const Duration serialisation = idle.total - idle.cables - idle.switching;
  return {{"id", a.id},
          {"source", fabric.name(fabric.host(a.source))},
          {"destination", fabric.name(fabric.host(a.destination))},
          {"bytes", a.bytes},
          {"sent_ps", a.injected.time_since_epoch().count()},
          {"arrival_ps", a.time.time_since_epoch().count()},
          {"latency_ps", a.latency().count()},
          {"parts",
           {{"software_ps", a.software.count()},
            {"adapter_wait_ps", a.adapter_wait.count()},
            {"cables_ps", idle.cables.count()},
            {"switches_ps", idle.switching.count()},
            {"serialisation_ps", serialisation.count()},
            {"contention_ps", (a.latency() - a.software - a.adapter_wait - idle.total).count()}}}};
}

std::vector<Arrival> gather_arrivals(std::vector<Arrival> mine, MPI_Comm comm) {
  const int ranks = size_of(comm);
  int bytes = static_cast<int>(mine.size() * sizeof(Arrival));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), starts(static_cast<std::size_t>(ranks), 0);
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::vector<Arrival> all;
  if (rank_in(comm) == 0) {
    for (std::size_t r = 1; r < counts.size(); r++) starts[r] = starts[r - 1] + counts[r - 1];
    all.resize(static_cast<std::size_t>(starts.back() + counts.back()) / sizeof(Arrival));
  }
  MPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE, 0, comm);
  std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) {
    return a.time != b.time ? a.time < b.time : a.id < b.id;
  });
  return all;
}

}  // namespace simreplay
