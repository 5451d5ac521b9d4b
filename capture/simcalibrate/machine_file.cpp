#include "capture/simcalibrate/machine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace simreplay::calibrate {
namespace {

constexpr const char* method =
    "Method: PRTT(n, d, s) of Hoefler, Lichei, Rehm, Low-Overhead LogGP Parameter Assessment for Modern\n"
    "Interconnection Networks, IPDPS 2007: n messages of s bytes, d apart, and one answer. Gap from\n"
    "PRTT(n, 0, s); send and receive from the calls of PRTT(n, d, s): the way is free, the message is "
    "there;\n"
    "latency = half round trip - send - receive of the smallest message. Lines by least squares on\n"
    "ranges of sizes, which end where successive points leave the line.\n";

double percent(double fitted, double measured) { return 100 * (fitted / std::max(measured, 1e-3) - 1); }

/// Four digits in nanoseconds up to seconds would need a wide column: microseconds.
std::string us(double ns) { return fmt::format("{:.{}f}", ns / 1e3, ns < 1e5 ? 3 : 1); }

std::string table_of(const Way& way, const Settings& settings, Machine::Model model) {
  const MessageCosts costs = costs_of(settings, model);
  std::string text = fmt::format("{:>9} {:>34} {:>24} {:>24} {:>32} {:>32}\n", "", "half round trip [us]",
                                 "send [us]", "receive [us]", "gap in a stream [us]", "exchange [us]");
  text += fmt::format(
      "{:>9} {:>11} {:>11} {:>5} {:>4} {:>12} {:>11} {:>12} {:>11} {:>12} {:>11} {:>7} {:>12} {:>11} {:>7}\n",
      "bytes", "measured", "fitted", "off", "+-", "measured", "fitted", "measured", "fitted", "measured",
      "fitted", "off", "measured", "follows", "off");
  for (const SizePoint& p : way.points) {
    const Prediction f = predict(costs, model, p.bytes);
    const bool eager = !way.is_rendezvous(p.bytes);
    text += fmt::format(
        "{:>9} {:>11} {:>11} {:>4.1f}% {:>3.0f}% {:>12} {:>11} {:>12} {:>11} {:>12} {:>11} {:>6.1f}% {:>12} "
        "{:>11} {:>6.1f}%\n",
        p.bytes, us(p.half_round_trip.ns), us(f.half_round_trip_ns),
        percent(f.half_round_trip_ns, p.half_round_trip.ns), 100 * p.half_round_trip.spread, us(p.send.ns),
        us(f.send_ns), eager ? us(p.receive.ns) : "-", eager ? us(f.receive_ns) : "-", us(p.gap.ns),
        us(f.gap_ns), percent(f.gap_ns, p.gap.ns), us(p.exchange.ns), us(f.exchange_ns),
        percent(f.exchange_ns, p.exchange.ns));
  }
  const Deviations d = deviations(way, costs, model);
  if (!way.points.empty())
    text += fmt::format("costs of {} bytes hold for larger messages, too\n", way.points.back().bytes);
  if (way.eager_limit)
    text += fmt::format("messages above {} bytes wait for their receive\n", *way.eager_limit);
  if (way.unattended_limit && *way.unattended_limit < way.eager_limit.value_or(INT64_MAX))
    text += fmt::format(
        "blocking sends above {} bytes end only while the receiver is in the MPI library: not in the model\n",
        *way.unattended_limit);
  return text + fmt::format(
                    "half round trip within {:.1f} % (mean {:.1f} %), gap within {:.1f} % (mean {:.1f} %), "
                    "exchange within {:.1f} % (mean {:.1f} %); {} rounds\n",
                    100 * d.half_round_trip_most, 100 * d.half_round_trip_mean, 100 * d.gap_most,
                    100 * d.gap_mean, 100 * d.exchange_most, 100 * d.exchange_mean, way.rounds);
}

/// "send.prolog" under [send], in the order of the map; `prefix` is "" or "within.".
std::string sections_of(const Settings& settings, const std::string& prefix) {
  std::string text, section;
  for (const auto& [key, value] : settings) {
    const auto point = key.find('.');
    if (key.substr(0, point) != section) text += "[" + prefix + (section = key.substr(0, point)) + "]\n";
    text += key.substr(point + 1) + " = " + value + "\n";
  }
  return text;
}

std::string commented(const std::string& text) {
  std::istringstream in(text);
  std::string line, all;
  while (std::getline(in, line)) all += line.empty() ? "#\n" : "# " + line + "\n";
  return all;
}

const char* name_of(Machine::Model model) { return model == Machine::Model::loggops ? "loggops" : "base"; }

std::string facts(const Measurement& m) {
  std::string text = fmt::format("Measured by simcalibrate on {}, {} ranks on {} {}", m.date, m.ranks,
                                 m.nodes, m.nodes == 1 ? "node" : "nodes");
  text += fmt::format("\nMPI library: {}\n", m.mpi_library);
  if (!m.settings.empty()) text += fmt::format("Settings: {}\n", m.settings);
  return text;
}

nlohmann::ordered_json json_of(const Way& way, const Settings& settings, Machine::Model model) {
  const MessageCosts costs = costs_of(settings, model);
  nlohmann::ordered_json j, points = nlohmann::ordered_json::array();
  for (const SizePoint& p : way.points) {
    const Prediction f = predict(costs, model, p.bytes);
    const auto pair = [](const Statistic& s, double fitted) {
      return nlohmann::ordered_json{{"measured_ns", s.ns}, {"spread", s.spread}, {"fitted_ns", fitted}};
    };
    nlohmann::ordered_json row{{"bytes", p.bytes},
                               {"half_round_trip", pair(p.half_round_trip, f.half_round_trip_ns)},
                               {"send", pair(p.send, f.send_ns)},
                               {"gap", pair(p.gap, f.gap_ns)},
                               {"exchange", pair(p.exchange, f.exchange_ns)}};
    if (!way.is_rendezvous(p.bytes)) row["receive"] = pair(p.receive, f.receive_ns);
    points.push_back(std::move(row));
  }
  const Deviations d = deviations(way, costs, model);
  j["hosts"] = way.hosts;
  j["eager_limit_bytes"] =
      way.eager_limit ? nlohmann::ordered_json(*way.eager_limit) : nlohmann::ordered_json();
  j["rounds"] = way.rounds;
  j["half_round_trip_residual"] = {{"most", d.half_round_trip_most}, {"mean", d.half_round_trip_mean}};
  j["gap_residual"] = {{"most", d.gap_most}, {"mean", d.gap_mean}};
  j["exchange_residual"] = {{"most", d.exchange_most}, {"mean", d.exchange_mean}};
  j["settings"] = settings;
  j["points"] = std::move(points);
  return j;
}

}  // namespace

