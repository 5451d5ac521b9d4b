// Packing: from spools written by hand to traces.

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "capture/pack/communicators.hpp"
#include "capture/pack/packer.hpp"
#include "capture/pack/request_slots.hpp"
#include "capture/recorder/spool_writer.hpp"
#include "common/error.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using spool::Completion;
using spool::Record;
using trace::Members;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::int64_t>;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/simreplay-pack-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The spool of one process, written as the recorder does it. Every call takes 10 ns, 100 ns after the last.
class Script {
 public:
  Script(const Folder& folder, int rank, int size, const char* run = "run", const char* world = "world") {
    REQUIRE(writer_.create((folder / (std::to_string(rank) + "-" + run + "-" + world + ".spool")).c_str()));
    spool::Header& h = writer_.header();
    h.rank = rank;
    h.size = size;
    h.loaded_ns = clock_;
    h.started_ns = 1'000'000'000LL * 1'700'000'000;
    h.overhead_ps.fill(33'000);
    std::strcpy(h.run, run);
    std::strcpy(h.world, world);
    std::strcpy(h.host, "host");
  }

  Script& call(Op op, Record r = {}, const Words& items = {}) {
    r.kind = static_cast<std::uint16_t>(op);
    clock_ += 100;
    r.enter = clock_;
    r.leave = clock_ += 10;
    return put(r, items);
  }
  Script& own_time(std::int64_t ns) {
    Record r;
    r.kind = spool::own_time_kind;
    r.enter = clock_;
    r.leave = clock_ += ns;
    return put(r, {});
  }
  Script& introduce(std::int32_t id, Op creator, const Words& runs) {
    Record r;
    r.kind = spool::communicator_kind;
    r.communicator = id;
    r.tag = static_cast<std::int32_t>(creator);
    r.enter = r.leave = clock_;
    return put(r, runs);
  }
  Script& metric(trace::MetricKind kind, const std::string& name) {
    Record r;
    r.kind = spool::metric_kind;
    r.peer = metrics_++;
    r.tag = static_cast<std::int32_t>(kind);
    r.bytes = static_cast<std::int64_t>(name.size());
    r.enter = r.leave = clock_;
    Words words((name.size() + 7) / 8);
    std::memcpy(words.data(), name.data(), name.size());
    return put(r, words);
  }
  /// Takes no time itself, and 100 ns have gone by.
  Script& mark(Op op, std::int32_t metric, std::int64_t value = 0) {
    Record r{.bytes = value, .kind = static_cast<std::uint16_t>(op), .tag = metric};
    r.enter = r.leave = clock_ += 100;
    return put(r, {});
  }
  Script& mark_overhead(std::int64_t ps) {
    writer_.header().mark_overhead_ps = ps;
    return *this;
  }
  Script& irecv(std::uint32_t request, std::int32_t source, std::uint16_t flags = 0, std::int32_t tag = 5) {
    return call(Op::Irecv, {.bytes = 999, .flags = flags, .peer = source, .tag = tag, .request = request});
  }
  Script& wait(const std::vector<Completion>& completions, Op op = Op::Waitall) {
    Words words(completions.size() * spool::words_per_completion);
    std::memcpy(words.data(), completions.data(), words.size() * sizeof(std::int64_t));
    return call(op, {}, words);
  }
  void end() {
    call(Op::Finalize);
    writer_.header().finalized = 1;
    writer_.header().exited_ns = clock_ + 500;
  }

 private:
  Script& put(Record& r, const Words& items) {
    r.items = static_cast<std::uint32_t>(items.size());
    const std::size_t bytes = sizeof r + items.size() * sizeof(std::int64_t);
    std::byte* place = writer_.reserve(bytes);
    REQUIRE(place != nullptr);
    std::memcpy(place, &r, sizeof r);
    if (!items.empty()) std::memcpy(place + sizeof r, items.data(), items.size() * sizeof(std::int64_t));
    writer_.publish(bytes);
    return *this;
  }

  recorder::SpoolWriter writer_;
  std::int64_t clock_ = 1000;
  std::int32_t metrics_ = 0;
};

struct Call {
  trace::Signature signature;
  Words items;
  std::int64_t computation, duration;
};

/// All calls of one process.
std::vector<Call> calls_of(const std::string& path, std::int32_t process) {
  const trace::Reader reader(path);
  const auto segments = reader.first_segments(process, 1);
  std::vector<Call> calls;
  for (std::uint64_t row = segments[0]; row < segments[1]; row++) {
    const trace::Segment segment = reader.segment(row);
    const trace::SignatureTable table = reader.table(segment);
    std::vector<std::uint16_t> numbers(segment.calls);
    std::vector<std::int64_t> computation(segment.calls), duration(segment.calls);
    reader.calls(segment, segment.first_call, numbers, computation);
    reader.durations(segment.first_call, duration);
    for (std::size_t i = 0; i < numbers.size(); i++) {
      Call c{table[numbers[i]], {}, computation[i], duration[i]};
      c.items.assign(c.signature.items.begin(), c.signature.items.end());
      c.signature.items = {};
      calls.push_back(c);
    }
  }
  return calls;
}

struct Packed {
  std::vector<pack::World> worlds;
  std::vector<std::string> remarks;
  pack::Summary summary;
};

Packed pack_folder(const Folder& folder) {
  Packed p;
  p.worlds = pack::find_worlds(folder.path(), "run", p.remarks);
  REQUIRE(p.worlds.size() == 1);
  p.summary = pack::pack(p.worlds[0], "command", folder / "t.h5");
  return p;
}

std::vector<trace::Process> processes_of(const Folder& folder) {
  const trace::Reader reader(folder / "t.h5");
  return reader.processes(0, reader.facts().processes);
}

}  // namespace

