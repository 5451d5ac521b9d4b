#include "replay/sweep/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/error.hpp"

namespace simreplay::sweep {
namespace {

constexpr const char* forms = "KEY=V1,V2,... or KEY=FROM:TO:N[:log]";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

[[noreturn]] void refuse(const std::string& expected, const std::string& found) {
  throw Error({.operation = "sweep", .expected = expected, .found = "'" + found + "'"});
}

struct Quantity {
  double number;
  std::string unit;
};

std::optional<Quantity> quantity(const std::string& text) {
  Quantity q{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), q.number);
  if (fault != std::errc{} || !std::isfinite(q.number)) return std::nullopt;
  q.unit.assign(end, text.data() + text.size());
  return q;
}

std::optional<int> count(const std::string& text) {
  int n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

/// FROM and TO as given; what lies between in the unit of both, with six digits.
std::vector<std::string> range(const std::vector<std::string>& parts, const std::string& text) {
  const auto from = quantity(parts[0]), to = quantity(parts[1]);
  const auto n = count(parts[2]);
  const bool is_log = parts.size() == 4;
  if (!from || !to || from->unit != to->unit) refuse("FROM and TO as numbers of the same unit", text);
  if (!n || *n < 2 || *n > static_cast<int>(variants_at_most))
    refuse(fmt::format("2 to {} values", variants_at_most), text);
  if (is_log && (parts[3] != "log" || from->number <= 0 || to->number <= 0))
    refuse(parts[3] == "log" ? "numbers above 0 for log" : forms, text);
  std::vector<std::string> values{parts[0]};
  for (int i = 1; i + 1 < *n; i++) {
    const double share = static_cast<double>(i) / (*n - 1);
    const double value = is_log ? from->number * std::pow(to->number / from->number, share)
                                : from->number + (to->number - from->number) * share;
    values.push_back(fmt::format("{:.6g}{}", value, from->unit));
  }
  values.push_back(parts[1]);
  return values;
}

std::vector<std::string> values_of(const std::string& text) {
  const auto parts = split(text, ':');
  const bool is_range = (parts.size() == 3 || parts.size() == 4) && quantity(parts[0]) && count(parts[2]);
  std::vector<std::string> values = is_range ? range(parts, text) : split(text, ',');
  if (std::ranges::any_of(values, &std::string::empty)) refuse(forms, text);
  return values;
}

/// Each variant so far with each of the values.
template <class Apply>
void multiply(Variants& variants, const std::string& key, const std::vector<std::string>& values,
              Apply&& apply) {
  if (variants.all.size() * values.size() > variants_at_most)
    throw Error({.operation = "sweep",
                 .expected = fmt::format("at most {} machines", variants_at_most),
                 .found = fmt::format("{} times {}", variants.all.size(), values.size())});
  variants.keys.push_back(key);
  std::vector<Variant> all;
  for (const Variant& v : variants.all)
    for (const std::string& value : values) {
      Variant next = v;
      next.values.push_back(value);
      apply(next.machine, value);
      all.push_back(std::move(next));
    }
  variants.all = std::move(all);
}

}  // namespace

Variants make_variants(const Machine& base, std::span<const std::string> machines,
                       std::span<const std::string> sweeps) {
  Variants variants{{}, {{{}, base}}};
  if (!machines.empty()) {
    std::vector<std::string> names;
    for (const std::string& list : machines)
      for (const std::string& name : split(list, ',')) names.push_back(name);
    multiply(variants, "machine", names, [&](Machine& machine, const std::string& name) {
      machine = read_machine(name);
      for (const auto& [key, value] : base.settings) apply_setting(machine, key, value, "command line");
    });
  }
  for (const std::string& sweep : sweeps) {
    const auto equals = sweep.find('=');
    if (equals == std::string::npos || equals == 0) refuse(forms, sweep);
    const std::string key = sweep.substr(0, equals);
    if (std::ranges::find(variants.keys, key) != variants.keys.end())
      throw Error({.operation = "sweep", .problem = "sweeps " + key + " twice"});
    multiply(
        variants, key, values_of(sweep.substr(equals + 1)),
        [&](Machine& machine, const std::string& value) { apply_setting(machine, key, value, "--sweep"); });
  }
  return variants;
}

}  // namespace simreplay::sweep