Calibration calibrate(Measurement measurement) {
  Calibration c;
  c.model = choose_model(measurement);
  if (measurement.between) c.between = fit_costs(*measurement.between, c.model);
  if (measurement.within) c.within = fit_costs(*measurement.within, c.model);
  c.measurement = std::move(measurement);
  return c;
}

std::string to_table(const Calibration& c) {
  std::string text;
  const Measurement& m = c.measurement;
  if (m.between)
    text += "Between nodes, " + m.between->hosts + "\n" + table_of(*m.between, c.between, c.model);
  if (m.within)
    text += (text.empty() ? "" : "\n") + ("Within a node, " + m.within->hosts) + "\n" +
            table_of(*m.within, c.within, c.model);
  return text;
}

namespace {

/// The value of a key that a way does not have.
std::string neutral(const std::string& key) {
  return key == "network.eager-limit" ? "8TiB" : key == "network.duplex" ? "full" : "0";
}

}  // namespace

std::string to_machine_file(const Calibration& c) {
  const Measurement& m = c.measurement;
  std::string text = commented(facts(m) + "\n" + method +
                               fmt::format("Values are the {:g} quantiles of their samples.\n", m.quantile) +
                               (m.all_pairs ? "All ranks measured at the same time, two by two.\n" : ""));
  const auto noisy = noisy_results(m);
  if (!noisy.empty()) text += commented("\nNoisy: " + fmt::format("{}", fmt::join(noisy, "; ")));
  text += "#\n" + commented(to_table(c));
  if (m.between && m.within)
    text +=
        "#\n# Keys without within. are those between nodes. placement.scheme and "
        "placement.processes-per-node say\n"
        "# which processes of a replay share a node.\n";
  text += fmt::format("[barrier]\noverhead = {:.3f}us\n", m.barrier.ns / 1e3);
  Settings plain = c.plain();
  plain["network.model"] = name_of(c.model);
  text += sections_of(plain, "");
  if (m.between && m.within) {
    // What only the way between nodes has would hold within, too.
    Settings within = c.within;
    for (const auto& [key, value] : c.between)
      if (!within.contains(key)) within[key] = neutral(key);
    text += sections_of(within, "within.");
  }
  return text;
}

std::string to_json(const Calibration& c) {
  const Measurement& m = c.measurement;
  nlohmann::ordered_json j{{"date", m.date},
                           {"mpi_library", m.mpi_library},
                           {"ranks", m.ranks},
                           {"nodes", m.nodes},
                           {"quantile", m.quantile},
                           {"model", name_of(c.model)},
                           {"barrier", {{"measured_ns", m.barrier.ns}, {"spread", m.barrier.spread}}},
                           {"noisy", noisy_results(m)}};
  if (m.between) j["between"] = json_of(*m.between, c.between, c.model);
  if (m.within) j["within"] = json_of(*m.within, c.within, c.model);
  return j.dump(1) + "\n";
}

}  // namespace simreplay::calibrate
