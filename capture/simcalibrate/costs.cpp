#include "capture/simcalibrate/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "capture/simcalibrate/line.hpp"

namespace simreplay::calibrate {
namespace {

using Model = Machine::Model;

/// Costs from a size on; names are those of docs/models/costs.md.
struct RangeCosts {
  std::int64_t from_bytes = 0;
  Line send;                  // A, B
  double send_epilog = 0;     // C
  double receive_prolog = 0;  // E
  Line receive;               // H, R
  Line network;               // L, per byte of the way
  Line gap;                   // g, G
};

std::vector<Point> column(const Way& way, const Range& range, Column of, Model model) {
  std::vector<Point> points;
  for (const std::size_t i : range.fitted) {
    const SizePoint& p = way.points[i];
    const std::int64_t counted = model == Model::loggops ? std::max<std::int64_t>(p.bytes - 1, 0) : p.bytes;
    points.push_back({static_cast<double>(counted), value(p, of)});
  }
  return points;
}

/// Half round trip = A + B n + L + per_byte n + R n + H; loggops: without B n, max(R, G) instead of R.
/// Where sending and receiving take more than the whole, the message leaves before the send ends: C.
RangeCosts fit_eager(const Way& way, const Range& range, Model model) {
  RangeCosts c;
  const auto points = [&](Column of) { return column(way, range, of, model); };
  const Line whole = fit_line(points(Column::half_round_trip));
  // In a ping-pong nothing but the way of the message is to be seen: prolog, send and gap end before the
  // answer comes.
  const Bounds part{whole.ns, whole.ns_per_byte}, round_trip{2 * whole.ns, 2 * whole.ns_per_byte};
  c.receive = fit_line(points(Column::receive), part);
  if (model == Model::base) {
    c.gap = fit_line(points(Column::gap), round_trip);
    c.send = fit_line(points(Column::send), {whole.ns, whole.ns_per_byte - c.receive.ns_per_byte});
    c.network.ns_per_byte = whole.ns_per_byte - c.send.ns_per_byte - c.receive.ns_per_byte;
  } else {
    c.gap = fit_line(points(Column::gap), {2 * whole.ns, whole.ns_per_byte});
    c.send = fit_line(points(Column::send), part);
    c.network.ns_per_byte = whole.ns_per_byte - std::max(c.receive.ns_per_byte, c.gap.ns_per_byte);
  }
  c.send_epilog = std::max(c.send.ns - (whole.ns - c.receive.ns), 0.0);
  c.send.ns -= c.send_epilog;
  c.network.ns = whole.ns - c.send.ns - c.receive.ns;
  return c;
}

/// Half round trip = 2 A + 3 L + 2 H + (B + per_byte + R) n; loggops: per_byte + max(R, G).
/// MPI_Send to a waiting receiver = 2 A + H + 2 L + (B + G) n; loggops: max(B, G).
RangeCosts fit_rendezvous(const Way& way, const Range& range, double latency_ns, Model model) {
  RangeCosts c;
  const auto points = [&](Column of) { return column(way, range, of, model); };
  const Line whole = fit_line(points(Column::half_round_trip));
  const Line release = fit_line(points(Column::release));
  c.gap =
      fit_line(points(Column::gap), {2 * whole.ns, (model == Model::loggops ? 1 : 2) * whole.ns_per_byte});
  c.send.ns = fit_line(points(Column::send), {whole.ns / 2, 0}).ns;
  // The latency is the one of small messages; what more there is belongs to answering and receiving, but a
  // stream must be able to keep its pace.
  const double rest = whole.ns - 2 * c.send.ns;
  const double pace = c.gap.at(points(Column::gap).front().bytes);  // the fastest of the range
  c.network.ns = std::min(latency_ns, rest / 3);
  c.receive.ns = std::min((rest - 3 * c.network.ns) / 2, pace);
  c.network.ns = (rest - 2 * c.receive.ns) / 3;
  if (model == Model::base) {
    c.send.ns_per_byte = std::clamp(release.ns_per_byte - c.gap.ns_per_byte, 0.0, whole.ns_per_byte);
    c.network.ns_per_byte = whole.ns_per_byte - c.send.ns_per_byte;
  } else {
    c.send.ns_per_byte = release.ns_per_byte;
    c.network.ns_per_byte = whole.ns_per_byte - c.gap.ns_per_byte;
  }
  return c;
}

std::string time_text(double ns) {
  const auto ps = static_cast<std::int64_t>(std::llround(std::max(ns, 0.0) * 1e3));
  return ps == 0          ? "0"
         : ps < 1'000'000 ? fmt::format("{}ns", static_cast<double>(ps) / 1e3)
                          : fmt::format("{:.7g}us", static_cast<double>(ps) / 1e6);
}

std::string per_byte_text(double ns_per_byte) {
  return ns_per_byte < 1e-6 ? "0" : fmt::format("{:.7g}ps/B", ns_per_byte * 1e3);
}

/// "0.3us, 4096: 1.2us": repeated values are said once.
template <class Text>
std::string by_size(const std::vector<RangeCosts>& ranges, Text&& text) {
  std::string all, last;
  for (const RangeCosts& r : ranges) {
    std::string value = text(r);
    if (value == last) continue;
    all += all.empty() ? value : fmt::format(", {}: {}", r.from_bytes, value);
    last = std::move(value);
  }
  return all;
}

double ns(Duration d) { return static_cast<double>(d.count()) / 1e3; }

Settings settings_of(const std::vector<RangeCosts>& all, const Way& way) {
  Settings s{
      {"send.prolog", by_size(all, [](const RangeCosts& r) { return time_text(r.send.ns); })},
      {"send.per-byte", by_size(all, [](const RangeCosts& r) { return per_byte_text(r.send.ns_per_byte); })},
      {"send.epilog", by_size(all, [](const RangeCosts& r) { return time_text(r.send_epilog); })},
      {"receive.prolog", by_size(all, [](const RangeCosts& r) { return time_text(r.receive_prolog); })},
      {"receive.epilog", by_size(all, [](const RangeCosts& r) { return time_text(r.receive.ns); })},
      {"receive.per-byte",
       by_size(all, [](const RangeCosts& r) { return per_byte_text(r.receive.ns_per_byte); })},
      {"network.latency", by_size(all, [](const RangeCosts& r) { return time_text(r.network.ns); })},
      {"network.per-byte",
       by_size(all, [](const RangeCosts& r) { return per_byte_text(r.network.ns_per_byte); })},
      {"network.gap", by_size(all, [](const RangeCosts& r) { return time_text(r.gap.ns); })},
      {"network.gap-per-byte",
       by_size(all, [](const RangeCosts& r) { return per_byte_text(r.gap.ns_per_byte); })},
  };
  std::erase_if(s, [](const auto& setting) { return setting.second == "0"; });
  if (way.eager_limit) s["network.eager-limit"] = std::to_string(*way.eager_limit);
  return s;
}

/// What posting a receive delays the send after it by: what an exchange takes more than these costs say, at
/// most as long as the answer of a ping-pong is away.
double lacking_in_exchange(const Way& way, const Range& range, const MessageCosts& costs, Model model) {
  double sum = 0, least = std::numeric_limits<double>::max();
  for (const std::size_t i : range.fitted) {
    const SizePoint& p = way.points[i];
    if (p.exchange.ns > 0) sum += p.exchange.ns - predict(costs, model, p.bytes).exchange_ns;
    least = std::min(least, p.half_round_trip.ns);
  }
  return std::clamp(sum / static_cast<double>(range.fitted.size()), 0.0, least);
}

/// Half duplex where that says clearly better what an exchange takes.
void choose_duplex(const Way& way, Model model, Settings& s) {
  const auto off = [&](const char* duplex) {
    s["network.duplex"] = duplex;
    return deviations(way, costs_of(s, model), model).exchange_mean;
  };
  const double full = off("full"), half = off("half");
  if (half >= 0.8 * full) s.erase("network.duplex");
}

/// Without what a receive takes to notice a message that came unawaited, as a single receive of the smallest
/// one shows it above the pace of a stream. Who waits already does not pay that; it is part of the latency.
Way without_noticing(Way way) {
  if (way.points.empty()) return way;
  const double noticing = std::max(way.points[0].receive.ns - way.points[0].gap.ns, 0.0);
  for (SizePoint& p : way.points) p.receive.ns = std::max(p.receive.ns - noticing, 0.0);
  return way;
}

}  // namespace

Settings fit_costs(const Way& measured, Model model) {
  const Way way = without_noticing(measured);
  const std::vector<Range> ranges = find_ranges(way);
  std::vector<RangeCosts> all;
  double latency_ns = 0;
  for (const Range& range : ranges) {
    const std::int64_t first = way.points[range.first].bytes;
    const bool rendezvous = way.is_rendezvous(first);
    RangeCosts c = rendezvous ? fit_rendezvous(way, range, latency_ns, model) : fit_eager(way, range, model);
    c.from_bytes = all.empty() ? 0 : first;
    if (all.empty()) latency_ns = c.network.ns;
    all.push_back(c);
  }
  Settings s = settings_of(all, way);
  choose_duplex(way, model, s);
  const std::string duplex = s.contains("network.duplex") ? s["network.duplex"] : "";
  const MessageCosts costs = costs_of(s, model);
  for (std::size_t i = 0; i < ranges.size(); i++)
    if (!way.is_rendezvous(way.points[ranges[i].first].bytes))
      all[i].receive_prolog += lacking_in_exchange(way, ranges[i], costs, model);
  s = settings_of(all, way);
  if (!duplex.empty()) s["network.duplex"] = duplex;
  return s;
}

MessageCosts costs_of(const Settings& settings, Model model) {
  Machine machine;
  machine.model = model;
  for (const auto& [key, value] : settings) apply_setting(machine, key, value, "simcalibrate");
  return machine.between;
}

Prediction predict(const MessageCosts& c, Model model, std::int64_t bytes) {
  const bool loggops = model == Model::loggops;
  const std::int64_t n = loggops ? std::max<std::int64_t>(bytes - 1, 0) : bytes;
  const auto of = [&](const BySize<Ratio>& cost) { return ns(Duration{cost.at(bytes).times(n)}); };
  const double a = ns(c.send_prolog.at(bytes)), b = of(c.send_per_byte), epilog = ns(c.send_epilog.at(bytes));
  const double e = ns(c.receive_prolog.at(bytes)), h = ns(c.receive_epilog.at(bytes));
  const double l = ns(c.latency.at(bytes)), way = of(c.per_byte);
  const double g_bytes = of(c.gap_per_byte), g = ns(c.gap.at(bytes)) + g_bytes;
  const double r = loggops ? std::max(of(c.receive_per_byte), g_bytes) : of(c.receive_per_byte);
  const double leaves = loggops ? a : a + b, lead = loggops ? 0 : std::min(g_bytes, b + way);
  Prediction p;
  // Of an exchange: when the message is there, how long it takes from then, and when the adapter has passed
  // it. With half duplex it passes the own message before (eager), or after.
  const double there = bytes > c.eager_limit ? a + l + h + l + leaves + l + way : leaves + l + way;
  if (bytes > c.eager_limit) {
    const double received = std::max(there - lead, c.half_duplex ? ns(c.gap.at(bytes)) : 0.0),
                 answered = a + l + h + l + leaves + std::max(loggops ? b : 0.0, g_bytes),
                 sent = c.half_duplex ? std::max(answered - g_bytes, received + g) + g_bytes : answered;
    p.exchange_ns = std::max(received + lead + r + h, sent) + e + epilog;
    p.half_round_trip_ns = a + l + h + l + leaves + l + way + r + h;
    p.send_ns = a;
    p.gap_ns = std::max({a, r + h, g});
  } else {
    const double received = std::max(there - lead, c.half_duplex ? g : 0.0) + lead;
    p.exchange_ns = e + std::max(a + b + epilog, received) + r + h;
    p.half_round_trip_ns = leaves + l + way + r + h;
    p.send_ns = a + b + epilog;
    p.receive_ns = e + r + h;
    p.gap_ns = std::max({p.send_ns, r + h, g});
  }
  return p;
}

Deviations deviations(const Way& way, const MessageCosts& costs, Model model) {
  Deviations d;
  const auto count = static_cast<double>(std::max<std::size_t>(way.points.size(), 1));
  for (const SizePoint& p : way.points) {
    const Prediction predicted = predict(costs, model, p.bytes);
    const double whole = std::abs(predicted.half_round_trip_ns / p.half_round_trip.ns - 1);
    const double gap = std::abs(predicted.gap_ns - p.gap.ns) / std::max(p.gap.ns, 1.0);
    d.half_round_trip_most = std::max(d.half_round_trip_most, whole);
    d.gap_most = std::max(d.gap_most, gap);
    d.half_round_trip_mean += whole / count;
    d.gap_mean += gap / count;
    if (p.exchange.ns > 0) {
      const double exchange = std::abs(predicted.exchange_ns / p.exchange.ns - 1);
      d.exchange_most = std::max(d.exchange_most, exchange);
      d.exchange_mean += exchange / count;
    }
    const double receive = way.is_rendezvous(p.bytes) ? 0 : std::abs(predicted.receive_ns - p.receive.ns);
    d.overheads_mean += (std::abs(predicted.send_ns - p.send.ns) + receive) / p.half_round_trip.ns / count;
  }
  return d;
}

Machine::Model choose_model(const Measurement& m) {
  const auto score = [&m](Model model) {
    double sum = 0;
    for (const auto* way : {&m.between, &m.within})
      if (*way) sum += deviations(**way, costs_of(fit_costs(**way, model), model), model).score();
    return sum;
  };
  return score(Model::loggops) < 0.8 * score(Model::base) ? Model::loggops : Model::base;
}

}  // namespace simreplay::calibrate
