#pragma once
// Questions to the metrics: KIND:LEVEL:OBJECT:METRIC, as task:processor:3:load or channel:system:*:*. Object
// and metric may be *, and may be left out from the end on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/performance/catalog.hpp"
#include "common/performance/figures.hpp"

namespace simreplay::performance {

struct Query {
  Kind kind = Kind::processor;
  Level level = Level::system;
  std::optional<std::int64_t> object;  // none: all
  std::optional<std::int32_t> to;      // of channels: object is the source, this the destination
  const MetricInfo* metric = nullptr;  // null: all
};

/// Throws std::invalid_argument, which names the valid ones.
Query parse_query(std::string_view text);
std::string to_text(const Query& query);

struct Value {
  std::string object;  // its name
  const MetricInfo* metric;
  bool is_whole;       // then `whole` is exact
  std::int64_t whole;  // saturated
  double value;
  double mean;  // per member of the finest level; of ratios and largest ones the value itself
};

/// Throws std::invalid_argument for an object that is not there, with those that are.
std::vector<Value> answer(const Figures& figures, const Query& query);

/// All metrics, with their kinds, units and levels.
std::string describe_metrics();

/// One line a value, for people.
std::string to_text(const std::vector<Value>& values);
/// A JSON array.
std::string to_json(const std::vector<Value>& values);

}  // namespace simreplay::performance
