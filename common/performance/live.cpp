#include "common/performance/live.hpp"

#include <nlohmann/json.hpp>

#include "common/error.hpp"

namespace simreplay::performance {
namespace {

using Json = nlohmann::ordered_json;

/// Names and members, in the order in which lines have them: what is written is what is read.
void each_field(auto& processor, auto&& field) requires requires { processor.load; }
{
  field("processor", processor.processor);
  field("load", processor.load);
  field("communication", processor.communication);
  field("idle", processor.idle);
  field("queue_messages", processor.queue);
  field("calls", processor.calls);
  field("messages_sent", processor.messages_sent);
  field("messages_received", processor.messages_received);
  field("bytes_sent", processor.bytes_sent);
  field("bytes_received", processor.bytes_received);
  field("memory_bytes", processor.memory);
  field("to", processor.to);
  field("to_messages", processor.to_messages);
}

void each_field(auto& sample, auto&& field) requires requires { sample.processors; }
{
  field("number", sample.number);
  field("seconds", sample.seconds);
  field("progress", sample.progress);
  field("simulated_seconds", sample.simulated_seconds);
  field("remaining_seconds", sample.remaining_seconds);
  field("calls_per_second", sample.calls_per_second);
  field("period_seconds", sample.period_seconds);
  field("round_trip_seconds", sample.round_trip_seconds);
  field("requests_sent", sample.requests_sent);
  field("requests_returned", sample.requests_returned);
}

struct Put {
  Json& json;
  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value) const {
    if (value) json[name] = *value;
  }
};

struct Get {
  const Json& json;
  template <class T>
  void operator()(const char* name, T& value) const {
    json.at(name).get_to(value);
  }
  void operator()(const char* name, std::optional<double>& value) const {
    if (json.contains(name)) value = json.at(name).get<double>();
  }
};

}  // namespace

std::string to_json_line(const LiveSample& sample) {
  Json line;
  each_field(sample, Put{line});
  Json& processors = line["processors"] = Json::array();
  for (const LiveProcessor& p : sample.processors) {
    Json json;
    each_field(p, Put{json});
    processors.push_back(std::move(json));
  }
  return line.dump();
}

LiveSample parse_json_line(std::string_view text) {
  try {
    const Json line = Json::parse(text);
    LiveSample sample;
    each_field(sample, Get{line});
    for (const Json& json : line.at("processors")) {
      LiveProcessor& p = sample.processors.emplace_back();
      each_field(p, Get{json});
    }
    return sample;
  } catch (const Json::exception& error) {
    throw Error({.expected = "a sample of a run as a line of JSON",
                 .found = std::string(text.substr(0, 80)),
                 .remedy = error.what()});
  }
}

}  // namespace simreplay::performance
