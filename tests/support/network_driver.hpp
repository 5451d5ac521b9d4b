#pragma once
// Runs messages through a network model, in windows as its interface says. Messages may be answered: `answer`
// is told of each arrival and may hand over another message at the host where it came, `reaction` later or
// more.

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <vector>

#include "common/mpi_lists.hpp"
#include "replay/network/network.hpp"

namespace simreplay::network::test {

using Answer = std::function<std::optional<Message>(const Arrival&)>;

class Driver {
 public:
  Driver(Network& network, MPI_Comm comm, Duration reaction = {})
      : network_(network),
        comm_(comm),
        bounds_(network.bounds()),
        window_(std::max(bounds_.window(reaction), Duration{1})) {}

  /// Collective. The same list on all ranks. All arrivals in the order of ids, on rank 0.
  std::vector<Arrival> run(const std::vector<Message>& list, const Answer& answer = {}) {
    for (const Message& m : list) hand_over(m);
    while (window(answer)) {
    }
    std::vector<Arrival> all = gather<Arrival>(comm_, arrivals_);
    std::ranges::sort(all, {}, &Arrival::id);
    return all;
  }
  std::int64_t windows() const { return windows_; }

 private:
  struct Later {
    bool operator()(const Message& a, const Message& b) const {
      return a.time != b.time ? a.time > b.time : a.id > b.id;
    }
  };

  void hand_over(const Message& m) {
    if (network_.rank_of(m.source) == rank_in(comm_)) pending_.push(m);
  }

  bool window(const Answer& answer) {
    TimePoint next = network_.next_event();
    if (!pending_.empty()) next = std::min(next, pending_.top().time + bounds_.entry);
    std::int64_t ps = next.time_since_epoch().count();
    MPI_Allreduce(MPI_IN_PLACE, &ps, 1, MPI_INT64_T, MPI_MIN, comm_);
    if (TimePoint{Duration{ps}} == never) return false;
    if (TimePoint{Duration{ps}} < until_ - Duration{1}) throw std::logic_error("an event in the past");
    until_ = TimePoint{Duration{ps}} + window_;
    for (; !pending_.empty() && pending_.top().time + bounds_.entry < until_; pending_.pop())
      network_.inject(pending_.top());
    network_.advance(until_);
    network_.exchange();
    take(answer);
    windows_++;
    return true;
  }

  void take(const Answer& answer) {
    for (const Arrival& a : network_.take_arrivals()) {
      if (a.time < known_) throw std::logic_error("an arrival that should have been known");
      if (network_.rank_of(a.destination) != rank_in(comm_)) throw std::logic_error("an arrival elsewhere");
      arrivals_.push_back(a);
      if (!answer) continue;
      if (const std::optional<Message> next = answer(a)) hand_over(*next);
    }
    // At the end of a window of a single instant, more may arrive in that instant.
    known_ = until_ + bounds_.notice - (window_ == Duration{1} ? Duration{1} : Duration{0});
  }

  Network& network_;
  MPI_Comm comm_;
  Bounds bounds_;
  Duration window_;
  std::priority_queue<Message, std::vector<Message>, Later> pending_;
  std::vector<Arrival> arrivals_;
  TimePoint until_{}, known_{};
  std::int64_t windows_ = 0;
};

}  // namespace simreplay::network::test
