#pragma once
// The packet-level model of a fabric, or of the part of it that one rank simulates
// (docs/models/infiniband.md).
//
// An event is something that may set a packet free: it became ready at a switch, an input queue or an output
// is free again. What a packet does when it starts, up to being ready at the next switch, is known at once:
// the times at which its output, its input queue and its credits are free again are written down, and cost an
// event only if somebody waits for them. So a packet that meets no other costs one event per switch.
//
// Order. Nodes act upon each other only later, never at the same time; within a node events are ordered by
// (time, kind, place). So the result does not depend on how nodes are divided among ranks.

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/network/infiniband/packets/event_queue.hpp"
#include "replay/network/infiniband/packets/figures.hpp"
#include "replay/network/infiniband/packets/messages.hpp"
#include "replay/network/infiniband/packets/parts.hpp"
#include "replay/network/infiniband/packets/settings.hpp"
#include "replay/network/infiniband/packets/state.hpp"
#include "replay/network/infiniband/packets/train.hpp"
#include "replay/network/infiniband/tables.hpp"
#include "replay/network/network.hpp"

namespace simreplay::infiniband {

class PacketNetwork {
 public:
  /// Simulates part `me`. Fabric and tables must outlive it. Throws Error: settings out of their domain,
  /// tables of another fabric, cables without a rate.
  PacketNetwork(const Fabric& fabric, const Tables& tables, const Settings& settings, Parts parts = {},
                int me = 0);

  /// The source must be a host of this part; its adapter must not have to know of the message before the last
  /// advance(). Throws Error: unknown hosts, pairs that the tables do not join, negative sizes and times.
  void inject(const Injection& injection);
  /// Throws what inject() would, whoever owns the source.
  void check(const Injection& injection) const;
  /// Processes what happens before `until`.
  void advance(TimePoint until);
  /// EventQueue::never if nothing will happen.
  TimePoint next_event();

  /// Arrivals become known when they are certain, at or before their time, in no special order.
  std::vector<Arrival> take_arrivals() { return std::exchange(arrivals_, {}); }
  /// Events for other parts since the last call. Their times are at least the start of the window plus
  /// lookahead().
  std::vector<Handover> take_handovers() { return std::exchange(handovers_, {}); }
  void accept(const Handover& event);
  /// From an event of one part to its earliest effect in another; Duration::max() if there is none.
  Duration lookahead() const { return lookahead_; }
  /// The same with programs that answer arrivals.
  network::Bounds bounds() const;
  /// What parts may process without hearing of each other, if nothing happens anywhere before `next`.
  TimePoint window_end(TimePoint next) const {
    return lookahead_ >= EventQueue::never - next ? EventQueue::never : next + lookahead_;
  }

  bool owns(std::int32_t host) const { return mine(fabric_.host(host)); }
  int hosts() const { return fabric_.hosts(); }
  const Parts& parts() const { return parts_; }
  const Settings& settings() const { return settings_; }

  const Figures& figures() const { return figures_; }
  std::int64_t events() const { return processed_; }
  std::int64_t trains() const { return trains_started_; }
  std::int64_t trains_broken() const { return trains_broken_; }
  /// Of packets that wait although nothing will happen any more: a deadlock. Empty if there is none.
  std::string stuck();
  /// Credits that are neither with their sender nor under way nor in use by a packet, and packets that are
  /// nowhere: both 0 unless the model is wrong. Only when nothing will happen any more.
  std::int64_t leaks();

  /// A message on an idle fabric: the time from the adapter's knowing of it to its arrival at the other
  /// adapter, without the limit of credits, and its parts.
  struct Unloaded {
    int switches = 0;
    Duration cables{0}, switching{0}, total{0};  // the rest is serialisation
  };
  Unloaded unloaded(std::int32_t source, std::int32_t destination, std::int64_t bytes) const;

 private:
  enum Kind : std::uint32_t { train_end, notice, input_free, output_free, ready };
  static constexpr int kind_shift = 28;
  static Event event(TimePoint t, Kind kind, std::int32_t place, std::int32_t data = 0) {
    return {t, data, static_cast<std::uint32_t>(kind) << kind_shift | static_cast<std::uint32_t>(place)};
  }
  struct Waiting {
    TimePoint time;
    std::int64_t id;
    std::int32_t message;
    bool operator>(const Waiting& o) const { return time != o.time ? time > o.time : id > o.id; }
  };
  struct Route {
    Port out;
    std::uint8_t lane;
  };
  struct Choice {
    std::int32_t packet, before;
  };
  struct Train {
    std::int32_t next = nothing;  // in the pool
    std::int32_t message = nothing;
    TimePoint start{}, source_end{};
    std::vector<Stage> stages{};
  };
  struct Slowness {  // of a flow under congestion control
    std::int64_t index = 0;
    TimePoint since{};
  };

  // network.cpp
  void lay_out();
  void lay_out_port(Port p);
  Duration cut_lookahead() const;
  void check_way(const Injection& i) const;
  void start_message(const Waiting& waiting);
  bool mine(Node n) const { return parts_.of(n) == me_; }
  /// Small messages count as larger ones.
  std::int64_t counted(std::int64_t bytes) const { return std::max(bytes, settings_.minimum_message); }
  /// Software at either end.
  Duration sending(std::int64_t bytes) const {
    return settings_.send_overhead + Duration{settings_.send_per_byte.times(counted(bytes))};
  }
  Duration receiving(std::int64_t bytes) const {
    return settings_.receive_overhead + Duration{settings_.receive_per_byte.times(counted(bytes))};
  }
  std::int64_t packets_of(std::int64_t bytes) const;
  std::int64_t packet_bytes(const Message& m, std::int64_t packet) const;
  std::vector<Stage> stages_of(std::int32_t source, std::int32_t destination, std::int64_t bytes,
                               std::uint8_t level, bool with_credits) const;
  std::uint8_t level_of(std::int32_t source, std::int32_t destination, std::int32_t wanted) const;

