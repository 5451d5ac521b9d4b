// Encoder, Writer and Reader: what goes in comes out.

#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "common/error.hpp"
#include "common/trace/encoder.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;
using namespace simreplay::trace;

namespace {

struct Call {
  Signature signature;
  std::int64_t computation = 0, duration = 0;
};

/// Calls whose items stay where they are, also when it is moved.
struct Calls {
  Calls() = default;
  Calls(Calls&&) = default;
  Calls(const Calls&) = delete;

  std::vector<Call> calls;
  std::deque<std::vector<std::int64_t>> items;

  void add(Signature s, std::vector<std::int64_t> list, std::int64_t computation, std::int64_t duration) {
    items.push_back(std::move(list));
    s.items = items.back();
    calls.push_back({s, computation, duration});
  }
};

void check_equal(const Call& found, const Call& expected) {
  const Signature &f = found.signature, &e = expected.signature;
  REQUIRE(f.op == e.op);
  REQUIRE(f.flags == e.flags);
  REQUIRE(f.communicator == e.communicator);
  REQUIRE(f.peer == e.peer);
  REQUIRE(f.tag == e.tag);
  REQUIRE(f.request == e.request);
  REQUIRE(f.bytes == e.bytes);
  REQUIRE(std::vector(f.items.begin(), f.items.end()) == std::vector(e.items.begin(), e.items.end()));
  REQUIRE(found.computation == expected.computation);
  REQUIRE(found.duration == expected.duration);
}

template <class... C>
std::vector<Calls> list(C&&... calls) {
  std::vector<Calls> all;
  (all.push_back(std::move(calls)), ...);
  return all;
}

/// By kind, as marks in random_calls() name them.
const std::vector<Metric> metrics{{MetricKind::region, "solver"},
                                  {MetricKind::counter, ""},
                                  {MetricKind::timer, "a name\nof \"any\" text\xff"}};

void write(const std::string& path, const std::vector<Calls>& processes,
           const std::vector<Members>& communicators) {
  Facts facts;
  facts.command = "./app -n 3";
  facts.mpi_library = "Open MPI";
  facts.started = "2024-06-07T08:09:10";
  facts.machine = "[cpu]\nspeedup = 2\n";
  facts.processes = static_cast<std::int32_t>(processes.size());
  facts.tick_ps = 1;
  Writer writer(path, facts);
  Encoder encoder(writer);
  for (std::size_t p = 0; p < processes.size(); p++) {
    writer.begin_process(static_cast<std::int32_t>(p));
    encoder.begin(static_cast<std::int32_t>(p));
    for (const Call& c : processes[p].calls) encoder.add(c.signature, c.computation, c.duration);
    encoder.end();
    writer.end_process({.record = p % 3 != 1 ? Record::complete : Record::cut,
                        .overhead_ps = {static_cast<std::int64_t>(p) * 7, 1, 2, 3, 4},
                        .host = p % 2 == 0 ? "even" : "odd"});
  }
  writer.commit(communicators, {}, metrics);
}

Facts one_process() {
  Facts facts;
  facts.processes = 1;
  return facts;
}

/// All calls of a process, segment by segment; also how many segments there were.
std::size_t check_calls(const Reader& reader, std::int32_t process, const std::vector<Call>& expected) {
  const auto rows = reader.first_calls(process, 1), segments = reader.first_segments(process, 1);
  REQUIRE(rows[1] - rows[0] == expected.size());
  std::size_t i = 0;
  for (std::uint64_t s = segments[0]; s < segments[1]; s++) {
    const Segment segment = reader.segment(s);
    REQUIRE(segment.process == process);
    REQUIRE(segment.first_call == rows[0] + i);
    REQUIRE(segment.signatures <= signatures_per_segment);
    const SignatureTable table = reader.table(segment);
    std::vector<std::uint16_t> number(segment.calls);
    std::vector<std::int64_t> computation(segment.calls), duration(segment.calls);
    reader.calls(segment, segment.first_call, number, computation);
    reader.durations(segment.first_call, duration);
    for (std::size_t k = 0; k < number.size(); k++, i++)
      check_equal({table[number[k]], computation[k], duration[k]}, expected[i]);
  }
  REQUIRE(i == expected.size());
  return segments[1] - segments[0];
}

Calls random_calls(std::uint64_t seed, int processes, int n) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t most) { return static_cast<std::int32_t>(random() % most); };
  Calls calls;
  for (int i = 0; i < n; i++) {
    Signature s;
    s.op = mpi_ops[random() % mpi_ops.size()].op;
    s.flags = static_cast<std::uint16_t>(random() % 64);
    s.communicator = below(2);
    s.peer = below(static_cast<std::uint64_t>(processes) + 2) - 2;
    s.tag = below(5) - 2;
    s.request = below(4) - 1;
    s.bytes = static_cast<std::int64_t>(random() >> (1 + random() % 60));
    const bool is_mark = info(s.op).verb == Verb::mark;
    std::vector<std::int64_t> items(is_mark ? info(s.op).items != Items::none : random() % 4);
    for (auto& item : items) item = static_cast<std::int64_t>(random());
    if (info(s.op).verb == Verb::mark) {
      s.tag = static_cast<std::int32_t>(metric_kind_of(s.op));
      if (info(s.op).items == Items::counter) items[0] = 1;
    }
    calls.add(s, items, static_cast<std::int64_t>(random() >> 2), -static_cast<std::int64_t>(random() >> 3));
  }
  return calls;
}

}  // namespace

