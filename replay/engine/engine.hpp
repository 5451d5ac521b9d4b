#pragma once
// The replay: every rank runs its virtual processors as far as the messages they have allow, exchanges
// simulated send times with the other ranks, and ends when the service ring says that nothing is left.

#include <mpi.h>

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "replay/engine/channels.hpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/exchange.hpp"
#include "replay/engine/noise.hpp"
#include "replay/engine/partition.hpp"
#include "replay/engine/placement.hpp"
#include "replay/engine/ring.hpp"
#include "replay/engine/virtual_processor.hpp"
#include "replay/observe/metrics.hpp"
#include "replay/observe/recorded_times.hpp"

namespace simreplay::engine {

/// How this rank's part of the replay ended.
struct Outcome {
  std::vector<Account> accounts;  // of the processes from `first_process`
  std::int32_t first_process = 0;
  std::vector<std::string> blocked;  // one line per process that could not go on, at most 20 of this rank
  std::int64_t blocked_processes = 0;
  std::int64_t cut_processes = 0;       // whose records end before MPI_Finalize
  std::string failure;                  // an error on this rank
  bool failed = false;                  // somewhere
  std::vector<std::string> unreceived;  // messages without a receive, at most 20 lines
  std::int64_t unreceived_messages = 0;
  std::vector<trace::Metric> metrics;     // regions, counters and timers of the trace
  std::vector<observe::Row> metric_rows;  // of the processes of this rank, ascending
  std::vector<std::string> unpaired;      // regions and timers without end or beginning, at most 20 lines
  std::int64_t unpaired_metrics = 0;
};

class Engine final : private Directory {
 public:
  /// `rewritten` takes the predicted times of each call; may be null. `progress` hears the share of this
  /// rank's calls that is done and the simulated time, a few times a second.
  using Progress = std::function<void(double share, TimePoint now)>;
  Engine(const trace::Reader& trace, const Machine& machine, MPI_Comm comm, trace::Rewriter* rewritten,
         Progress progress);

  /// Collective. Throws nothing: errors are in the outcome.
  Outcome run();

 private:
  // Directory
  std::uint32_t channel_to(const Envelope& e) override;
  std::uint32_t channel_from(const Envelope& e) override;

