// Lists of messages, patterns, sizes.

#include "replay/simnet_runs.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "common/error.hpp"
#include "common/output.hpp"

namespace simreplay {
namespace {

using namespace infiniband;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Arrivals on this rank, and the network that they come from.
struct Simulation {
  std::vector<Arrival> arrivals;
  std::unique_ptr<ParallelNetwork> network;
  double seconds = 0, cpu_seconds = 0;  // of this rank
};

Simulation simulate(const NetOptions& options, const Fabric& fabric, const Tables& tables,
                    const std::vector<Injection>& list) {
  Simulation s;
  together(MPI_COMM_WORLD, [&] {
    s.network = std::make_unique<ParallelNetwork>(MPI_COMM_WORLD, fabric, tables, options.settings);
  });
  together(MPI_COMM_WORLD, [&] {
    for (const Injection& i : list)
      if (s.network->part().check(i), s.network->owns(i.source)) s.network->inject(i);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = Clock::now();
  const std::clock_t cpu_start = std::clock();
  s.network->run(EventQueue::never);
  s.cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  MPI_Barrier(MPI_COMM_WORLD);
  s.seconds = seconds_since(start);
  s.network->check_progress();
  s.arrivals = s.network->take_arrivals();
  return s;
}

void put(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else if (!path.empty()) {
    write_file(path, text);
  }
}

/// A sum over all arrivals that changes with any of their bits, whatever their order.
std::uint64_t digest(const std::vector<Arrival>& arrivals) {
  std::uint64_t sum = 0;
  for (const Arrival& a : arrivals) {
    std::uint64_t h = 0x9E3779B97F4A7C15U;
    for (const std::int64_t word :
         {a.id, a.time.time_since_epoch().count(), a.adapter_wait.count(), a.switch_wait.count()}) {
      h = (h ^ static_cast<std::uint64_t>(word)) * 0xBF58476D1CE4E5B9U;
      h ^= h >> 31;
    }
    sum += h;
  }
  return sum;
}

void print_table(const std::vector<Arrival>& all, const Fabric& fabric, const PacketNetwork& model) {
  fmt::print("{:>8} {:>10} {:>11} {:>9} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "id", "source", "destination",
             "bytes", "sent", "arrival", "latency", "adapter", "contention");
  for (const Arrival& a : all) {
    const Duration idle = model.unloaded(a.source, a.destination, a.bytes).total;
    fmt::print("{:>8} {:>10} {:>11} {:>9} {:>12} {:>12} {:>12} {:>12} {:>12}\n", a.id,
               fabric.name(fabric.host(a.source)), fabric.name(fabric.host(a.destination)), a.bytes,
               format_duration(a.injected - TimePoint{}), format_duration(a.time - TimePoint{}),
               format_duration(a.latency()), format_duration(a.adapter_wait),
               format_duration(a.latency() - a.software - a.adapter_wait - idle));
  }
}

void put_links(const NetOptions& options, const Figures& figures, const Fabric& fabric) {
  if (!options.links.empty()) put(options.links, to_json(figures, fabric) + "\n");
}

std::vector<std::int32_t> shuffled(std::int32_t n, std::mt19937_64& draw) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[draw() % i]);
  return order;
}

/// Whom host `source` sends its message of a round to; itself for none.
using Pattern = std::function<std::int32_t(std::int32_t source, std::int64_t round)>;

struct PatternRow {
  std::string_view name;
  std::int64_t (*rounds)(std::int64_t hosts, std::int64_t count);
  Pattern (*make)(std::int32_t hosts, std::mt19937_64& draw);
};

Pattern uniform(std::int32_t hosts, std::mt19937_64& draw) {
  return [hosts, &draw](std::int32_t source, std::int64_t) {
    const auto other = static_cast<std::int32_t>(draw() % static_cast<std::uint64_t>(hosts - 1));
    return other < source ? other : other + 1;
  };
}

/// One circle through all hosts, in an order that is drawn.
Pattern permutation(std::int32_t hosts, std::mt19937_64& draw) {
  const std::vector<std::int32_t> order = shuffled(hosts, draw);
  std::vector<std::int32_t> to(order.size());
  for (std::size_t i = 0; i < order.size(); i++)
    to[static_cast<std::size_t>(order[i])] = order[(i + 1) % order.size()];
  return [to](std::int32_t source, std::int64_t) { return to[static_cast<std::size_t>(source)]; };
}

Pattern incast(std::int32_t, std::mt19937_64&) {
  return [](std::int32_t, std::int64_t) { return 0; };
}

Pattern all_to_all(std::int32_t hosts, std::mt19937_64&) {
  return [hosts](std::int32_t source, std::int64_t round) {
    return static_cast<std::int32_t>((source + 1 + round % (hosts - 1)) % hosts);
  };
}

std::int64_t as_counted(std::int64_t, std::int64_t count) { return count; }

constexpr std::array<PatternRow, 4> patterns{
    {{"uniform", as_counted, uniform},
     {"permutation", as_counted, permutation},
     {"incast", as_counted, incast},
     {"all-to-all", [](std::int64_t hosts, std::int64_t count) { return (hosts - 1) * count; }, all_to_all}}};

/// The same on all ranks.
std::vector<Injection> make_traffic(const NetOptions& options, const Fabric& fabric) {
  const auto row = std::find_if(patterns.begin(), patterns.end(),
                                [&](const PatternRow& p) { return p.name == options.traffic; });
  if (row == patterns.end())
    throw Error({.operation = "traffic",
                 .expected = "uniform, permutation, incast or all-to-all",
                 .found = options.traffic});
  if (fabric.hosts() < 2) throw Error({.expected = "a fabric of two hosts or more", .found = "one"});
  std::mt19937_64 draw(static_cast<std::uint64_t>(options.seed));
  const Pattern to = row->make(fabric.hosts(), draw);
  std::vector<Injection> list;
  for (std::int64_t round = 0; round < row->rounds(fabric.hosts(), options.count); round++)
    for (std::int32_t source = 0; source < fabric.hosts(); source++) {
      const std::int32_t destination = to(source, round);
      if (destination == source) continue;
      list.push_back({.time = TimePoint{round * options.interval},
                      .id = std::ssize(list),
                      .source = source,
                      .destination = destination,
                      .bytes = options.bytes});
    }
  return list;
}

struct Counts {
  std::int64_t events, trains, broken, windows;
  std::uint64_t digest;
};

Counts gather_counts(const Simulation& s) {
  PacketNetwork& part = s.network->part();
  std::array<std::int64_t, 3> sums{part.events(), part.trains(), part.trains_broken()};
  std::uint64_t checksum = digest(s.arrivals);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {sums[0], sums[1], sums[2], s.network->windows(), checksum};
}

void print_traffic(const Figures& f, const Counts& c, const Simulation& s, const Fabric& fabric) {
  const double end = static_cast<double>(f.end.time_since_epoch().count()) * 1e-12;
  const auto hops = static_cast<double>(f.packet_hops());
  fmt::print("messages    {} of {} in all, the last after {}\n", format_count(f.messages),
             format_bytes(f.bytes), format_duration(f.end - TimePoint{}));
  fmt::print("throughput  {:.3f} GB/s per host\n", static_cast<double>(f.bytes) / end / 1e9 / fabric.hosts());
  fmt::print("latency     half below {}, 99 % below {}\n", format_duration(f.latency.quantile(0.5)),
             format_duration(f.latency.quantile(0.99)));
  for (const Port p : hot_ports(f, 3))
    fmt::print("hot         {}: {:.1f} % busy\n", fabric.port_name(p),
               100e-12 * static_cast<double>(f.ports[static_cast<std::size_t>(p)].busy.count()) / end);
  fmt::print("simulation  {} packet-hops in {:.3f} s: {:.2f} million/s; {:.3f} s of the processor\n",
             format_count(f.packet_hops()), s.seconds, hops / s.seconds / 1e6, s.cpu_seconds);
  fmt::print("            {} events, {} windows\n", format_count(c.events), format_count(c.windows));
  fmt::print("trains      {}, {} of them broken\n", format_count(c.trains), format_count(c.broken));
  fmt::print("checksum    {:016x}\n", c.digest);
}

}  // namespace

void run_messages(const NetOptions& options, const Fabric& fabric, const Tables& tables,
                  const MpiSession& mpi) {
  std::vector<Injection> list;
  together(MPI_COMM_WORLD, [&] { list = MessageReader(fabric).read_file(options.messages); });
  Simulation s = simulate(options, fabric, tables, list);
  const std::vector<Arrival> all = gather_arrivals(std::move(s.arrivals), MPI_COMM_WORLD);
  const Figures figures = s.network->gather_figures();
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() != 0) return;
    if (options.json.empty()) {
      print_table(all, fabric, s.network->part());
    } else {
      std::string text;
      for (const Arrival& a : all) text += arrival_json(a, fabric, s.network->part()).dump() + "\n";
      put(options.json, text);
    }
    put_links(options, figures, fabric);
  });
}