TEST_CASE("a request takes the smallest slot that is free") {
  pack::RequestSlots slots;
  CHECK(slots.open(10) == 0);
  CHECK(slots.open(11) == 1);
  CHECK(slots.open(12) == 2);
  CHECK(slots.close(11) == 1);
  CHECK(slots.close(10) == 0);
  CHECK(slots.open(13) == 0);
  CHECK(slots.find(12) == 2);
  CHECK(slots.open(14) == 1);
  CHECK(slots.open(15) == 3);
  CHECK_FALSE(slots.close(99).has_value());
}

TEST_CASE("the members of a communicator agree on its id") {
  const auto local = [](Members m, Op creator) {
    return pack::LocalCommunicator{creator, std::move(m), {}, 0};
  };
  const Members pair{{{0, 1, 2}}}, reversed{{{1, -1, 2}}};
  pack::CommunicatorIds ids(2);
  std::vector<pack::LocalCommunicator> first{local(pair, Op::Comm_split), local(pair, Op::Comm_dup),
                                             local(pair, Op::Comm_split), local(reversed, Op::Comm_split)};
  std::vector<pack::LocalCommunicator> second = first;
  ids.assign(first);
  ids.assign(second);
  for (std::size_t i = 0; i < first.size(); i++) CHECK(first[i].id == static_cast<std::int32_t>(i) + 2);
  for (std::size_t i = 0; i < first.size(); i++) CHECK(second[i].id == first[i].id);
  REQUIRE(ids.members().size() == 6);
  CHECK(ids.members()[5] == reversed);
}

TEST_CASE("both sides of an intercommunicator have one id, and address each other") {
  const Members a{{{1, 1, 1}}}, b{{{0, 2, 2}}};  // (1) and (0, 2)
  std::vector<pack::LocalCommunicator> of_1{{Op::Intercomm_create, a, b, 0}},
      of_2{{Op::Intercomm_create, b, a, 0}};
  pack::CommunicatorIds ids(3);
  ids.assign(of_1);
  ids.assign(of_2);
  CHECK(of_1[0].id == 2);
  CHECK(of_2[0].id == 2);
  CHECK(ids.members()[2].world_ranks() == std::vector<std::int32_t>{0, 2, 1});
  const pack::Ranks ranks(1, 3, of_1);
  CHECK(ranks.world_rank(2, 1) == 2);
  CHECK(ranks.world_rank(2, 2) == trace::nobody);
  CHECK(ranks.world_rank(2, spool::any_rank) == trace::anybody);
  CHECK(ranks.world_rank(2, spool::own_rank) == 1);
  CHECK(ranks.world_rank(trace::self_id, 0) == 1);
  CHECK(ranks.world_rank(trace::world_id, 2) == 2);
}

