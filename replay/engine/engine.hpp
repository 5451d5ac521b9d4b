#pragma once
// The replay: every rank runs its virtual processors as far as the messages they have allow, exchanges
// simulated send times with the other ranks, and ends when the service ring says that nothing is left.

#include <mpi.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/machine.hpp"
#include "common/performance/figures.hpp"
#include "common/trace/reader.hpp"
#include "common/trace/writer.hpp"
#include "replay/engine/channels.hpp"
#include "replay/engine/compiler.hpp"
#include "replay/engine/cost_table.hpp"
#include "replay/engine/exchange.hpp"
#include "replay/engine/mailboxes.hpp"
#include "replay/engine/noise.hpp"
#include "replay/engine/partition.hpp"
#include "replay/engine/placement.hpp"
#include "replay/engine/ring.hpp"
#include "replay/engine/virtual_processor.hpp"
#include "replay/engine/windows.hpp"
#include "replay/observe/collector.hpp"
#include "replay/observe/metrics.hpp"
#include "replay/observe/recorded_times.hpp"

namespace simreplay::engine {

/// How this rank's part of the replay ended.
struct Outcome {
  std::vector<std::vector<Account>> accounts;  // by machine, of the processes of this rank
  std::vector<std::int32_t> processes;         // which these are; empty: those of the ranks follow each other
  std::vector<std::string> blocked;  // one line per process that could not go on, at most 20 of this rank
  std::int64_t blocked_processes = 0;
  std::int64_t cut_processes = 0;       // whose records end before MPI_Finalize
  std::string failure;                  // an error on this rank
  bool failed = false;                  // somewhere
  bool needs_single_machines = false;   // not a fault: this trace is not for several machines side by side
  std::vector<std::string> unreceived;  // messages without a receive, at most 20 lines
  std::int64_t unreceived_messages = 0;
  std::vector<trace::Metric> metrics;     // regions, counters and timers of the trace
  std::vector<observe::Row> metric_rows;  // of the processes of this rank, ascending
  std::vector<std::string> unpaired;      // regions and timers without end or beginning, at most 20 lines
  std::int64_t unpaired_metrics = 0;
  network::Report network;  // on rank 0

  // Of an observed replay.
  bool is_observed = false;
  std::vector<performance::Cells> causes;         // of waiting, of the processes of this rank
  std::vector<performance::Profile> profiles;     // of the same
  std::vector<performance::Channel> channels;     // that begin or end here
  std::vector<performance::Cells> channel_cells;  // what this rank knows of them
  void add(const Envelope& e, const observe::Sending& s);
  void add(const Envelope& e, const observe::Receiving& r);
  void add_unreceived(const Envelope& e, std::int64_t messages);
};

constexpr std::size_t lines_shown = 20;
constexpr std::size_t window_rows_at_most = 2048;

/// The message of a channel, for people: "a message from process 3 ...".
std::string describe(const Envelope& e, std::int32_t peer, const char* preposition);

/// Thrown by a replay of several machines.
class NeedsSingleMachines : public std::runtime_error {
 public:
  NeedsSingleMachines() : std::runtime_error("replays machines one by one") {}
};

/// Hears the share of this rank's calls that is done and the simulated time, a few times a second.
using Progress = std::function<void(double share, TimePoint now)>;

/// What the replay in the order of simulated time keeps; maps are by the id of the message that began it.
struct InOrder {
  InOrder(MPI_Comm comm, const Machine& machine, network::Network* network);

  struct Asking {  // for a receive
    std::uint32_t channel;
    std::int64_t bytes;
    Duration lead;  // from the answer to the data
  };
  struct Awaiting {  // data that were asked for
    PendingReceive receive;
    std::uint32_t channel;
    TimePoint late;  // when their receive was posted, if they were there before
  };
  struct Accessing {  // a window
    PendingReceive request;
    std::uint32_t window;
    bool brings;  // data
  };
  bool matching_is_simulated, gap_by_arrival;
  Duration access_answer;  // from the arrival of an access to a window to the answer
  Windows windows;
  Mailboxes mailboxes;  // where matching is simulated
  std::unordered_map<std::int64_t, Asking> asking;
  std::unordered_map<std::int64_t, Awaiting> awaiting;
  std::unordered_map<std::int64_t, Accessing> accessing;
};
struct NotInOrder {
  NotInOrder(MPI_Comm, const Machine&, network::Network*) {}
};

/// Several machines side by side must agree in what decides on steps (see shape_of in sweep/passes.hpp);
/// metrics of the program, threads, noise, the machine that recorded and predicted traces are for one machine
/// alone.
template <class Clock>
class Engine final : private Directory {
 public:
  /// `rewritten` takes the predicted times of each call; may be null.
  /// `network` joins the nodes of the machine; null where messages do not disturb each other.
  Engine(const trace::Reader& trace, std::span<const Machine> machines, MPI_Comm comm,
         trace::Rewriter* rewritten, Progress progress, network::Network* network = nullptr);

