#include "replay/network/ethernet/shared_ethernet.hpp"

#include <algorithm>

#include "replay/network/ethernet/shared_report.hpp"

namespace simreplay::ethernet {

SharedEthernet::SharedEthernet(const SharedSettings& settings, std::int32_t hosts, MPI_Comm comm)
    : settings_(settings),
      exchange_(comm),
      ranks_(size_of(comm)),
      domain_of_host_(domains_of_hosts(settings, hosts, comm)) {
  std::vector<std::vector<std::int32_t>> members;
  for (std::int32_t h = 0; h < hosts; h++) {
    const auto domain = static_cast<std::size_t>(domain_of(h));
    if (members.size() <= domain) members.resize(domain + 1);
    members[domain].push_back(h);
  }
  domains_ = std::max<std::int64_t>(1, std::ssize(members));
  const int rank = rank_in(comm);
  for (std::int32_t d = 0; d < std::ssize(members); d++) {
    if (rank_of_domain(d) != rank) continue;
    if (own_.empty()) first_ = d;
    own_.emplace_back(settings_, d, std::move(members[static_cast<std::size_t>(d)]));
  }
}

/// Completions are known when they happen, so only t_s lies between an arrival and what it makes happen.
network::Bounds SharedEthernet::bounds() const {
  return {.lookahead = domains_ > 1 ? settings_.switch_delay : Duration::max(),
          .notice = Duration{0},
          .entry = settings_.start};
}

void SharedEthernet::inject(const network::Message& message) {
  own(domain_of(message.source)).inject(message, domain_of(message.source) != domain_of(message.destination));
}

TimePoint SharedEthernet::next_event() {
  TimePoint next = network::never;
  for (const Domain& d : own_) next = std::min(next, d.next_event());
  return next;
}

void SharedEthernet::advance(TimePoint until) {
  for (Domain& d : own_) d.advance(until);
}

void SharedEthernet::exchange() {
  if (domains_ == 1) return;
  for (Domain& d : own_) {
    for (const SwitchedFrame& f : d.leaving()) exchange_.add(rank_of(f.message.destination), f);
    d.leaving().clear();
  }
  exchange_.run([this](const SwitchedFrame& f) { own(domain_of(f.message.destination)).accept(f); });
}

std::vector<network::Arrival> SharedEthernet::take_arrivals() {
  std::vector<network::Arrival> all;
  for (Domain& d : own_) {
    all.insert(all.end(), d.arrivals().begin(), d.arrivals().end());
    d.arrivals().clear();
  }
  return all;
}

network::Report SharedEthernet::report() {
  std::vector<DomainFigures> figures;
  for (const Domain& d : own_) figures.push_back(d.figures());
  figures = gather<DomainFigures>(exchange_.comm(), figures);
  return rank_in(exchange_.comm()) == 0 ? report_of(figures) : network::Report{};
}

std::vector<NetworkKey> shared_ethernet_keys() { return network_keys(shared_prefix, shared_rows()); }

std::unique_ptr<network::Network> make_shared_ethernet(const Machine& machine, std::int32_t nodes,
                                                       MPI_Comm comm) {
  return std::make_unique<SharedEthernet>(read_settings(shared_prefix, shared_rows(), machine), nodes, comm);
}

}  // namespace simreplay::ethernet