  // forwarding.cpp
  std::size_t lane_index(Port p, int lane) const {
    return static_cast<std::size_t>(p) * lanes_ + static_cast<std::size_t>(lane);
  }
  SendLane& send_lane(Port p, int lane) { return send_[lane_index(p, lane)]; }
  OutPort& out(Port p) { return out_[static_cast<std::size_t>(p)]; }
  const OutPort& out(Port p) const { return out_[static_cast<std::size_t>(p)]; }
  std::uint8_t rate_of(Port p) const { return rate_of_[static_cast<std::size_t>(p)]; }
  Duration time_of(Port p, std::int64_t bytes) const { return Duration{rates_[rate_of(p)].times(bytes)}; }
  Route route(Node sw, Port in, std::int32_t destination, std::uint8_t level) const;
  void process(const Event& e);
  void on_ready(const Event& e);
  void on_input_free(const Event& e);
  void on_output_free(const Event& e);
  bool more_inputs_free(Port to, TimePoint now) const;
  void request(std::int32_t packet, TimePoint now);
  void wake(Port p, TimePoint t);
  void serve(Port p, TimePoint now);
  int choose_lane(Port p, TimePoint now);
  Choice choice(Port p, int lane) const;
  Choice choice_in_turn(Port p, Choice first) const;
  std::int32_t take_choice(Port p, int lane);
  std::int32_t head_blocks(Port p, int lane) const;
  bool able(Port p, int lane, TimePoint now);
  void await(Port p, int lane, TimePoint now);
  bool send_from_host(Port p, int lane, TimePoint now);
  void transmit(std::int32_t packet, Port p, int lane, TimePoint now);
  void leave_input(Packet& p, TimePoint end);
  void pass_on(std::int32_t packet, Port p, int lane, TimePoint now, TimePoint end);
  void reach_host(std::int32_t packet, Port p, int lane, TimePoint end);
  void deliver(const Packet& p, TimePoint tail);
  void hand_over(std::int32_t packet);
  void give_credit(Port p, int lane, TimePoint freed, std::int32_t blocks);
  void take_credit(Port p, int lane, TimePoint t, std::int32_t blocks);
  TimePoint credit_leaves(TimePoint freed) const;
  Duration forwarding_time(Port from, Port to, std::int64_t bytes) const;

  // prefetch.cpp
  void fetch_ahead() const;
  void fetch_step(const Event& e, int step) const;
  void fetch_output(const Packet& p) const;
  void fetch_route(const OutPort& o, std::int32_t destination) const;
  void fetch_for_output(Port port, int step) const;
  void fetch_for_packet(const Packet& p, int step) const;

  // arbitration.cpp
  int arbitrate(Port p, unsigned able);
  int oldest_lane(Port p, unsigned able) const;

  // congestion.cpp
  void mark(Packet& p, SendLane& lane, bool had_credits);
  void send_notice(const Packet& p, TimePoint now);
  void on_notice(const Event& e);
  void recover(Slowness& s, TimePoint now) const;
  void slow_down(Port p, int lane, const Message& sender, TimePoint now, TimePoint end);

  // trains.cpp
  bool start_train(Port p, int lane, std::int32_t message, TimePoint now);
  bool is_idle(Port p, int lane, TimePoint now);
  bool path_is_idle(Port p, int lane, const Message& m, TimePoint now);
  void break_train_for(const Event& e, Port p);
  void break_train(std::int32_t index, TimePoint now);
  void account(const Train& train, TrainRun& run, TimePoint now);
  void restore_credits(const Train& train, const TrainRun& run, std::size_t stage, TimePoint now);
  void restore_packets(const Train& train, const TrainRun& run, std::size_t stage, TimePoint now);
  void restore_source(const Train& train, const TrainRun& run, TimePoint now);

  const Fabric& fabric_;
  const Tables& tables_;
  Settings settings_;
  Parts parts_;
  int me_;
  std::size_t lanes_ = 1;
  bool large_ = false;  // more than the nearer caches hold
  Duration lookahead_{0};
  std::vector<Ratio> rates_;
  unsigned high_lanes_ = 0, low_lanes_ = 0;  // bits, of the tables of lanes

  EventQueue events_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  Arena arena_;
  std::span<OutPort> out_;
  std::vector<std::uint8_t> rate_of_;  // by port, among rates_
  std::vector<LaneTurn> turns_;        // by port, if there is more than one lane
  std::span<SendLane> send_;           // by port and lane
  std::span<ReceiveLane> receive_;     // by port and lane
  CreditRings credits_;
  Pool<Packet> packets_;
  Pool<Message> messages_;
  Pool<Train> trains_;
  std::unordered_map<std::uint64_t, Slowness> slow_flows_;
  TimePoint advanced_to_{};

  std::vector<Arrival> arrivals_;
  std::vector<Handover> handovers_;
  Figures figures_;
  std::int64_t processed_ = 0, trains_started_ = 0, trains_broken_ = 0;
};

}  // namespace simreplay::infiniband
