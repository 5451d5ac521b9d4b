#include "replay/network/ethernet/switched_ethernet.hpp"

#include <algorithm>
#include <utility>

#include "replay/network/ethernet/switched_report.hpp"

namespace simreplay::ethernet {
namespace {

/// The shortest frame on the fastest link is the soonest that anything can come.
network::Bounds bounds_of(const SwitchedSettings& s, const std::vector<Ratio>& rates) {
  const std::int64_t bytes = s.wire_bytes(0);
  Duration frame = rates.empty() ? Duration{1} : Duration::max();
  for (const Ratio& rate : rates) frame = std::min(frame, Duration{rate.times(bytes)});
  return {.lookahead = frame + s.cable + s.switching,
          .notice = frame + s.cable + s.receive_overhead,
          .entry = s.send_overhead};
}

}  // namespace

SwitchedEthernet::SwitchedEthernet(const SwitchedSettings& settings, std::int32_t hosts, MPI_Comm comm)
    : settings_(settings), exchange_(comm), ranks_(size_of(comm)), hosts_(std::max(hosts, 1)) {
  const std::vector<Ratio> rates = rates_of_hosts(settings, hosts, comm);
  bounds_ = bounds_of(settings, rates);
  for (std::int32_t h = 0; h < hosts; h++) {
    if (rank_of(h) != rank_in(comm)) continue;
    if (own_.empty()) first_ = h;
    const Ratio& rate = rates[static_cast<std::size_t>(h)];
    own_.push_back({Adapter(settings_, rate), Port(settings_, rate)});
  }
}

void SwitchedEthernet::inject(const network::Message& message) {
  own(message.source).adapter.inject(message);
  schedule(message.source);
}

void SwitchedEthernet::schedule(std::int32_t host) {
  if (const TimePoint next = own(host).adapter.next(); next < network::never) ready_.push({next, host});
}

TimePoint SwitchedEthernet::next_event() {
  TimePoint next = network::never;
  if (!ready_.empty()) next = std::min(next, ready_.top().time);
  if (!due_.empty()) next = std::min(next, due_.top().time);
  return next;
}

/// What is sent comes to an output after this window, so the order of both does not matter.
void SwitchedEthernet::advance(TimePoint until) {
  send_before(until);
  for (; !due_.empty() && due_.top().time < until; due_.pop())
    own(due_.top().host).port.serve(until, arrivals_);
}

void SwitchedEthernet::send_before(TimePoint until) {
  while (!ready_.empty() && ready_.top().time < until) {
    const Event event = ready_.top();
    ready_.pop();
    Adapter& adapter = own(event.host).adapter;
    if (adapter.next() != event.time) continue;  // out of date
    const Train train = adapter.send();
    exchange_.add(rank_of(train.message.destination), train);
    schedule(event.host);
  }
}

void SwitchedEthernet::exchange() {
  exchange_.run([this](const Train& train) {
    own(train.message.destination).port.accept(train);
    due_.push({train.due(), train.message.destination});
  });
}

std::vector<network::Arrival> SwitchedEthernet::take_arrivals() { return std::exchange(arrivals_, {}); }

network::Report SwitchedEthernet::report() {
  std::vector<HostFigures> figures;
  for (const Host& h : own_) {
    const auto number = first_ + static_cast<std::int32_t>(figures.size());
    figures.push_back({number, h.port.figures().busy, h.adapter.figures(), h.port.figures()});
  }
  figures = gather<HostFigures>(exchange_.comm(), figures);
  return rank_in(exchange_.comm()) == 0 ? report_of(figures) : network::Report{};
}

std::vector<NetworkKey> switched_ethernet_keys() { return network_keys(switched_prefix, switched_rows()); }

std::unique_ptr<network::Network> make_switched_ethernet(const Machine& machine, std::int32_t nodes,
                                                         MPI_Comm comm) {
  return std::make_unique<SwitchedEthernet>(read_settings(switched_prefix, switched_rows(), machine), nodes,
                                            comm);
}

}  // namespace simreplay::ethernet
