#include "capture/pack/metrics.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

namespace simreplay::pack {
namespace {

using trace::Metric;
using Key = std::pair<trace::MetricKind, std::string>;

/// A metric where a rank met it first: in its lowest process that has it.
struct First {
  std::int32_t process = 0, index = 0;
  trace::MetricKind kind = trace::MetricKind::region;
  std::uint32_t characters = 0;
};

/// As ranks tell them to each other: each entry is a First and the characters of its name.
class Message {
 public:
  void add(First first, const std::string& name) {
    first.characters = static_cast<std::uint32_t>(name.size());
    const auto* bytes = reinterpret_cast<const char*>(&first);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof first);
    bytes_.insert(bytes_.end(), name.begin(), name.end());
  }
  explicit Message(std::vector<char> bytes = {}) : bytes_(std::move(bytes)) {}
  std::vector<char>& bytes() { return bytes_; }

  std::vector<std::pair<First, std::string>> entries() const {
    std::vector<std::pair<First, std::string>> all;
    for (std::size_t at = 0; at < bytes_.size();) {
      auto& [first, name] = all.emplace_back();
      std::memcpy(&first, bytes_.data() + at, sizeof first);
      at += sizeof first;
      name.assign(bytes_.data() + at, first.characters);
      at += first.characters;
    }
    return all;
  }

 private:
  std::vector<char> bytes_;
};

Message own_metrics(const std::map<std::int32_t, Survey>& own) {
  std::map<Key, bool> known;
  Message message;
  for (const auto& [process, survey] : own)
    for (std::size_t i = 0; i < survey.metrics.size(); i++)
      if (const Metric& m = survey.metrics[i].metric; known.emplace(Key{m.kind, m.name}, true).second)
        message.add({process, static_cast<std::int32_t>(i), m.kind}, m.name);
  return message;
}

/// Each once, in the order in which one look at all processes would meet them.
Message without_repetition(const Message& of_all) {
  auto entries = of_all.entries();
  std::ranges::sort(entries, {}, [](const auto& e) { return std::tuple(e.first.process, e.first.index); });
  std::map<Key, bool> known;
  Message message;
  for (const auto& [first, name] : entries)
    if (known.emplace(Key{first.kind, name}, true).second) message.add(first, name);
  return message;
}

}  // namespace

std::vector<Metric> number_metrics(const Team& team, std::map<std::int32_t, Survey>& own) {
  Message shared(team.gather(std::move(own_metrics(own).bytes())));
  if (team.is_first()) shared = without_repetition(shared);
  team.broadcast(shared.bytes());

  std::vector<Metric> metrics;
  std::map<Key, std::int32_t> numbers;
  for (const auto& [first, name] : shared.entries()) {
    numbers[{first.kind, name}] = static_cast<std::int32_t>(metrics.size());
    metrics.push_back({first.kind, name});
  }
  for (auto& [process, survey] : own)
    for (LocalMetric& m : survey.metrics) m.number = numbers.at({m.metric.kind, m.metric.name});
  return metrics;
}

}  // namespace simreplay::pack
