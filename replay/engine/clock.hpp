#pragma once
// The times of a replay: of one machine, or of several that are replayed side by side. All that the engine
// does with times is to add them and to take the later one; so it is written once, for any clock.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/units.hpp"

/// A function that is built for each width of vectors that processors have, and chosen when the program
/// starts.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define SIMREPLAY_WIDE_VECTORS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define SIMREPLAY_WIDE_VECTORS
#endif

namespace simreplay::engine {

/// One time per machine, in picoseconds. As a point or as a span.
template <std::size_t machines>
struct alignas(64) Lanes {
  std::array<std::int64_t, machines> ps{};

  Lanes& operator+=(const Lanes& b) {
    for (std::size_t i = 0; i < machines; i++) ps[i] += b.ps[i];
    return *this;
  }
  Lanes& operator-=(const Lanes& b) {
    for (std::size_t i = 0; i < machines; i++) ps[i] -= b.ps[i];
    return *this;
  }
  friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
  friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
};

/// What is known of a message besides its time. Of one that was observed on its way: why it took that long.
struct NoWay {};
struct Way {
  TimePoint sent{};  // its sender entered the send; of an answer: the receive was posted, if that was late
  Duration held{};   // so long because of other messages in the network
};

struct NoOrigin {};
struct ObservedOrigin {
  Way way{};
};
/// Where messages are delivered in the order of simulated time.
struct Origin {
  std::int64_t id = -1;  // that the network knows it by; negative: it did not cross the network
  std::int64_t bytes = 0;
  Way way{};
};

/// What a lane counts there.
struct NoCount {};
struct MessageCount {
  std::uint64_t messages =
      0;  // sent so far; where several lanes send, each counts on from a number of its own
};

/// The clock of one machine.
struct OneMachine {
  static constexpr std::size_t machines = 1;
  static constexpr bool is_ordered = false;   // messages may be delivered as soon as they are known
  static constexpr bool is_observed = false;  // notes what channels and tasks do (observe/collector.hpp)
  using Origin = NoOrigin;
  using Way = NoWay;
  using Count = NoCount;
  using Time = TimePoint;
  using Span = Duration;
  using Slowdown = Ratio;

  static Slowdown slowdown(std::span<const Ratio> of_machines) { return of_machines[0]; }
  static Time time(const Span& since_start) { return Time{since_start}; }
  static Duration of(const Span& s, std::size_t) { return s; }
  static Duration of(const Time& t, std::size_t) { return t.time_since_epoch(); }
  static void set(Span& s, std::size_t, Duration d) { s = d; }
};

/// The same with an observer, at half the speed.
struct OneMachineObserved : OneMachine {
  static constexpr bool is_observed = true;
  using Origin = ObservedOrigin;
  using Way = engine::Way;
};

/// The same where messages come in the order of simulated time: through a network in which they disturb each
/// other, or because the order decides which receive takes which (windows.hpp).
struct OneMachineInOrder : OneMachine {
  static constexpr bool is_ordered = true;
  static constexpr bool is_observed = true;
  using Origin = engine::Origin;
  using Way = engine::Way;
  using Count = MessageCount;
};

template <std::size_t n>
struct Machines {
  static constexpr std::size_t machines = n;
  static constexpr bool is_ordered = false;
  static constexpr bool is_observed = false;
  using Origin = NoOrigin;
  using Way = NoWay;
  using Count = NoCount;
  using Time = Lanes<n>;
  using Span = Lanes<n>;

  /// Time here per recorded time of computation, on each machine. Of machines that are equally fast it is
  /// computed once.
  class Slowdown {
   public:
    Slowdown() = default;
    explicit Slowdown(std::span<const Ratio> of_machines) {
      for (std::size_t i = 0; i < n; i++) {
        std::size_t known = 0;
        while (known < distinct_.size() && !(distinct_[known] == of_machines[i])) known++;
        if (known == distinct_.size()) distinct_.add(of_machines[i]);
        which_[i] = static_cast<std::uint8_t>(known);
      }
    }
    Span times_if_positive(std::int64_t ps) const {
      std::array<std::int64_t, n> products;
      distinct_.times_if_positive(ps, products.data());
      Span s;
      for (std::size_t i = 0; i < n; i++) s.ps[i] = products[which_[i]];
      return s;
    }

   private:
    Ratios<n> distinct_;
    std::array<std::uint8_t, n> which_{};
  };

  static Slowdown slowdown(std::span<const Ratio> of_machines) { return Slowdown(of_machines); }
  static Time time(const Span& since_start) { return since_start; }
  static Duration of(const Span& s, std::size_t machine) { return Duration{s.ps[machine]}; }
  static void set(Span& s, std::size_t machine, Duration d) { s.ps[machine] = d.count(); }
};

inline TimePoint later(TimePoint a, TimePoint b) { return a < b ? b : a; }
template <std::size_t n>
Lanes<n> later(const Lanes<n>& a, const Lanes<n>& b) {
  Lanes<n> r;
  for (std::size_t i = 0; i < n; i++) r.ps[i] = a.ps[i] < b.ps[i] ? b.ps[i] : a.ps[i];
  return r;
}

/// `a` on machines where `span` is not 0, else `b`.
inline TimePoint where(Duration span, TimePoint a, TimePoint b) { return span.count() != 0 ? a : b; }
template <std::size_t n>
Lanes<n> where(const Lanes<n>& span, const Lanes<n>& a, const Lanes<n>& b) {
  Lanes<n> r;
  for (std::size_t i = 0; i < n; i++) r.ps[i] = span.ps[i] != 0 ? a.ps[i] : b.ps[i];
  return r;
}

/// The latest of the machines.
inline TimePoint latest(TimePoint t) { return t; }
template <std::size_t n>
TimePoint latest(const Lanes<n>& t) {
  return TimePoint{Duration{*std::max_element(t.ps.begin(), t.ps.end())}};
}

/// The clocks that the engine is built for: as many machines side by side as pay in one pass.
using FewMachines = Machines<4>;
using ManyMachines = Machines<16>;

inline Duration scaled(const Ratio& slowdown, std::int64_t ps) {
  return Duration{slowdown.times_if_positive(ps)};
}
template <class Slowdown>
auto scaled(const Slowdown& slowdown, std::int64_t ps) {
  return slowdown.times_if_positive(ps);
}

}  // namespace simreplay::engine