  /// Collective. Throws nothing: errors are in the outcome.
  Outcome run();

 private:
  using Time = typename Clock::Time;
  using Span = typename Clock::Span;
  using Arrival = engine::Arrival<Clock>;
  using Slot = engine::Slot<Clock>;
  using Lane = engine::Lane<Clock>;
  using Strand = engine::Strand<Clock>;
  using Thread = engine::Thread<Clock>;
  using Threads = engine::Threads<Clock>;
  using Accesses = engine::Accesses<Clock>;
  using VirtualProcessor = engine::VirtualProcessor<Clock>;
  using Cost = engine::Cost<Clock>;
  static constexpr bool is_single = Clock::machines == 1;
  static constexpr std::uint32_t free = network::CostClasses::free;

  // Directory
  std::uint32_t channel_to(const Envelope& e) override;
  std::uint32_t channel_from(const Envelope& e) override;

  /// What a processor waits for: a slot, or a message of a channel.
  using Awaited = std::uint64_t;
  static constexpr Awaited on_channel = Awaited{1} << 32, nothing = Awaited{1} << 33, anything = nothing + 1;
  static Awaited awaits(const Lane& lane) {
    if (lane.blocked == Blocked::on_accesses) return anything;
    return lane.blocked_on | (lane.blocked == Blocked::on_channel ? on_channel : 0);
  }
  void wake(std::uint32_t processor, Awaited what);

  void set_up();
  void add_skipped();
  void swallow(std::uint32_t channel);
  void replay_ready();
  void look_ahead();
  void run(VirtualProcessor& v);
  class Apart;
  template <bool is_plain>
  class CallByCall;
  template <bool is_plain>
  bool run_calls(VirtualProcessor& v);
  template <class Flow>
  bool interpret(VirtualProcessor& v, Lane& lane, Slot* slots, Flow& flow);
  bool run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots, std::span<const Step> steps,
                 std::uint32_t& step, std::uint32_t end, std::uint32_t row);
  std::uint32_t run_rare_step(VirtualProcessor& v, Lane& lane, Slot* slots, const Step* at_step,
                              std::uint32_t row);
  static void wait_until(const Time& ready, Time& now, Lane& lane);
  static void pass_adapter(const Time& ready, const Cost& cost, Time& now, Lane& lane);
  Time matched(const Slot& slot, Time now, Lane& lane) const;
  std::int64_t gap_before(VirtualProcessor& v, const Call& call, std::uint32_t row) const;
  Duration computation_before(VirtualProcessor& v, const Call& call, std::uint32_t row,
                              TimePoint begin) requires(is_single);
  std::size_t row_of(const VirtualProcessor& v) const {
    return partition_.is_in_order() ? v.number : static_cast<std::size_t>(v.process);
  }
  std::int64_t recorded_ticks(VirtualProcessor& v, std::uint32_t row) const;
  std::int64_t recorded_ticks_alone(const VirtualProcessor& v, std::uint32_t row) const;
  void read_window(VirtualProcessor& v) const;
  void read_durations(VirtualProcessor& v) const;
  Duration recorded_time(const Window& w) const;
  Duration recorded_up_to(const VirtualProcessor& v, std::uint32_t row) const;
  static std::vector<Placement> placements_on(std::span<const Machine> machines, const trace::Reader& trace);
  const typename Clock::Slowdown* slowdown_of(std::int32_t process);
  const typename Clock::Slowdown* slowdown_at(std::array<Ratio, Clock::machines> speedups);
  std::string name_of_call(const VirtualProcessor& v, std::size_t row) const;
  void note_duration(VirtualProcessor& v, std::uint32_t row, Duration taken) const requires(is_single);
  Time file_done(VirtualProcessor& v, const Time& now, std::uint32_t row) const;
  void release(VirtualProcessor& v, Slot& slot, std::uint32_t number);
  void part_into_threads(VirtualProcessor& v) requires(is_single);
  void run_threads(VirtualProcessor& v) requires(is_single);
  bool begin_call(VirtualProcessor& v) requires(is_single);
  void take_up(VirtualProcessor& v, const Thread& thread) const requires(is_single);
  void put_down(const VirtualProcessor& v, Thread& thread) const requires(is_single);
  bool go_on_inside(VirtualProcessor& v) requires(is_single);
  bool go_on(VirtualProcessor& v, Thread& thread) requires(is_single);
  void settle(VirtualProcessor& v) requires(is_single);
  void fork(VirtualProcessor& v, Lane& lane, const Step& s, std::span<const Step> body);
  void run_strands(VirtualProcessor& v);
  void join(VirtualProcessor& v, Strand& strand);
  static Time& strand_end(VirtualProcessor& v, std::uint32_t communicator);
  bool refill(VirtualProcessor& v);
  void next_segment(VirtualProcessor& v);
  void end(VirtualProcessor& v) const;
  void cut(VirtualProcessor& v);
  void check(const VirtualProcessor& v, const std::int64_t* ticks, std::size_t rows) const;
  [[noreturn]] void refuse_times(const VirtualProcessor& v, const std::int64_t* ticks,
                                 std::int64_t most) const;
  void mark(VirtualProcessor& v, const Lane& lane, TimePoint now, const Step& s,
            std::uint32_t row) requires(is_single);
  observe::Moment moment(const Lane& lane, TimePoint now, Duration computation,
                         const observe::RecordedTimes::Times& recorded) const requires(is_single);
  void add_predicates(VirtualProcessor& v) requires(is_single);
  void set_region_speed(VirtualProcessor& v, std::uint16_t thread) requires(is_single);
  void read_recorded_times(VirtualProcessor& v) requires(is_single);
  void finish_metrics(VirtualProcessor& v, Outcome& o) requires(is_single);
  static constexpr TimePoint start_of_shifts{Duration{std::int64_t{1} << 61}};  // far from 0 and the end
  void dispatch(std::uint32_t channel, const Arrival& arrival);
  void deliver(std::uint32_t channel, const Arrival& arrival);
  void deliver_batched(std::uint32_t channel, const Arrival& arrival);
  void deliver_elsewhere(std::uint32_t channel, const Arrival& arrival, PendingReceive r);
  Time match(std::uint32_t channel, Kind kind, const Time& time, std::uint32_t cost, bool is_late);
  void complete(Slot& slot, const Arrival& arrival, PendingReceive r);
  void complete_matched(Slot& slot, const Arrival& arrival, PendingReceive r, bool is_late);
  std::uint32_t answers_of(std::uint32_t channel);
  Slot& slot_of(PendingReceive r);
  void send(VirtualProcessor& v, Lane& lane, const Step& s, const Time& entered, const Time& now);
  void make_ready(VirtualProcessor& v);
  bool take_batches();
  void await_message();
  bool run_freely();
  template <class Do>
  void guarded(Do&& what);

