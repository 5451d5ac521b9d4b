// InfiniBand as a network of replays: programs that answer as soon as a message arrives, divided among ranks.

#include <mpi.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/mpi_session.hpp"
#include "replay/network/infiniband/model.hpp"
#include "replay/network/models.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infiniband/random_network.hpp"

namespace simreplay::infiniband {
namespace {

using network::Message;

constexpr std::int64_t generation = 1'000'000;  // of ids

std::uint64_t mixed(std::int64_t a, std::int64_t b) {
  std::uint64_t h = (static_cast<std::uint64_t>(a) ^ 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  h = ((h ^ (h >> 31)) + static_cast<std::uint64_t>(b)) * 0x94D049BB133111EBU;
  return h ^ (h >> 29);
}

/// A few mtu of bytes, often none; a payload that follows from the id.
Message drawn(TimePoint time, std::int64_t id, std::int32_t source, std::uint64_t h, std::int32_t hosts) {
  constexpr std::array<std::int64_t, 6> sizes{0, 1, 100, 4097, 20'000, 200'000};
  const auto others = static_cast<std::uint64_t>(hosts - 1);
  return {
      .time = time,
      .id = id,
      .source = source,
      .destination = static_cast<std::int32_t>((source + 1 + static_cast<std::int64_t>(h % others)) % hosts),
      .bytes = sizes[h / 64 % sizes.size()],
      .payload = static_cast<std::uint32_t>(mixed(id, 7))};
}

std::vector<Message> first_messages(std::int32_t hosts, unsigned seed) {
  std::vector<Message> list;
  for (std::int32_t i = 0; i < hosts; i++) {
    const std::uint64_t h = mixed(i, seed);
    list.push_back(drawn(at_ps(static_cast<std::int64_t>(h % 3) * 40'000), i, i, h, hosts));
  }
  return list;
}

/// At the very time of the arrival, or of two that meet then.
std::optional<Message> answer(const network::Arrival& a, std::int32_t hosts) {
  if (a.id >= 6 * generation) return std::nullopt;
  const std::uint64_t h = mixed(a.id, a.time.time_since_epoch().count());
  return drawn(a.time, a.id + generation, a.destination, h, hosts);
}

/// What the model promises of arrivals: nothing else is known of them here.
struct Seen {
  std::vector<network::Arrival> arrivals;
  bool payloads = true;

  void add(const network::Arrival& a) {
    payloads = payloads && a.payload == static_cast<std::uint32_t>(mixed(a.id, 7));
    arrivals.push_back(a);
  }
  void sort() { std::ranges::sort(arrivals, {}, &network::Arrival::id); }
};

/// Event by event, without any windows.
Seen one_by_one(const Net& net, const Settings& settings, const std::vector<Message>& first) {
  PacketNetwork whole(net.fabric, net.tables, settings);
  const auto inject = [&](const Message& m) {
    whole.inject({.time = m.time,
                  .id = m.id,
                  .source = m.source,
                  .destination = m.destination,
                  .bytes = m.bytes,
                  .payload = m.payload});
  };
  for (const Message& m : first) inject(m);
  Seen seen;
  for (TimePoint t = whole.next_event(); t != EventQueue::never; t = whole.next_event()) {
    whole.advance(t + Duration{1});
    for (const Arrival& a : whole.take_arrivals()) {
      seen.add({a.time, a.id, a.source, a.destination, a.bytes, a.payload});
      if (const auto m = answer(seen.arrivals.back(), net.fabric.hosts())) inject(*m);
    }
  }
  seen.sort();
  return seen;
}

/// In the windows that the bounds allow; each rank speaks for its hosts.
Seen in_windows(network::Network& network, const std::vector<Message>& first, std::int32_t hosts,
                MPI_Comm comm) {
  const network::Bounds bounds = network.bounds();
  for (const Message& m : first)
    if (network.rank_of(m.source) == rank_in(comm)) network.inject(m);
  Seen seen;
  for (;;) {
    std::int64_t next = network.next_event().time_since_epoch().count();
    MPI_Allreduce(MPI_IN_PLACE, &next, 1, MPI_INT64_T, MPI_MIN, comm);
    if (next == network::never.time_since_epoch().count()) break;
    const TimePoint until = at_ps(next) + bounds.window();
    network.advance(until);
    network.exchange();
    for (const network::Arrival& a : network.take_arrivals()) {
      if (a.time < at_ps(next) + bounds.notice) throw std::logic_error("an arrival came too late");
      seen.add(a);
      if (const auto m = answer(a, hosts)) network.inject(*m);
    }
  }
  seen.sort();
  return seen;
}

Machine machine_of(const std::string& spec, const std::string& routing, const Settings& settings) {
  Machine m;
  m.network = "infiniband";
  m.network_settings = {
      {"infiniband.topology", spec}, {"infiniband.routing", routing}, {"infiniband.unsafe", "on"}};
  for (const SettingRow& r : setting_rows())
    if (r.show(settings) != r.show({}))
      m.network_settings["infiniband." + std::string(r.key)] = r.show(settings);
  return m;
}

bool same(const network::Arrival& a, const network::Arrival& b) {
  return a.time == b.time && a.id == b.id && a.source == b.source && a.destination == b.destination &&
         a.bytes == b.bytes && a.payload == b.payload;
}

void examine(unsigned seed) {
  CAPTURE(seed);
  Draw draw(seed);
  const auto& [spec, routing] = draw.of(fabrics);
  Settings settings = draw_settings(draw);
  settings.bin = Duration{0};
  settings.minimum_message = draw.of(std::array<std::int64_t, 3>{0, 0, 5000});
  settings.send_overhead = Duration{draw.of(std::array<std::int64_t, 3>{0, 1, 300'000})};
  settings.receive_overhead = Duration{draw.of(std::array<std::int64_t, 3>{0, 1, 700'000})};
  settings.trains = 0;
  const Net net(spec, routing);
  const std::int32_t hosts = net.fabric.hosts();
  const std::vector<Message> first = first_messages(hosts, seed);
  const Seen expected = one_by_one(net, settings, first);
  CHECK(expected.payloads);
  settings.trains = draw.of(std::array<std::int64_t, 2>{0, 2});
  const auto model = network::make(machine_of(spec, routing, settings), hosts, MPI_COMM_WORLD);
  const Seen found = in_windows(*model, first, hosts, MPI_COMM_WORLD);
  CHECK(found.payloads);
  std::vector<network::Arrival> mine;
  for (const network::Arrival& a : expected.arrivals)
    if (model->rank_of(a.destination) == rank_in(MPI_COMM_WORLD)) mine.push_back(a);
  CHECK(std::ranges::equal(found.arrivals, mine, same));
}

std::string refusal(const std::map<std::string, std::string>& settings, std::int32_t nodes) {
  Machine m;
  m.network = "infiniband";
  for (const auto& [key, value] : settings) m.network_settings["infiniband." + key] = value;
  std::string text = "none";
  try {
    network::make(m, nodes, MPI_COMM_WORLD);
  } catch (const SharedFailure& failure) {
    text = failure.message;
  }
  int known = text.empty() ? 0 : 1;  // by one rank, if it is one
  MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(known == (text == "none" ? size_of(MPI_COMM_WORLD) : 1));
  return rank_in(MPI_COMM_WORLD) == 0 ? text : std::string();
}

void refuses(const std::map<std::string, std::string>& settings, std::int32_t nodes, const std::string& why) {
  const std::string text = refusal(settings, nodes);
  if (rank_in(MPI_COMM_WORLD) == 0) CHECK_THAT(text, Catch::Matchers::ContainsSubstring(why));
}

}  // namespace

TEST_CASE("Answers to arrivals are never too late, in windows on any ranks", "[packets]") {
  for (unsigned seed = 1; seed <= 30; seed++) examine(seed);
}

TEST_CASE("A fabric that does not fit the machine is refused with names", "[packets]") {
  refuses({}, 2, "set infiniband.topology");
  refuses({{"topology", "single:16"}}, 20,
          "a fabric of 20 hosts, one for each node in use, found 16 in 'single:16'");
  refuses({{"topology", "single:4"}, {"routing", "minhops"}}, 4, "expected a routing: minhop, updn");
  refuses({{"topology", "single:4"}, {"mtu", "1000"}}, 4, "infiniband.mtu");
  refuses({{"topology", "torus:5,hosts=2"}}, 4, "packets can block each other: ");
  CHECK(refusal({{"topology", "torus:5,hosts=2"}, {"unsafe", "on"}}, 4).substr(0, 4) ==
        (rank_in(MPI_COMM_WORLD) == 0 ? "none" : ""));
}

TEST_CASE("Keys of a machine file refuse what simnet would refuse", "[packets]") {
  const std::vector<NetworkKey> keys = machine_keys();
  const auto key = [&](const std::string& name) {
    return *std::ranges::find(keys, "infiniband." + name, &NetworkKey::key);
  };
  CHECK_THROWS_WITH(key("forwarding").check("fast"),
                    "expected cut-through or store-and-forward, found `fast`");
  CHECK_THROWS_WITH(key("max-lanes").check("16"), "expected 1 to 15, found 16");
  CHECK_THROWS_WITH(key("unsafe").check("yes"), "expected on or off, found `yes`");
  CHECK_THROWS(key("bin").check("10"));
  CHECK_NOTHROW(key("topology").check("single:4"));
  for (const std::string& name : engine_names())
    CHECK_THAT(key("routing").help, Catch::Matchers::ContainsSubstring(name));
}

TEST_CASE("The report of a model names its fabric and the links that were busy", "[packets]") {
  const std::string spec = "fat-tree:leaves=2,spines=2,hosts=4";
  const auto model = network::make(machine_of(spec, "ftree", {.bin = Duration{0}}), 8, MPI_COMM_WORLD);
  in_windows(*model, {{.id = 6 * generation, .source = 0, .destination = 5, .bytes = 10'000}}, 8,
             MPI_COMM_WORLD);
  CHECK(model->stuck().empty());
  const network::Report report = model->report();
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  const auto json = nlohmann::json::parse(report.json);
  CHECK(json["fabric"]["name"] == spec);
  CHECK(json["fabric"]["routing"] == "ftree");
  CHECK(json["fabric"]["hosts"] == 8);
  CHECK(json["messages"] == 1);
  CHECK(json["packet_hops"] == 12);
  CHECK(json["latency"]["least_ps"] == json["latency"]["most_ps"]);
  CHECK(json["links"].size() == 4);
  CHECK(json["hot_links"][0]["busy_ps"] == 3 * 26 * 80 + 10'000 * 80);
  CHECK(report.lines.size() <= 8);
}

}  // namespace simreplay::infiniband
