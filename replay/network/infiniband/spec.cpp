#include "replay/network/infiniband/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "common/error.hpp"

namespace simreplay::infiniband {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Spec::Spec(std::string_view text) : text_(text) {
  const std::size_t colon = text.find(':');
  kind_ = text.substr(0, colon);
  if (colon == std::string_view::npos) return;
  bool first = true;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (!first || part.empty()) refuse("NAME=VALUE", "`" + part + "`");
      sizes_ = part;
    } else if (!values_.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
      refuse("every setting once", "`" + part.substr(0, equals) + "` again");
    }
    first = false;
  }
}

void Spec::refuse(std::string expected, std::string found) const {
  throw Error({.operation = text_, .expected = std::move(expected), .found = std::move(found)});
}

std::optional<std::string> Spec::take(const std::string& name) {
  known_.push_back(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  std::string value = found->second;
  values_.erase(found);
  return value;
}

int Spec::parse_int(const std::string& name, const std::string& text, int least) const {
  constexpr int most = 100'000;
  int value = -1;
  if (!text.empty() && text.size() <= 6 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    value = std::stoi(text);
  if (value < least || value > most)
    refuse(fmt::format("{} from {} to {}", name, least, most), "`" + text + "`");
  return value;
}

int Spec::count(const std::string& name, int least) {
  const auto value = take(name);
  if (!value) refuse(name + "=NUMBER", "none");
  return parse_int(name, *value, least);
}

int Spec::count_or(const std::string& name, int otherwise, int least) {
  const auto value = take(name);
  return value ? parse_int(name, *value, least) : otherwise;
}

std::vector<int> Spec::sizes(std::size_t least, std::size_t most) {
  std::vector<int> sizes;
  if (!sizes_.empty())
    for (const std::string& part : split(sizes_, 'x')) sizes.push_back(parse_int("a size", part, 1));
  if (sizes.size() < least || sizes.size() > most)
    refuse(least == most ? fmt::format("{} size(s) after the colon", least)
                         : fmt::format("{} to {} sizes after the colon, as in 4x4x4", least, most),
           sizes_.empty() ? "none" : "`" + sizes_ + "`");
  sizes_.clear();
  return sizes;
}

LinkRate Spec::rate_or(const std::string& name, LinkRate otherwise) {
  const auto value = take(name);
  if (!value) return otherwise;
  const auto rate = parse_link_rate(*value);
  if (!rate) refuse(name + " as in 4xEDR, 1xSDR, 4xNDR", "`" + *value + "`");
  return *rate;
}

Duration Spec::delay() {
  const auto value = take("cable");
  if (!value) return usual_delay;
  try {
    return parse_delay(*value);
  } catch (const std::invalid_argument&) {
    refuse("cable as a length or a time (2m, 12ns)", "`" + *value + "`");
  }
}

void Spec::finish() const {
  if (!sizes_.empty()) refuse("NAME=VALUE", "`" + sizes_ + "`");
  if (!values_.empty())
    refuse(fmt::format("settings of {}: {}", kind_, fmt::join(known_, ", ")),
           "`" + values_.begin()->first + "`");
}

}  // namespace simreplay::infiniband
