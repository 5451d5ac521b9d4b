// The models of Ethernet divided among ranks find the bits of one rank, also where messages answer messages.

#include <mpi.h>

#include <map>
#include <string>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "replay/network/ethernet/shared_ethernet.hpp"
#include "replay/network/ethernet/switched_ethernet.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/network_driver.hpp"
#include "tests/support/scratch.hpp"

namespace simreplay::ethernet {
namespace {

using network::Arrival;
using network::Message;
using network::Network;
using network::test::Driver;

using Settings = std::map<std::string, std::string>;
using Make = std::unique_ptr<Network> (*)(const Machine&, std::int32_t, MPI_Comm);

Machine machine(const Settings& settings) {
  Machine m;
  m.network_settings = settings;
  return m;
}

/// Chains that go from host to host, each message as soon as the one before has come.
struct Chains {
  std::int32_t hosts;
  Duration reaction{};  // the least
  static constexpr std::int64_t chains = 40, length = 12;

  std::int32_t host(std::int64_t chain, std::int64_t step) const {
    const std::int64_t stride = 1 + chain % (hosts - 1);  // never to itself
    return static_cast<std::int32_t>((chain * 7 + step * stride) % hosts);
  }
  Message message(std::int64_t chain, std::int64_t step, TimePoint time) const {
    return {.time = time,
            .id = chain * length + step,
            .source = host(chain, step),
            .destination = host(chain, step + 1),
            .bytes = (chain * 31 + step * 7) % 5 == 0 ? 0 : (chain * 7919 + step * 104'729) % 20'000,
            .payload = static_cast<std::uint32_t>(step)};
  }
  std::vector<Message> first() const {
    std::vector<Message> list;
    for (std::int64_t c = 0; c < chains; c++)
      list.push_back(message(c, 0, TimePoint{Duration{c % 4 * 100'000'000}}));
    return list;
  }
  std::optional<Message> answer(const Arrival& a) const {
    const std::int64_t chain = a.id / length, step = a.id % length + 1;
    if (step == length) return std::nullopt;
    return message(chain, step, a.time + reaction + Duration{chain % 3 == 0 ? 0 : chain * 1'000'003});
  }
};

struct Outcome {
  std::vector<Arrival> arrivals;
  std::string report;
};

/// Processes take `reaction` to answer; windows count on `known` of it.
Outcome run(Make make, const Settings& settings, std::int32_t hosts, MPI_Comm comm, Duration reaction = {},
            Duration known = {}) {
  const std::unique_ptr<Network> model = make(machine(settings), hosts, comm);
  const Chains chains{hosts, reaction};
  Outcome outcome;
  outcome.arrivals =
      Driver(*model, comm, known).run(chains.first(), [&](const Arrival& a) { return chains.answer(a); });
  CHECK(model->stuck().empty());
  outcome.report = model->report().json;
  return outcome;
}

bool same(const Arrival& a, const Arrival& b) {
  return a.time == b.time && a.id == b.id && a.source == b.source && a.destination == b.destination &&
         a.bytes == b.bytes && a.payload == b.payload;
}

void compare(Make make, const Settings& settings, std::int32_t hosts) {
  const Outcome alone = run(make, settings, hosts, MPI_COMM_SELF);
  const Outcome divided = run(make, settings, hosts, MPI_COMM_WORLD);
  CHECK(alone.arrivals.size() == Chains::chains * Chains::length);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  CHECK(std::ranges::equal(alone.arrivals, divided.arrivals, same));
  CHECK(alone.report == divided.report);
  CHECK_FALSE(alone.report.empty());
}

/// What a machine is refused with; the same on all ranks.
std::string refusal(Make make, const Settings& settings, std::int32_t hosts) {
  std::string text;
  try {
    make(machine(settings), hosts, MPI_COMM_WORLD);
  } catch (const Error& e) {
    text = e.what();
  }
  std::string first = text;
  broadcast(MPI_COMM_WORLD, first);
  CHECK(text == first);
  return text;
}

/// A file of rank 0, by its path on all ranks.
class SharedFile {
 public:
  explicit SharedFile(const std::string& content) : path_(scratch_.file("hosts.txt")) {
    if (rank_in(MPI_COMM_WORLD) == 0) simreplay::test::write_content(path_, content);
    broadcast(MPI_COMM_WORLD, path_);
  }
  ~SharedFile() { MPI_Barrier(MPI_COMM_WORLD); }
  const std::string& path() const { return path_; }