TEST_CASE("every column comes back as it was written") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  std::vector<Calls> processes;
  for (std::uint64_t p = 0; p < 7; p++) processes.push_back(random_calls(p, 7, p == 3 ? 0 : 2'000));
  const std::vector<Members> communicators{
      Members::world(7), {}, Members::of(std::vector<std::int32_t>{6, 4, 2, 0, 1})};
  write(path, processes, communicators);

  const Reader reader(path);
  CHECK(reader.facts().kind == "recorded");
  CHECK(reader.facts().command == "./app -n 3");
  CHECK(reader.facts().mpi_library == "Open MPI");
  CHECK(reader.facts().started == "2024-06-07T08:09:10");
  CHECK(reader.facts().clock == "wall");
  CHECK(reader.facts().machine == "[cpu]\nspeedup = 2\n");
  CHECK(reader.facts().processes == 7);
  CHECK(reader.facts().tick_ps == 1);
  CHECK(reader.communicators() == communicators);
  CHECK(reader.metrics() == metrics);
  CHECK(reader.extent().calls == 12'000);
  const std::vector<Process> rows = reader.processes(0, 7);
  for (std::int32_t p = 0; p < 7; p++) {
    const auto i = static_cast<std::size_t>(p);
    CHECK(rows[i].calls == processes[i].calls.size());
    CHECK((rows[i].record == Record::complete) == (p % 3 != 1));
    CHECK(rows[i].overhead_ps == Overheads{p * 7, 1, 2, 3, 4});
    CHECK(rows[i].host == (p % 2 == 0 ? "even" : "odd"));
    check_calls(reader, p, processes[i].calls);
  }
}

TEST_CASE("a process with more signatures than fit goes on in another segment") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  Calls calls;
  const auto distinct = static_cast<std::int64_t>(signatures_per_segment) + 10;
  for (int round = 0; round < 2; round++)
    for (std::int64_t i = 0; i < distinct; i++)
      calls.add({.op = Op::Send, .peer = 0, .bytes = i}, {i, i + 1}, i, 1);
  const std::vector<Calls> all = list(std::move(calls), random_calls(1, 2, 10));
  write(path, all, {Members::world(2), {}});

  const Reader reader(path);
  CHECK(check_calls(reader, 0, all[0].calls) == 3);
  CHECK(reader.extent().segments == 4);
}

TEST_CASE("calls that repeat share a signature") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  Calls calls;
  for (std::int64_t i = 0; i < 100'000; i++)
    calls.add({.op = i % 2 == 0 ? Op::Send : Op::Recv, .peer = 0}, {}, i, 1);
  const std::vector<Calls> all = list(std::move(calls));
  write(path, all, {Members::world(1), {}});
  const Reader reader(path);
  CHECK(reader.extent().signatures == 2);
  check_calls(reader, 0, all[0].calls);
}

TEST_CASE("marks of metrics that the trace does not have are refused") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  const auto refused = [&](const Signature& s, std::vector<std::int64_t> items) {
    Calls calls;
    calls.add(s, std::move(items), 0, 0);
    write(path, list(std::move(calls)), {Members::world(1), {}});
    const Reader reader(path);
    CHECK_THROWS_AS(reader.table(reader.segment(0)), Error);
  };
  refused({.op = Op::Region_begin, .tag = 3}, {});
  refused({.op = Op::Region_begin, .tag = -1}, {});
  refused({.op = Op::Region_end, .tag = 2}, {});
  refused({.op = Op::Region_end, .tag = 0}, {1});
  refused({.op = Op::Counter_set, .tag = 1}, {});
  refused({.op = Op::Timer_while, .tag = 2}, {2});
}