void run_traffic(const NetOptions& options, const Fabric& fabric, const Tables& tables,
                 const MpiSession& mpi) {
  std::vector<Injection> list;
  together(MPI_COMM_WORLD, [&] { list = make_traffic(options, fabric); });
  Simulation s = simulate(options, fabric, tables, list);
  const Counts counts = gather_counts(s);
  const Figures figures = s.network->gather_figures();
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() != 0) return;
    if (!options.json.empty()) {
      put(options.json, to_json(figures, fabric) + "\n");
    } else {
      print_traffic(figures, counts, s, fabric);
    }
    put_links(options, figures, fabric);
  });
}

void run_sizes(const NetOptions& options, const Fabric& fabric, const Tables& tables, const MpiSession& mpi) {
  constexpr std::array<std::int64_t, 14> sizes{1,       4,       16,      64,      256,     1024,    4096,
                                               1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 28};
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (mpi.rank() == 0 && options.json.empty())
    fmt::print("{:>12} {:>14} {:>14} {:>12}\n", "bytes", "latency", "rate", "simulated in");
  for (const std::int64_t bytes : sizes) {
    const Simulation s = simulate(options, fabric, tables, {{.source = 0, .destination = 1, .bytes = bytes}});
    const std::vector<Arrival> all = gather_arrivals(s.arrivals, MPI_COMM_WORLD);
    if (mpi.rank() != 0) continue;
    const Duration latency = all.at(0).latency();
    rows.push_back({{"bytes", bytes}, {"latency_ps", latency.count()}, {"wall_s", s.seconds}});
    if (options.json.empty())
      fmt::print("{:>12} {:>14} {:>9.3f} GB/s {:>9.3f} ms\n", bytes, format_duration(latency),
                 static_cast<double>(bytes) * 1e3 / static_cast<double>(latency.count()), s.seconds * 1e3);
  }
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() == 0 && !options.json.empty()) put(options.json, rows.dump(1) + "\n");
  });
}

}  // namespace simreplay