  void set_up();
  void add_skipped();
  void replay_ready();
  void run(VirtualProcessor& v);
  bool run_call(VirtualProcessor& v);
  bool interpret(VirtualProcessor& v, Lane& lane, Slot* slots, const Step* steps, std::uint32_t& step,
                 std::uint32_t end, std::uint32_t row);
  bool run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots, std::span<const Step> steps,
                 std::uint32_t& step, std::uint32_t end, std::uint32_t row);
  bool run_rare_step(VirtualProcessor& v, Lane& lane, Slot* slots, const Step* steps, std::uint32_t& step,
                     std::uint32_t row);
  Duration computation_before(VirtualProcessor& v, const Call& call, TimePoint begin);
  Duration computation_of_thread(VirtualProcessor& v, std::uint16_t signature, TimePoint begin);
  Duration special_computation(VirtualProcessor& v, std::int64_t gap_ps, std::int64_t overhead_ps,
                               TimePoint begin);
  void note_duration(VirtualProcessor& v, std::uint32_t row, Duration taken) const;
  TimePoint file_done(const VirtualProcessor& v, TimePoint now, std::uint32_t row) const;
  void release(VirtualProcessor& v, Slot& slot, std::uint32_t number);
  void part_into_threads(VirtualProcessor& v);
  void run_threads(VirtualProcessor& v);
  bool begin_call(VirtualProcessor& v);
  void take_up(VirtualProcessor& v, const Thread& thread) const;
  void put_down(const VirtualProcessor& v, Thread& thread) const;
  bool go_on_inside(VirtualProcessor& v);
  bool go_on(VirtualProcessor& v, Thread& thread);
  void settle(VirtualProcessor& v);
  void fork(VirtualProcessor& v, const Step& s, std::span<const Step> body);
  void run_strands(VirtualProcessor& v);
  void join(VirtualProcessor& v, Strand& strand);
  static TimePoint& strand_end(VirtualProcessor& v, std::uint32_t communicator);
  bool refill(VirtualProcessor& v);
  void next_segment(VirtualProcessor& v);
  void end(VirtualProcessor& v) const;
  void cut(VirtualProcessor& v);
  Duration check_times(const VirtualProcessor& v) const;
  [[noreturn]] void refuse_times(const VirtualProcessor& v, std::int64_t most) const;
  void mark(VirtualProcessor& v, const Lane& lane, TimePoint now, const Step& s, std::int64_t duration);
  observe::Moment moment(const Lane& lane, TimePoint now, Duration computation,
                         const observe::RecordedTimes::Times& recorded) const;
  void add_predicates(VirtualProcessor& v);
  void set_region_speed(VirtualProcessor& v, std::uint16_t thread);
  void read_recorded_times(VirtualProcessor& v);
  void finish_metrics(VirtualProcessor& v, Outcome& o);
  static constexpr TimePoint start_of_shifts{Duration{std::int64_t{1} << 61}};  // far from 0 and the end
  void dispatch(std::uint32_t channel, Arrival arrival);
  void deliver(std::uint32_t channel, Arrival arrival);
  void deliver_batched(std::uint32_t channel, Arrival arrival);
  void deliver_elsewhere(std::uint32_t channel, Arrival arrival, PendingReceive r);
  void keep(std::uint32_t channel, Arrival arrival);
  TimePoint match(std::uint32_t channel, Kind kind, TimePoint time, const network::Cost& cost);
  void complete(Slot& slot, const Arrival& arrival);
  void complete_matched(Slot& slot, Kind kind, TimePoint matched);
  void make_ready(VirtualProcessor& v);
  bool take_batches();
  void await_message();
  Outcome outcome();
  static Accesses& accesses(VirtualProcessor& v, std::uint32_t window);
  std::uint32_t awaited_channel(const VirtualProcessor& v) const;
  std::string describe_block(const VirtualProcessor& v) const;
  VirtualProcessor& processor(std::uint32_t local) { return processors_[local]; }
  std::uint32_t number_of(const VirtualProcessor& v) const {
    return static_cast<std::uint32_t>(&v - processors_.data());
  }

  // A channel number for senders: this bit says that it ends on another rank.
  static constexpr std::uint32_t is_remote = 1U << 31;

  const trace::Reader& trace_;
  trace::Rewriter* rewritten_;
  Progress progress_;
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  Partition partition_;
  Exchange exchange_;
  Ring ring_;
  Channels channels_;
  Placement placement_;
  Compiler compiler_;
  Noise noise_;
  bool as_recorded_;
  bool is_special_;  // computation: with noise, or as recorded
  Ratio io_slowdown_;
  std::int64_t tick_ps_ = 1;
  WindowPool windows_;
  std::vector<VirtualProcessor> processors_;
  // Of each processor, apart from it so that a message need not touch the rest: its slots, and for which of
  // them it waits.
  std::vector<Slot*> slots_;
  std::vector<std::uint32_t> awaited_;
  static constexpr std::uint32_t nothing = no_slot, anything = no_slot - 1;
  /// What is known of the regions, counters and timers of a process.
  struct Observed {
    observe::RecordedTimes recorded;
    observe::Metrics metrics;
  };
  Observed& observed(const VirtualProcessor& v) { return observed_[number_of(v)]; }
  std::vector<Observed> observed_;  // by processor; empty if the trace has none of these
  std::deque<std::uint32_t> ready_;
  std::vector<std::vector<std::uint32_t>> announced_;  // rank, its number -> channel here
  std::vector<std::uint32_t> answer_channel_;          // of each channel, once it was needed
  std::string failure_;
  std::uint64_t own_calls_ = 0, done_calls_ = 0;
};

}  // namespace simreplay::engine
