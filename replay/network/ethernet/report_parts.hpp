#pragma once
// What the reports of the models of Ethernet have in common.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/network/ethernet/figures.hpp"

namespace simreplay::ethernet {

nlohmann::ordered_json json_of(const Times& times);
/// The object of a report: the model and what arrived.
nlohmann::ordered_json header(std::string_view model, const Arrived& arrived);
std::string line_of(std::string_view name, const Arrived& arrived);
std::string line_of_queues(const Times& messages);

/// Those that were busy the longest and at all, the busiest first, at most `most`; ties as given.
template <class Figures>
std::vector<const Figures*> busiest(std::span<const Figures> all, std::size_t most = 5) {
  std::vector<const Figures*> sorted;
  for (const Figures& f : all)
    if (f.busy > Duration{0}) sorted.push_back(&f);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Figures* a, const Figures* b) { return a->busy > b->busy; });
  sorted.resize(std::min(sorted.size(), most));
  return sorted;
}

}  // namespace simreplay::ethernet
