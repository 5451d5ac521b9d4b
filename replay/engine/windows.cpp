#include "replay/engine/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "common/error.hpp"
#include "common/mpi_session.hpp"

namespace simreplay::engine {
namespace {

constexpr Duration instant{1};  // times are whole picoseconds

TimePoint after(TimePoint t, Duration d) { return d >= network::never - t ? network::never : t + d; }

}  // namespace

std::uint64_t MessageId::first_of_lane(std::uint64_t lane) {
  constexpr std::uint64_t lanes = std::uint64_t{1} << lane_bits;
  if (lane >= lanes)
    throw Error(
        {.expected = fmt::format("at most {} threads of a process that call MPI", lanes), .found = "more"});
  return lane << count_bits;
}

Windows::Windows(MPI_Comm comm, network::Network* network, const Rules& rules)
    : comm_(comm), ranks_(size_of(comm)), network_(network), rules_(rules) {
  if (network_) bounds_ = network_->bounds();
  type_ = mpi_type_of<Words>();
  const auto combine = [](void* from, void* into, int* n, MPI_Datatype*) {
    const auto* const a = static_cast<const Words*>(from);
    auto* const b = static_cast<Words*>(into);
    for (int i = 0; i < *n; i++)
      b[i] = {std::min(a[i].next, b[i].next), a[i].in_flight + b[i].in_flight,
              std::max(a[i].failed, b[i].failed)};
  };
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(combine, 1, &op);
  combine_ = UniqueHandle<FreeOp>(op);
}

Windows::Words Windows::all(Words words) const {
  if (ranks_ > 1) MPI_Allreduce(MPI_IN_PLACE, &words, 1, type_.get(), combine_.get(), comm_);
  return words;
}

Windows::Verdict Windows::agree(std::int64_t in_flight, bool failed) {
  TimePoint next = network_ ? network_->next_event() : network::never;
  if (!due_.empty()) next = std::min(next, due_.top().time - bounds_.notice);
  const Words words = all({next.time_since_epoch().count(), in_flight, failed || !failure_.empty() ? 1 : 0});
  if (words.failed != 0) return Verdict::failed;
  if (words.in_flight != 0) return Verdict::under_way;
  const TimePoint from{Duration{words.next}};
  if (from != network::never) {
    work(from);
    return Verdict::open;
  }
  if (network_) failure_ = network_->stuck();
  return all({0, 0, failure_.empty() ? 0 : 1}).failed != 0 ? Verdict::failed : Verdict::ended;
}

/// All ranks take part in the exchange, come what may: what failed is said when they next agree.
void Windows::work(TimePoint from) {
  TimePoint until = network::never;
  if (network_) {
    until = after(from, std::max(bounds_.window(rules_.reaction), instant));
    try {
      network_->advance(until);
    } catch (const std::exception& e) {
      failure_ = e.what();
    }
    network_->exchange();
  }
  // What processes do in this window, and what they send within nodes, must not be due before others that are
  // delivered in it.
  if (rules_.is_strict) until = std::min(until, after(from, std::max(rules_.fastest, instant)));
  horizon_ = after(until, bounds_.notice);
  windows_++;
}

bool Windows::next(Due& due) {
  if (due_.empty() || due_.top().time >= horizon_) return false;
  due = due_.top();
  due_.pop();
  return true;
}

std::vector<network::Arrival> Windows::take_arrivals() {
  return network_ ? network_->take_arrivals() : std::vector<network::Arrival>{};
}

}  // namespace simreplay::engine
