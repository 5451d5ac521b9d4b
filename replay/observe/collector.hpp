#pragma once
// What an observed replay notes of its tasks and of the channels that begin or end on this rank. Everything
// is a sum or a maximum of simulated times, so it does not depend on the number of ranks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/performance/catalog.hpp"
#include "common/performance/profile.hpp"
#include "common/units.hpp"

namespace simreplay::observe {

/// The messages of a channel as its sender sees them.
struct Sending {
  std::int64_t messages = 0, bytes = 0;
  Duration time{}, longest{}, last{};

  void sent(std::int64_t size, Duration taken) {
    messages++;
    bytes += size;
    last = {};
    heard(taken);
  }
  /// More time for the last one.
  void heard(Duration taken) {
    time += taken;
    last += taken;
    longest = std::max(longest, last);
  }
};

/// Messages sent and not yet received, as simulated time goes on. Told of in the order of the channel.
class Queue {
 public:
  void pass(TimePoint sent, TimePoint received) {
    in_flight += received - sent;
    while (first_ < received_.size() && received_[first_] <= sent) first_++;
    if (first_ == received_.size()) {
      received_.clear();
      first_ = 0;
    }
    received_.push_back(received);
    most = std::max(most, static_cast<std::int64_t>(received_.size() - first_));
    if (first_ >= 64 && 2 * first_ >= received_.size()) {
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

  Duration in_flight{};  // of all messages together
  std::int64_t most = 0;

 private:
  std::vector<TimePoint> received_;  // of those that may still be in the queue
  std::size_t first_ = 0;
};

/// As its receiver sees them.
struct Receiving {
  std::int64_t messages = 0, bytes = 0;
  Duration time{}, longest{}, waiting{};
  Queue queue;

  void received(std::int64_t size, Duration taken, Duration waited) {
    messages++;
    bytes += size;
    time += taken;
    longest = std::max(longest, taken);
    waiting += std::max(waited, Duration{});
  }
};

class Collector {
 public:
  struct Task {
    performance::Cells cells;
    performance::Profile profile;
  };
  explicit Collector(std::size_t tasks = 0) : tasks_(tasks) {}

  Task& task(std::size_t number) { return tasks_[number]; }
  Sending& sending(std::size_t channel, bool is_remote) {
    return at(is_remote ? to_others_ : to_own_, channel);
  }
  Receiving& receiving(std::size_t channel) { return at(receiving_, channel); }

  void computed(std::size_t task, TimePoint from, Duration length) {
    tasks_[task].profile.add(performance::Activity::computation, from, length);
  }
  void waited(std::size_t task, performance::Cell cause, TimePoint from, Duration length) {
    if (length <= Duration{}) return;
    tasks_[task].cells[cause] += length.count();
    tasks_[task].profile.add(activity_of(cause), from, length);
  }

  const std::vector<Sending>& to_own() const { return to_own_; }
  const std::vector<Sending>& to_others() const { return to_others_; }
  const std::vector<Receiving>& receivings() const { return receiving_; }

 private:
  static performance::Activity activity_of(performance::Cell cause) {
    using performance::Activity;
    using performance::Cell;
    switch (cause) {
      case Cell::late_sender:
      case Cell::late_receiver:
        return Activity::waiting_for_partner;
      case Cell::barrier:
      case Cell::collective:
        return Activity::waiting_for_all;
      default:
        return Activity::transfer;
    }
  }
  template <class T>
  static T& at(std::vector<T>& all, std::size_t i) {
    if (i >= all.size()) all.resize(std::max(i + 1, 2 * all.size()));
    return all[i];
  }

  std::vector<Task> tasks_;
  std::vector<Sending> to_own_, to_others_;  // by channel here, by channel of the exchange
  std::vector<Receiving> receiving_;
};

}  // namespace simreplay::observe