TEST_CASE("a trace without metrics has nothing of them, as those of earlier versions") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  Writer writer(path, one_process());
  writer.begin_process(0);
  writer.end_process({});
  writer.commit({Members::world(1), {}});
  CHECK(test::content_of(path).find("metrics") == std::string::npos);
  CHECK(Reader(path).metrics().empty());
}

TEST_CASE("a trace that is not committed leaves nothing behind") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  {
    Writer writer(path, one_process());
    writer.begin_process(0);
    CHECK(std::filesystem::exists(path + ".part"));
  }
  CHECK_FALSE(std::filesystem::exists(path + ".part"));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a trace in a folder that does not exist is refused") {
  CHECK_THROWS_AS(Writer("/no/such/folder/t.h5", one_process()), Error);
}

TEST_CASE("the same calls give the same bits at another time of day") {
  const test::ScratchFolder folder;
  const auto bits = [&](const std::string& name) {
    write(folder.file(name), list(random_calls(1, 2, 100), random_calls(2, 2, 100)), {Members::world(2), {}});
    return test::content_of(folder.file(name));
  };
  const std::string first = bits("a.h5");
  usleep(1'100'000);  // file times count seconds
  CHECK(first == bits("b.h5"));
}

TEST_CASE("members are written as runs") {
  using Ranks = std::vector<std::int32_t>;
  const auto runs = [](const Ranks& ranks) { return Members::of(ranks).runs; };
  using Runs = std::vector<Members::Run>;
  CHECK(runs({}).empty());
  CHECK(runs({5}) == Runs{{5, 1, 1}});
  CHECK(runs({0, 1, 2, 3}) == Runs{{0, 1, 4}});
  CHECK(runs({9, 7, 5}) == Runs{{9, -2, 3}});
  CHECK(runs({0, 4, 8, 1, 5, 9}) == Runs{{0, 4, 3}, {1, 4, 3}});
  CHECK(runs({3, 0}) == Runs{{3, -3, 2}});
  CHECK(Members::world(5).world_ranks() == Ranks{0, 1, 2, 3, 4});
  CHECK(Members{}.size() == 0);

  std::mt19937 random(3);
  for (int i = 0; i < 1'000; i++) {
    Ranks ranks(random() % 20);
    std::iota(ranks.begin(), ranks.end(), 0);
    if (i % 2 == 0) std::shuffle(ranks.begin(), ranks.end(), random);
    const Members m = Members::of(ranks);
    REQUIRE(m.world_ranks() == ranks);
    REQUIRE(m.size() == static_cast<std::int64_t>(ranks.size()));
  }
}