 private:
  simreplay::test::ScratchFolder scratch_;
  std::string path_;
};

}  // namespace

TEST_CASE("Ranks that share a shared Ethernet find the bits of one rank", "[ethernet]") {
  const auto try_settings = [](const Settings& s, std::int32_t hosts) {
    compare(make_shared_ethernet, s, hosts);
  };
  try_settings({}, 7);
  try_settings({{"shared-ethernet.domains", "3"}}, 9);
  try_settings({{"shared-ethernet.domains", "4"},
                {"shared-ethernet.start", "3us"},
                {"shared-ethernet.per-byte", "7Mb/s"},
                {"shared-ethernet.frame-overhead", "38"}},
               10);
  // Nothing between an arrival and what it makes happen: windows of a single instant.
  try_settings({{"shared-ethernet.domains", "5"}, {"shared-ethernet.start", "0"}}, 11);
  try_settings({{"shared-ethernet.start", "0"}}, 60);
}

TEST_CASE("Domains may be listed in a file", "[ethernet]") {
  const SharedFile file("# two rooms\n10 10 3\n3 # and a spare host\n3\n");
  const Settings listed{{"shared-ethernet.domains", file.path()}};
  compare(make_shared_ethernet, listed, 4);
  CHECK(refusal(make_shared_ethernet, listed, 6) ==
        file.path() + ": expected a domain number for each of the 6 hosts in use, found 5");
  const SharedFile bad("0 1\n2 two\n");
  CHECK(refusal(make_shared_ethernet, {{"shared-ethernet.domains", bad.path()}}, 4) ==
        bad.path() + ":2: expected a domain number per host, found 'two'");
  CHECK(refusal(make_shared_ethernet, {{"shared-ethernet.domains", "/nowhere"}}, 4) ==
        "/nowhere: expected a file that can be read, found none");
}

TEST_CASE("Ranks that share a switched Ethernet find the bits of one rank", "[ethernet]") {
  const auto try_settings = [](const Settings& s, std::int32_t hosts) {
    compare(make_switched_ethernet, s, hosts);
  };
  try_settings({}, 7);
  try_settings({{"ethernet.rate", "10Mb/s"}, {"ethernet.send-overhead", "30us"}}, 5);
  try_settings(
      {{"ethernet.receive-overhead", "1ms"}, {"ethernet.switch-delay", "0"}, {"ethernet.mtu", "100"}}, 12);
  try_settings({{"ethernet.trains", "off"}}, 6);
}

TEST_CASE("Windows are longer where processes take time to answer", "[ethernet]") {
  static constexpr Duration reaction{40'000'000};
  const auto compare_windows = [](Make make, const Settings& settings) {
    const Outcome shorter = run(make, settings, 9, MPI_COMM_WORLD, reaction);
    const Outcome longer = run(make, settings, 9, MPI_COMM_WORLD, reaction, reaction);
    CHECK(std::ranges::equal(shorter.arrivals, longer.arrivals, same));
    CHECK(shorter.report == longer.report);
  };
  compare_windows(make_shared_ethernet, {{"shared-ethernet.start", "3us"}});
  compare_windows(make_shared_ethernet, {{"shared-ethernet.start", "0"}, {"shared-ethernet.domains", "3"}});
  compare_windows(make_switched_ethernet, {{"ethernet.switch-delay", "100us"}});
}

TEST_CASE("Trains of frames and frames one by one are the same to the last bit", "[ethernet]") {
  const SharedFile file("1Gb/s 100Mb/s 10Mb/s\n7Mb/s 1Gb/s 1Gb/s 0.003us/B\n");
  Settings settings{{"ethernet.rates", file.path()}};
  const Outcome trains = run(make_switched_ethernet, settings, 7, MPI_COMM_WORLD);
  settings["ethernet.trains"] = "off";
  const Outcome frames = run(make_switched_ethernet, settings, 7, MPI_COMM_WORLD);
  CHECK(std::ranges::equal(trains.arrivals, frames.arrivals, same));
  CHECK(trains.report == frames.report);
}

TEST_CASE("A file of rates must name one for each host in use", "[ethernet]") {
  const SharedFile file("1Gb/s\n100Mb/s\n");
  CHECK(refusal(make_switched_ethernet, {{"ethernet.rates", file.path()}}, 3) ==
        file.path() + ": expected a rate for each of the 3 hosts in use, found 2");
  const SharedFile bad("1Gb/s\n0\n");
  CHECK(refusal(make_switched_ethernet, {{"ethernet.rates", bad.path()}}, 2) ==
        bad.path() + ":2: expected a rate such as 100Mb/s, or a cost per byte above 0, found '0'");
}

TEST_CASE("A long message takes few windows", "[ethernet]") {
  const std::unique_ptr<Network> model = make_switched_ethernet(machine({}), 8, MPI_COMM_WORLD);
  Driver driver(*model, MPI_COMM_WORLD);
  driver.run({{.id = 0, .source = 0, .destination = 7, .bytes = 100'000'000},
              {.id = 1, .source = 1, .destination = 6, .bytes = 100'000'000}});
  CHECK(driver.windows() <= 4);
}

}  // namespace simreplay::ethernet
