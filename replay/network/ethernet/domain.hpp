#pragma once
// A collision domain of shared Ethernet: its hosts, the port of the switch that joins it to others, and the
// medium on which they all compete.
//
// A host sends one message at a time: t_s after it was handed over and the one before has ended, it is on the
// medium. A message for another domain passes the switch frame by frame; there the port is one sender as the
// hosts are, and sends frames in the order in which they came.

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "common/units.hpp"
#include "replay/network/ethernet/figures.hpp"
#include "replay/network/ethernet/medium.hpp"
#include "replay/network/ethernet/shared_settings.hpp"
#include "replay/network/network.hpp"

namespace simreplay::ethernet {

/// A frame that has passed the switch.
struct SwitchedFrame {
  TimePoint time{};  // it is at the port
  network::Message message;
  std::int64_t index = 0;  // within the message
  std::int64_t payload = 0;
  bool last = false;

  /// FIFO; ties in the order of hosts, messages and frames.
  friend bool operator>(const SwitchedFrame& a, const SwitchedFrame& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.message.source != b.message.source) return a.message.source > b.message.source;
    return a.message.id != b.message.id ? a.message.id > b.message.id : a.index > b.index;
  }
};

struct DomainFigures {
  std::int32_t domain = 0, hosts = 0;
  std::int64_t messages = 0, bytes = 0;  // its hosts sent on the medium
  std::int64_t forwarded = 0;            // frames that its port sent
  Duration busy{};
  Int128 sender_time_ps = 0;
  std::int32_t most_senders = 0;
  Times queued;       // messages behind others of their host
  Times port_queued;  // frames in the port
  Arrived arrived;
};

class Domain {
 public:
  /// `hosts`: of the whole network, in ascending order.
  Domain(const SharedSettings& settings, std::int32_t number, std::vector<std::int32_t> hosts);

  /// `leaves`: for another domain.
  void inject(const network::Message& message, bool leaves);
  void accept(const SwitchedFrame& frame) { port_.push(frame); }
  TimePoint next_event() const;
  void advance(TimePoint until);

  std::vector<network::Arrival>& arrivals() { return arrivals_; }
  std::vector<SwitchedFrame>& leaving() { return leaving_; }  // time: passed the switch
  DomainFigures figures() const;

 private:
  struct Waiting {
    network::Message message;
    bool leaves = false;
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.message.time != b.message.time ? a.message.time > b.message.time : a.message.id > b.message.id;
    }
  };
  struct Host {
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    TimePoint free{};  // the one before has ended
    bool sending = false;
    Waiting now{};
    std::int64_t frame = 0;  // of a message that leaves
  };
  struct Ready {
    TimePoint time;
    std::int32_t host;
    friend bool operator>(const Ready& a, const Ready& b) {
      return a.time != b.time ? a.time > b.time : a.host > b.host;
    }
  };

  std::int32_t port_sender() const { return static_cast<std::int32_t>(hosts_.size()); }
  Medium::Work work_of(std::int64_t payload) const;
  Duration held(const network::Message& m, TimePoint now) const;
  Medium::Work first_work(const Host& host) const;

  void work_at(TimePoint now);
  void schedule(std::int32_t host);
  void begin_sending(std::int32_t host, TimePoint now);
  void end_of_work(const Medium::Transfer& ended, TimePoint now);
  void end_at_host(const Medium::Transfer& ended, TimePoint now);
  void end_at_port(const Medium::Transfer& ended, TimePoint now);
  void end_message(std::int32_t host, TimePoint now);
  std::optional<Medium::Work> take_from_port(TimePoint now);
  void arrive(const network::Message& message, TimePoint now);

  const SharedSettings& settings_;
  std::vector<std::int32_t> names_;  // of hosts, ascending
  std::vector<Host> hosts_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;  // some of them out of date
  std::priority_queue<SwitchedFrame, std::vector<SwitchedFrame>, std::greater<>> port_;
  bool port_sending_ = false;
  SwitchedFrame port_frame_{};
  Medium medium_;
  std::vector<network::Arrival> arrivals_;
  std::vector<SwitchedFrame> leaving_;
  DomainFigures figures_;
};

}  // namespace simreplay::ethernet
