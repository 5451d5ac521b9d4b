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
  bool run_steps(VirtualProcessor& v, Lane& lane, std::span<Slot> slots, std::span<const Step> steps,
                 std::uint32_t& step, std::uint32_t end, std::int64_t duration);
  bool run_call(VirtualProcessor& v, std::uint16_t signature);
  Duration computation_before(VirtualProcessor& v, std::uint16_t signature);
  static void part_into_threads(VirtualProcessor& v);
  void run_threads(VirtualProcessor& v);
  bool begin_call(VirtualProcessor& v);
  bool go_on_inside(VirtualProcessor& v);
  bool go_on(VirtualProcessor& v, Thread& thread);
  void settle(VirtualProcessor& v);
  void fork(VirtualProcessor& v, const Step& s, std::span<const Step> body);
  void run_strands(VirtualProcessor& v);
  void join(VirtualProcessor& v, Strand& strand);
  static TimePoint& strand_end(VirtualProcessor& v, std::uint32_t communicator);
  bool refill(VirtualProcessor& v);
  void next_segment(VirtualProcessor& v);
  static void end(VirtualProcessor& v);
  void cut(VirtualProcessor& v);
  void check_times(const VirtualProcessor& v) const;
  Duration computed(const VirtualProcessor& v, std::int64_t gap_ps) const;
  void dispatch(std::uint32_t channel, Arrival arrival);
  void deliver(std::uint32_t channel, Arrival arrival);
  TimePoint match(std::uint32_t channel, Kind kind, TimePoint time, const network::Cost& cost);
  void complete(Slot& slot, const Arrival& arrival);
  void make_ready(VirtualProcessor& v);
  bool take_batches();
  void await_message();
  Outcome outcome();
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
  Exchange exchange_;
  Ring ring_;
  Channels channels_;
  Placement placement_;
  Compiler compiler_;
  Noise noise_;
  Ratio io_slowdown_;
  std::int64_t tick_ps_ = 1;
  WindowPool windows_;
  std::vector<VirtualProcessor> processors_;
  std::deque<std::uint32_t> ready_;
  std::vector<std::vector<std::uint32_t>> announced_;  // rank, its number -> channel here
  std::vector<std::uint32_t> answer_channel_;          // of each channel, once it was needed
  std::string failure_;
  std::uint64_t own_calls_ = 0, done_calls_ = 0;
};

}  // namespace simreplay::engine
