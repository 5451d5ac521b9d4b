// What a replay is made of, piece by piece (Google Benchmark): exact products, channels, classes of cost,
// calls read from a file, signatures compiled to steps.
//
//   kernels [--benchmark_filter=channel] [--benchmark_repetitions=5]

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/machine.hpp"
#include "common/trace/reader.hpp"
#include "common/units.hpp"
#include "replay/engine/channels.hpp"
#include "replay/engine/channels.tpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/placement.hpp"
#include "replay/network/cost_model.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/scratch.hpp"

namespace {

using namespace simreplay;
using benchmark::State;
using Channels = engine::Channels<engine::OneMachine>;
using Arrival = engine::Arrival<engine::OneMachine>;

/// So many things were done in each iteration.
void count(State& state, std::size_t each) {
  state.SetItemsProcessed(static_cast<std::int64_t>(each) * state.iterations());
}

/// Sizes of messages, none like the one before.
std::vector<std::int64_t> sizes(std::size_t n) {
  std::vector<std::int64_t> all(n);
  for (std::size_t i = 0; i < n; i++) all[i] = static_cast<std::int64_t>(i * 7919 % 65536);
  return all;
}

void ratio_times(State& state) {
  const Ratio per_byte = parse_per_byte("99.37Gb/s");
  const auto all = sizes(4096);
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const std::int64_t n : all) sum += per_byte.times(n);
    benchmark::DoNotOptimize(sum);
  }
  count(state, all.size());
}
BENCHMARK(ratio_times);

/// As many channels as so many processes of a halo exchange in three dimensions have.
std::uint32_t open_channels(Channels& channels, std::int64_t processes) {
  for (std::int32_t p = 0; p < processes; p++)
    for (std::int32_t face = 0; face < 6; face++) channels.open({(p + 1) % 1024, p, 0, face});
  return static_cast<std::uint32_t>(6 * processes);
}

/// A message comes and is received, on one channel after another; `depth` messages wait on each.
void channel_messages(State& state) {
  Channels channels;
  const std::uint32_t n = open_channels(channels, state.range(0));
  for (std::int64_t i = 1; i < state.range(1); i++)
    for (std::uint32_t c = 0; c < n; c++) channels.push_arrival(c, {TimePoint{}, engine::Kind::eager});
  for (auto _ : state)
    for (std::uint32_t c = 0; c < n; c++) {
      channels.push_arrival(c, {TimePoint{Duration{c}}, engine::Kind::eager});
      Arrival arrival;
      benchmark::DoNotOptimize(channels.take_arrival(c, arrival));
    }
  count(state, n);
}
BENCHMARK(channel_messages)->ArgNames({"processes", "depth"})->ArgsProduct({{64, 1024, 16384}, {1, 2}});

/// A receive waits, and its message comes.
void channel_receives(State& state) {
  Channels channels;
  const std::uint32_t n = open_channels(channels, state.range(0));
  for (auto _ : state)
    for (std::uint32_t c = 0; c < n; c++) {
      channels.push_receive(c, {c, 0});
      engine::PendingReceive receive;
      benchmark::DoNotOptimize(channels.take_receive(c, receive));
    }
  count(state, n);
}
BENCHMARK(channel_receives)->ArgName("processes")->Arg(64)->Arg(1024)->Arg(16384);

Machine a_machine() {
  Machine machine;
  for (const auto& [key, value] : {std::pair{"network.model", "loggops"},
                                   {"network.latency", "2us"},
                                   {"send.prolog", "300ns"},
                                   {"receive.epilog", "300ns"},
                                   {"network.gap", "100ns"},
                                   {"network.gap-per-byte", "10ps/B"}})
    apply_setting(machine, key, value, "benchmark");
  return machine;
}

/// Finding the class of cost of a message by its size, as the compiler does.
void cost_lookup(State& state) {
  network::CostClasses costs;
  const auto all = sizes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    for (const std::int64_t n : all) benchmark::DoNotOptimize(costs.send(n, false, network::Protocol::eager));
  count(state, all.size());
}
BENCHMARK(cost_lookup)->ArgName("sizes")->Arg(1)->Arg(1024);

/// A halo exchange written to a file that stays in page cache.
class Trace {
 public:
  Trace(std::int32_t processes, std::int64_t steps) {
    const std::string path = folder_.file("halo3d.h5");
    test::write_generated(test::job_of("halo3d", processes, steps), path);
    reader_ = std::make_unique<trace::Reader>(path);
  }
  const trace::Reader& operator*() const { return *reader_; }
  const trace::Reader* operator->() const { return reader_.get(); }

 private:
  test::ScratchFolder folder_;
  std::unique_ptr<trace::Reader> reader_;
};

/// The columns of calls, as many rows at a time.
void read_calls(State& state) {
  const Trace trace(16, 8'000);
  const auto rows = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint16_t> signature(rows);
  std::vector<std::int64_t> computation(rows);
  const trace::Segment segment = trace->segment(0);
  const std::uint64_t last = segment.calls - rows;
  std::uint64_t row = 0;
  for (auto _ : state) {
    trace->calls(segment, segment.first_call + row, signature, computation);
    row = row + rows > last ? 0 : row + rows;
  }
  count(state, rows);
}
BENCHMARK(read_calls)->ArgName("rows")->Arg(64)->Arg(4096);

/// All channels begin and end here.
struct Everywhere final : engine::Directory {
  std::uint32_t channel_to(const engine::Envelope& e) override { return index.intern(e).first; }
  std::uint32_t channel_from(const engine::Envelope& e) override { return index.intern(e).first; }
  engine::EnvelopeIndex index;
};

/// The signatures of a process that runs a halo exchange, to steps.
void compile_signatures(State& state) {
  constexpr std::int32_t processes = 64;
  const Trace trace(processes, 2);
  const Machine machine = a_machine();
  const engine::Placement placement(machine, processes);
  Everywhere directory;
  engine::Compiler compiler(*trace, machine, placement, directory, false);
  std::vector<trace::SignatureTable> tables;
  for (std::uint64_t p = 0; p < processes; p++) tables.push_back(trace->table(trace->segment(p)));
  std::size_t signatures = 0;
  for (const auto& table : tables) signatures += table.size();
  for (auto _ : state)
    for (std::int32_t p = 0; p < processes; p++)
      benchmark::DoNotOptimize(compiler.compile(p, tables[static_cast<std::size_t>(p)]));
  count(state, signatures);
}
BENCHMARK(compile_signatures);

}  // namespace

BENCHMARK_MAIN();