TEST_CASE("times are gaps and durations, without what the recorder took") {
  Folder folder;
  Script(folder, 0, 1).call(Op::Init).own_time(1000).call(Op::Barrier).call(Op::Barrier).end();
  const Packed packed = pack_folder(folder);
  CHECK(packed.remarks.empty());
  CHECK(packed.summary.incomplete.empty());
  const std::vector<Call> calls = calls_of(folder / "t.h5", 0);
  REQUIRE(calls.size() == 5);
  CHECK(calls[4].signature.op == Op::Exit);
  CHECK(calls[4].computation == 500);
  CHECK(calls[4].duration == 0);
  for (std::size_t i = 0; i < 4; i++) {
    CHECK(calls[i].computation == 100);
    CHECK(calls[i].duration == 10);
  }
  const trace::Process process = processes_of(folder)[0];
  CHECK(process.record == trace::Record::complete);
  CHECK(process.overhead_ps[0] == 33'000);
  CHECK(process.host == "host");
  const trace::Reader reader(folder / "t.h5");
  CHECK(reader.facts().command == "command");
  CHECK(reader.facts().started == "2023-11-14T22:13:20Z");
  CHECK(reader.facts().tick_ps == 1000);
}

TEST_CASE("receives are told by their completions") {
  Folder folder;
  const Completion received{.request = 1, .flags = Completion::received, .source = 1, .tag = 42, .bytes = 16};
  const Completion exact{.request = 2, .flags = Completion::received, .source = 1, .tag = 5, .bytes = 8};
  const Completion cancelled{.request = 3, .flags = Completion::cancelled};
  Script(folder, 0, 2)
      .irecv(1, spool::any_rank, trace::any_source | trace::any_tag, spool::any_tag)
      .irecv(2, 1)
      .irecv(3, spool::any_rank, trace::any_source)
      .call(Op::Isend, {.bytes = 7, .peer = 1, .tag = 6, .request = 4})
      .wait({exact, {.request = 4}})
      .wait({{.request = 3}}, Op::Cancel)
      .wait({cancelled}, Op::Wait)
      .irecv(5, spool::any_rank, trace::any_source)  // never completed
      .wait({received}, Op::Wait)
      .end();
  Script(folder, 1, 2).end();
  pack_folder(folder);
  const std::vector<Call> calls = calls_of(folder / "t.h5", 0);
  const auto check = [&](std::size_t i, std::int32_t peer, std::int32_t tag, std::int64_t bytes,
                         std::int32_t slot) {
    const trace::Signature& s = calls[i].signature;
    CHECK(s.peer == peer);
    CHECK(s.tag == tag);
    CHECK(s.bytes == bytes);
    CHECK(s.request == slot);
  };
  check(0, 1, 42, 16, 0);
  CHECK(calls[0].signature.flags == (trace::any_source | trace::any_tag));
  check(1, 1, 5, 8, 1);
  check(2, trace::anybody, 5, 999, 2);
  CHECK(calls[2].signature.flags == (trace::any_source | trace::cancelled));
  check(3, 1, 6, 7, 3);
  CHECK(calls[4].items == Words{1, 3});
  CHECK(calls[5].items == Words{2});
  CHECK(calls[6].items == Words{2});
  check(7, trace::anybody, 5, 999, 1);
  CHECK(calls[8].items == Words{0});
}

TEST_CASE("packing again gives the same") {
  Folder folder;
  const Completion received{.request = 1, .flags = Completion::received, .source = 0, .tag = 42, .bytes = 16};
  Script(folder, 0, 1)
      .irecv(1, spool::any_rank, trace::any_source | trace::any_tag, spool::any_tag)
      .wait({received})
      .end();
  for (int i = 0; i < 2; i++) {
    pack_folder(folder);
    const trace::Signature s = calls_of(folder / "t.h5", 0)[0].signature;
    CHECK(s.peer == 0);
    CHECK(s.tag == 42);
    CHECK(s.bytes == 16);
  }
}

TEST_CASE("peers are ranks of the world, communicators have ids of the trace") {
  Folder folder;
  for (const int rank : {0, 1}) {
    Script script(folder, rank, 2);
    script.introduce(2, Op::Comm_split, {1, 1, -1, 2, 0});  // (1, 0)
    script.call(Op::Comm_split, {}, {2});
    script.call(Op::Send, {.bytes = 8, .communicator = 2, .peer = 0});
    script.call(Op::Sendrecv, {.bytes = 8, .communicator = 2, .peer = spool::no_rank}, {1, 9, 4});
    script.call(Op::Comm_free, {.communicator = 2});
    script.end();
  }
  pack_folder(folder);
  for (const int rank : {0, 1}) {
    const std::vector<Call> calls = calls_of(folder / "t.h5", rank);
    CHECK(calls[0].items == Words{2});
    CHECK(calls[1].signature.peer == 1);
    CHECK(calls[1].signature.communicator == 2);
    CHECK(calls[2].signature.peer == trace::nobody);
    CHECK(calls[2].items == Words{0, 9, 4});
    CHECK(calls[3].signature.communicator == 2);
  }
  CHECK(trace::Reader(folder / "t.h5").communicators()[2].world_ranks() == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("calls of threads that overlap follow each other") {
  Folder folder;
  {
    recorder::SpoolWriter writer;
    REQUIRE(writer.create((folder / "0.spool").c_str()));
    writer.header().size = 1;
    std::strcpy(writer.header().run, "run");
    for (const auto& [enter, leave] : {std::pair{100, 500}, std::pair{200, 400}, std::pair{450, 600}}) {
      Record r;
      r.kind = static_cast<std::uint16_t>(Op::Barrier);
      r.enter = enter;
      r.leave = leave;
      std::memcpy(writer.reserve(sizeof r), &r, sizeof r);
      writer.publish(sizeof r);
    }
  }
  pack_folder(folder);
  const std::vector<Call> calls = calls_of(folder / "t.h5", 0);
  CHECK(calls[0].computation == 100);
  CHECK(calls[0].duration == 400);
  CHECK(calls[1].computation == 0);
  CHECK(calls[1].duration == 0);
  CHECK(calls[2].duration == 100);
}

TEST_CASE("processes that are missing or did not end are incomplete") {
  Folder folder;
  Script(folder, 0, 3).call(Op::Init).end();
  Script(folder, 2, 3).call(Op::Init).call(Op::Barrier);
  const Packed packed = pack_folder(folder);
  CHECK(packed.summary.incomplete == std::vector<std::int32_t>{1, 2});
  CHECK(packed.summary.processes == 3);
  CHECK(calls_of(folder / "t.h5", 1).empty());
  CHECK(calls_of(folder / "t.h5", 2).size() == 2);
}

TEST_CASE("spools of other runs and files that are no spools are left out, worlds are kept apart") {
  Folder folder;
  Script(folder, 0, 1).end();
  Script(folder, 0, 1, "another").end();
  Script(folder, 0, 2, "run", "world 2").end();
  std::ofstream(folder / "short.spool") << "simspool";
  std::ofstream(folder / "long.spool") << std::string(300'000, 'x');
  std::vector<std::string> remarks;
  const std::vector<pack::World> worlds = pack::find_worlds(folder.path(), "run", remarks);
  CHECK(worlds.size() == 2);
  CHECK(remarks.size() == 3);
}

TEST_CASE("any bytes give a trace or an error") {
  Folder folder;
  const Completion received{.request = 1, .flags = Completion::received, .source = 0, .tag = 42, .bytes = 16};
  Script(folder, 0, 2)
      .call(Op::Init)
      .introduce(2, Op::Intercomm_create, {1, 0, 1, 1, 1, 1, 1, 1})
      .call(Op::Intercomm_create, {}, {2})
      .irecv(1, spool::any_rank, trace::any_source)
      .wait({received})
      .call(Op::Sendrecv, {.bytes = 8, .communicator = 2, .peer = 0}, {0, 9, 4})
      .call(Op::Alltoallv, {.bytes = 8}, {1, 2, 3, 4})
      .end();
  const std::string path = folder / "0-run-world.spool";
  std::ifstream file(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

  std::mt19937 random(2);
  for (int i = 0; i < 200; i++) {
    std::string bad = good;
    for (int k = 0; k < 3; k++) {
      const std::size_t at = random() % 3 == 0 ? random() % 256 : spool::header_bytes + random() % 800;
      bad[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    std::ofstream(path, std::ios::binary) << bad;
    std::vector<std::string> remarks;
    try {
      for (const pack::World& world : pack::find_worlds(folder.path(), "run", remarks))
        if (world.spools.size() < 1000) pack::pack(world, "command", folder / "t.h5");
    } catch (const Error& error) {
      CHECK(std::string(error.what()) != "");
    }
  }
}

TEST_CASE("metrics of one kind and name are one, numbered in the order of processes") {
  using trace::MetricKind;
  Folder folder;
  Script(folder, 0, 3)
      .mark_overhead(60'400)
      .metric(MetricKind::timer, "a")
      .metric(MetricKind::counter, "b")
      .call(Op::Init)
      .mark(Op::Timer_while, 0, 1)
      .mark(Op::Counter_set, 1, -7)
      .call(Op::Barrier)
      .end();
  Script(folder, 1, 3).call(Op::Init).end();
  Script(folder, 2, 3)
      .metric(MetricKind::region, "a")
      .metric(MetricKind::counter, "b")
      .metric(MetricKind::timer, "a name of more than eight bytes")
      .call(Op::Init)
      .mark(Op::Region_begin, 0)
      .mark(Op::Counter_add, 1, 3)
      .mark(Op::Timer_start, 2)
      .end();
  const Packed packed = pack_folder(folder);
  CHECK(packed.summary.incomplete.empty());
  const trace::Reader reader(folder / "t.h5");
  CHECK(reader.metrics() ==
        std::vector<trace::Metric>{{MetricKind::timer, "a"},
                                   {MetricKind::counter, "b"},
                                   {MetricKind::region, "a"},
                                   {MetricKind::timer, "a name of more than eight bytes"}});
  const std::vector<Call> first = calls_of(folder / "t.h5", 0), third = calls_of(folder / "t.h5", 2);
  REQUIRE(first.size() == 6);
  CHECK(first[1].signature.tag == 0);
  CHECK(first[1].items == Words{1});
  CHECK(first[2].signature.tag == 1);
  CHECK(first[2].items == Words{-7});
  CHECK(first[2].duration == 0);
  // What recording the mark before took is taken off.
  CHECK(first[1].computation == 100);
  CHECK(first[2].computation == 40);
  CHECK(first[3].computation == 40);
  CHECK(first[4].computation == 100);
  REQUIRE(third.size() == 6);
  CHECK(third[1].signature.tag == 2);
  CHECK(third[2].signature.tag == 1);
  CHECK(third[3].signature.tag == 3);
  for (const Call& c : third) CHECK(c.signature.bytes == 0);
}

TEST_CASE("a mark of a metric that the spool does not name is damage") {
  Folder folder;
  Script(folder, 0, 1).call(Op::Init).mark(Op::Region_begin, 0).end();
  const Packed packed = pack_folder(folder);
  REQUIRE(packed.summary.remarks.size() == 1);
  CHECK_THAT(packed.summary.remarks[0], Catch::Matchers::ContainsSubstring("damaged"));
  CHECK(calls_of(folder / "t.h5", 0).size() == 1);
}
