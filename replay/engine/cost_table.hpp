#pragma once
// The costs of all classes in use, on each machine that is replayed: what the interpreter looks up.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/machine.hpp"
#include "replay/engine/clock.hpp"
#include "replay/network/cost_model.hpp"

namespace simreplay::engine {

/// network::Cost on each machine; what few steps need stands apart. One machine's fill a cache line.
template <class Clock>
struct alignas(64) Cost {
  typename Clock::Span before{}, busy{}, flight{}, gap{}, lead{}, transfer{};
  std::int64_t bytes = 0;
  bool outwards = false;
  bool crosses = false;  // the network of the machine
  enum class Gap : std::uint8_t {
    none,
    some,
    all
  } gaps = Gap::none;  // on how many of the machines `gap` is not 0
};

/// What the sender hears, and when, of a message that waited for its receive.
template <class Clock>
struct AnswerCost {
  typename Clock::Span acknowledge{}, released{};
  typename Clock::Span gap{}, lead{};  // of a receive, where messages pass the adapter as they arrive
  std::int64_t returned = 0;           // bytes, of an access
};

template <class Clock>
class CostTable {
 public:
  explicit CostTable(std::span<const Machine> machines)
      : models_(machines.begin(), machines.end()), gap_by_arrival_(machines[0].gap_by_arrival) {}

  /// Adds the costs of uses that are new since the last time.
  void extend(std::span<const network::Use> uses) {
    for (std::size_t i = costs_.size(); i < uses.size(); i++) add(uses[i]);
  }
  const Cost<Clock>* all() const { return costs_.data(); }
  const Cost<Clock>& operator[](std::uint32_t number) const { return costs_[number]; }
  const AnswerCost<Clock>& answer(std::uint32_t number) const { return answers_[number]; }

 private:
  void add(const network::Use& use) {
    Cost<Clock>& cost = costs_.emplace_back();
    AnswerCost<Clock>& answer = answers_.emplace_back();
    std::size_t with_gap = 0;
    cost.bytes = use.role == network::Use::Role::access && use.kind == network::Access::get ? 0 : use.bytes;
    answer.returned = use.kind == network::Access::put ? 0 : use.bytes;
    for (std::size_t m = 0; m < models_.size(); m++) {
      network::Cost c = models_[m].of(use);
      if (gap_by_arrival_ && use.role == network::Use::Role::receive) {
        Clock::set(answer.gap, m, std::exchange(c.gap, {}));
        Clock::set(answer.lead, m, std::exchange(c.lead, {}));
      }
      const auto set = [m](auto& to, Duration d) { Clock::set(to, m, d); };
      set(cost.before, c.before);
      set(cost.busy, c.busy);
      set(cost.flight, c.flight);
      set(cost.gap, c.gap);
      set(cost.lead, c.lead);
      set(cost.transfer, c.transfer);
      set(answer.acknowledge, c.acknowledge);
      set(answer.released, c.released);
      cost.outwards = c.outwards;
      cost.crosses = c.crosses;
      if (c.gap.count() != 0) with_gap++;
    }
    using Gap = typename Cost<Clock>::Gap;
    cost.gaps = with_gap == 0 ? Gap::none : with_gap < models_.size() ? Gap::some : Gap::all;
  }

  std::vector<network::CostModel> models_;
  bool gap_by_arrival_;
  std::vector<Cost<Clock>> costs_;
  std::vector<AnswerCost<Clock>> answers_;
};

}  // namespace simreplay::engine