  // In order (ordered.tpp).
  static Partition partition_of(const trace::Reader& trace, const Machine& machine, MPI_Comm comm,
                                const network::Network* network);
  bool run_in_order() requires(Clock::is_ordered);
  void hold_arrivals() requires(Clock::is_ordered);
  void bring(const Due& due) requires(Clock::is_ordered);
  void send_in_order(VirtualProcessor& v, Lane& lane, const Step& s, Kind kind, const Time& entered,
                     const Time& now) requires(Clock::is_ordered);
  void cross(std::uint32_t channel, std::int64_t id, std::int64_t bytes,
             const Time& time) requires(Clock::is_ordered);
  bool is_answered_across(std::uint32_t channel, const Arrival& request, const Time& matched,
                          std::uint32_t cost, PendingReceive r);
  void send_data(const Due& clear) requires(Clock::is_ordered);
  void take_data(const Due& data) requires(Clock::is_ordered);
  void abandon_in_order(std::uint32_t channel, PendingReceive r) requires(Clock::is_ordered);
  auto through_adapter(std::uint32_t processor, std::uint32_t cost,
                       const Time& ready) requires(Clock::is_ordered);
  std::uint32_t cost_of_receive(std::uint32_t channel, std::int64_t bytes) requires(Clock::is_ordered);
  bool has_mailbox(std::uint32_t channel) const requires(Clock::is_ordered);
  void deliver_to_mailbox(std::uint32_t channel, const Arrival& arrival) requires(Clock::is_ordered);
  void receive_from_mailbox(VirtualProcessor& v, Slot& slot, PendingReceive r) requires(Clock::is_ordered);
  bool look_into_mailbox(VirtualProcessor& v, Lane& lane, const Step& s,
                         std::uint32_t row) requires(Clock::is_ordered);
  void meet(std::uint32_t channel, const Arrival& arrival, Slot& slot,
            PendingReceive r) requires(Clock::is_ordered);
  std::uint32_t access_across(VirtualProcessor& v, Lane& lane, Slot* slots,
                              const Step* at_step) requires(Clock::is_ordered);
  void return_access(const network::Arrival& access) requires(Clock::is_ordered);
  void end_access(const Due& returned) requires(Clock::is_ordered);

