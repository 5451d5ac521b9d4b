#include "capture/pack/spool_search.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include "capture/pack/spool_reader.hpp"
#include "common/error.hpp"

namespace simreplay::pack {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> spool_files(const std::string& folder) {
  std::error_code failure;
  fs::directory_iterator entries(folder, failure);
  if (failure == std::errc::no_such_file_or_directory) return {};
  if (failure) throw Error({.file = folder, .problem = "cannot be read: " + failure.message()});
  std::vector<std::string> paths;
  for (const auto& entry : entries)
    if (entry.path().extension() == spool::extension) paths.push_back(entry.path().string());
  std::ranges::sort(paths);  // by process
  return paths;
}

std::uint64_t fingerprint(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) names += fs::path(path).filename().string() + '\n';
  return std::hash<std::string>{}(names);
}

std::vector<int> views_of(const Team& team, const std::vector<std::string>& paths) {
  std::vector<std::uint64_t> prints = team.gather(std::vector<std::uint64_t>{fingerprint(paths)});
  team.broadcast(prints);
  std::vector<int> views;
  views.reserve(prints.size());
  for (const std::uint64_t print : prints)
    views.push_back(static_cast<int>(std::ranges::find(prints, print) - prints.begin()));
  return views;
}

FoundSpool read_header(const std::string& path) {
  const SpoolReader spool(path);
  const spool::Header& h = spool.header();
  FoundSpool found;
  found.process = h.rank;
  found.processes = h.size;
  found.pid = h.pid;
  found.started_ns = h.started_ns;
  found.loaded_ns = h.loaded_ns;
  found.clock = h.clock;
  found.chosen = h.chosen;
  found.bytes = fs::file_size(path);
  std::memcpy(found.run, h.run, sizeof h.run);
  std::memcpy(found.world, h.world, sizeof h.world);
  return found;
}

struct Headers {
  std::vector<FoundSpool> spools;
  std::vector<char> remarks;  // lines
};

/// Every `ranks`-th file, from number `first`.
Headers read_headers(const std::vector<std::string>& paths, std::size_t first, std::size_t ranks, int view) {
  Headers headers;
  for (std::size_t i = first; i < paths.size(); i += ranks) {
    try {
      FoundSpool& found = headers.spools.emplace_back(read_header(paths[i]));
      found.view = view;
      found.file = static_cast<std::int32_t>(i);
    } catch (const std::exception& error) {
      const std::string line = std::string(error.what()) + "; left out\n";
      headers.remarks.insert(headers.remarks.end(), line.begin(), line.end());
    }
  }
  return headers;
}

}  // namespace

SpoolSearch search(const Team& team, const std::string& folder, std::vector<std::string>& remarks) {
  SpoolSearch result;
  team.together([&] { result.paths = spool_files(folder); });
  result.views = views_of(team, result.paths);

  const auto begin = result.views.begin(), self = begin + team.rank();
  const auto ranks = std::count(begin, result.views.end(), *self), before = std::count(begin, self, *self);
  Headers headers =
      read_headers(result.paths, static_cast<std::size_t>(before), static_cast<std::size_t>(ranks), *self);
  result.spools = team.gather(std::move(headers.spools));
  const std::vector<char> lines = team.gather(std::move(headers.remarks));
  for (auto line = lines.begin(); line != lines.end();) {
    const auto end = std::find(line, lines.end(), '\n');
    remarks.emplace_back(line, end);
    line = end + 1;
  }
  return result;
}

}  // namespace simreplay::pack
