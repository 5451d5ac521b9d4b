#include "replay/network/infiniband/model.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "replay/network/infiniband/packets/parallel_network.hpp"
#include "replay/network/infiniband/source.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::string_view prefix = "infiniband.";

struct Wishes {
  Source source{};
  Settings settings{};
  bool unsafe = false;
};

/// Keys beside those that simnet has, too.
struct OwnRow {
  std::string_view key, value, help;
  void (*set)(Wishes&, std::string_view);  // throws std::invalid_argument
};
constexpr std::array<OwnRow, 2> own_rows{
    {{"unsafe", "on|off", "on: run although pairs of hosts are not joined or packets can block each other",
      [](Wishes& w, std::string_view text) {
        if (text != "on" && text != "off")
          throw std::invalid_argument(fmt::format("expected on or off, found `{}`", text));
        w.unsafe = text == "on";
      }},
     {"bin", "TIME", "reports the utilisation of each link over time, in steps of this",
      [](Wishes& w, std::string_view text) { w.settings.bin = parse_duration(text); }}}};

/// The rows of all three tables as one.
template <class Take>
void each_row(Take&& take) {
  for (const SourceRow& r : source_rows())
    take(r.key, r.value, std::string(r.help),
         [set = r.set](Wishes& w, std::string_view text) { set(w.source, text); });
  for (const OwnRow& r : own_rows) take(r.key, r.value, std::string(r.help), r.set);
  for (const SettingRow& r : setting_rows())
    take(r.key, r.value, fmt::format("{} (default: {})", r.help, r.show(Settings{})),
         [parse = r.parse](Wishes& w, std::string_view text) { parse(w.settings, text); });
}

Wishes read_wishes(const Machine& machine) {
  Wishes wishes;
  each_row([&](std::string_view key, std::string_view, const std::string&, const auto& set) {
    const auto found = machine.network_settings.find(fmt::format("{}{}", prefix, key));
    if (found != machine.network_settings.end()) set(wishes, found->second);
  });
  if (wishes.source.topology.empty())
    throw Error(
        {.operation = "network.model = infiniband",
         .expected = "a fabric",
         .found = "none",
         .remedy = "set infiniband.topology to a file or to something like fat-tree:levels=2,radix=36"});
  return wishes;
}

struct Routed {
  Fabric fabric;
  Tables tables;
};

Routed load(const Wishes& wishes, std::int32_t nodes) {
  Fabric fabric = load_fabric(wishes.source);
  if (nodes > fabric.hosts())
    throw Error(
        {.expected = fmt::format("a fabric of {} hosts, one for each node in use", format_count(nodes)),
         .found = fmt::format("{} in '{}'", format_count(fabric.hosts()), wishes.source.topology),
         .remedy = "place more processes on each node, or set another infiniband.topology"});
  std::vector<std::string> notes;
  Tables tables = load_tables(wishes.source, fabric, notes);
  return {std::move(fabric), std::move(tables)};
}

void check_tables(const Wishes& wishes, const Routed& routed) {
  if (wishes.unsafe) return;
  const std::string text = faults(routed.fabric, check(routed.fabric, routed.tables));
  if (!text.empty())
    throw Error({.operation = fmt::format("infiniband.routing = {}", wishes.source.routing),
                 .problem = text,
                 .remedy = "set another infiniband.routing, or infiniband.unsafe = on to run all the same"});
}

class Model final : public network::Network {
 public:
  Model(Routed routed, const Wishes& wishes, MPI_Comm comm)
      : routed_(std::move(routed)),
        facts_{wishes.source.topology, wishes.source.routing, routed_.tables.lanes()},
        network_(comm, routed_.fabric, routed_.tables, wishes.settings) {}

  int rank_of(std::int32_t host) const override { return network_.rank_of(host); }
  network::Bounds bounds() const override { return network_.bounds(); }

  void inject(const network::Message& m) override {
    network_.inject({.time = m.time,
                     .id = m.id,
                     .source = m.source,
                     .destination = m.destination,
                     .bytes = m.bytes,
                     .payload = m.payload});
  }
  TimePoint next_event() override { return network_.next_event(); }
  void advance(TimePoint until) override { network_.advance(until); }
  void exchange() override { network_.exchange(); }

  std::vector<network::Arrival> take_arrivals() override {
    std::vector<network::Arrival> all;
    for (const Arrival& a : network_.take_arrivals())
      all.push_back({a.time, a.id, a.source, a.destination, a.bytes, a.payload, a.injected,
                     a.adapter_wait + a.switch_wait});
    return all;
  }

  std::string stuck() override { return network_.stuck(); }

  network::Report report() override {
    const Figures all = network_.gather_figures();
    if (rank_in(network_.comm()) != 0) return {};
    return {to_json(all, routed_.fabric, facts_), summary(all, routed_.fabric, facts_)};
  }

 private:
  Routed routed_;  // before what refers to it
  FabricFacts facts_;
  ParallelNetwork network_;
};

}  // namespace

std::vector<NetworkKey> machine_keys() {
  std::vector<NetworkKey> keys;
  each_row([&](std::string_view key, std::string_view value, std::string help, const auto& set) {
    keys.push_back({fmt::format("{}{}", prefix, key), std::string(value), std::move(help),
                    [set](const std::string& text) {
                      Wishes scratch;
                      set(scratch, text);
                    }});
  });
  return keys;
}

std::unique_ptr<network::Network> make_model(const Machine& machine, std::int32_t nodes, MPI_Comm comm) {
  Wishes wishes;
  std::optional<Routed> routed;
  together(comm, [&] {
    wishes = read_wishes(machine);
    routed = load(wishes, nodes);
    // The same everywhere, and the longest part.
    if (rank_in(comm) == 0) check_tables(wishes, *routed);
  });
  std::unique_ptr<network::Network> model;
  together(comm, [&] { model = std::make_unique<Model>(std::move(*routed), wishes, comm); });
  return model;
}

}  // namespace simreplay::infiniband