  // Where the replay is observed (observing.tpp).
  using Way = typename Clock::Way;
  /// Of a process in a call that waits.
  struct Stay {
    Time entered, asked, ready, left;
  };
  static typename Clock::Origin origin_of(const Time& sent);
  /// Whether the receive is; only an observer asks.
  static bool is_after([[maybe_unused]] const Time& receive, [[maybe_unused]] const Time& message) {
    if constexpr (Clock::is_observed) return receive > message;
    return false;
  }
  observe::Sending& sending(std::uint32_t channel) requires(Clock::is_observed);
  void see_send(const Step& s, Duration taken) requires(Clock::is_observed);
  void see_match(Slot& slot, const Arrival& a) requires(Clock::is_observed);
  void see_take(const VirtualProcessor& v, const Lane& lane, const Step& s, const Arrival& a,
                const Stay& stay, std::uint32_t row) requires(Clock::is_observed);
  void see_wait(const VirtualProcessor& v, const Lane& lane, const Slot& slot, const Stay& stay,
                std::uint32_t row) requires(Clock::is_observed);
  void see_answer(const VirtualProcessor& v, const Lane& lane, std::uint32_t channel, const Way& way,
                  const Stay& stay, std::uint32_t row) requires(Clock::is_observed);
  void see_message_wait(const VirtualProcessor& v, const Lane& lane, const Way& way, TimePoint from,
                        TimePoint until, std::uint32_t row) requires(Clock::is_observed);
  void see_parts(const VirtualProcessor& v, performance::Cell cause, const Way& way, TimePoint from,
                 TimePoint until) requires(Clock::is_observed);
  performance::Cell cause_of(const VirtualProcessor& v, std::uint32_t row) const requires(Clock::is_observed);
  void add_observations(Outcome& o) requires(Clock::is_observed);

  Outcome outcome(bool is_whole);
  void add_unreceived(Outcome& o) requires(Clock::is_ordered);
  std::vector<Account> accounts_on(std::size_t machine) const;
  static Accesses& accesses(VirtualProcessor& v, std::uint32_t window);
  std::uint32_t awaited_channel(const VirtualProcessor& v) const;
  std::string describe_block(const VirtualProcessor& v) const;
  VirtualProcessor& processor(std::uint32_t local) { return processors_[local]; }

  // A channel number for senders: this bit says that it ends on another rank.
  static constexpr std::uint32_t is_remote = 1U << 31;

  const trace::Reader& trace_;
  trace::Rewriter* rewritten_;
  Progress progress_;
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  Partition partition_;
  Exchange<Clock> exchange_;
  Ring ring_;
  Channels<Clock> channels_;
  std::vector<Placement> placements_;  // by machine
  Compiler compiler_;
  CostTable<Clock> costs_;
  Noise noise_;
  bool as_recorded_;
  bool is_special_;  // computation: with noise, or as recorded
  bool reads_durations_ = true;
  std::vector<std::int64_t> recorded_;  // ticks, by row_of(); unless the durations of all calls are read
  typename Clock::Slowdown io_slowdown_;
  std::int64_t tick_ps_ = 1;
  bool is_crowded_ = false;  // ranks outnumber processors: a look for messages gives the processor away
  int turns_between_looks_;
  trace::Reader::MappedCalls mapped_;       // where the file can be read without copies
  WindowPool windows_;                      // else
  std::size_t rows_ = window_rows_at_most;  // of a window
  std::map<std::array<std::uint64_t, 2 * Clock::machines>, typename Clock::Slowdown> slowdowns_;
  std::set<Overheads> overheads_;
  Arena arena_;
  HugeVector<VirtualProcessor> processors_;
  // Of each processor, apart from it so that a message need not touch the rest: its slots, and for which of
  // them it waits.
  HugeVector<Slot*> slots_;
  HugeVector<Awaited> awaited_;
  /// What is known of the regions, counters and timers of a process.
  struct Observed {
    observe::RecordedTimes recorded;
    observe::Metrics metrics;
  };
  Observed& observed(const VirtualProcessor& v) { return observed_[v.number]; }
  std::vector<Observed> observed_;  // by processor; empty if the trace has none of these
  std::deque<std::uint32_t> ready_;
  std::vector<std::vector<std::uint32_t>> announced_;  // rank, its number -> channel here
  std::vector<std::uint32_t> answer_channel_;          // of each channel, once it was needed
  [[no_unique_address]] std::conditional_t<Clock::is_ordered, InOrder, NotInOrder> order_;
  struct NoCollector {};
  [[no_unique_address]] std::conditional_t<Clock::is_observed, observe::Collector, NoCollector> collector_;
  bool is_large_ = false;
  bool comes_first_ = false;  // who is made ready now
  std::string failure_;
  bool needs_single_machines_ = false;
  std::uint64_t own_calls_ = 0, done_calls_ = 0;
};

}  // namespace simreplay::engine
