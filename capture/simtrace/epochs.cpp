#include "capture/simtrace/epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace simreplay::simtrace {
namespace {

/// Two calls that meet: the one of `first`, made by target or origin, and the one of `second`.
struct Meeting {
  struct Call {
    Verb verb;
    bool by_target;
    const char* name;
  };
  Call first, second;
};
constexpr Meeting meetings[] = {
    {{Verb::expose, true, "MPI_Win_post"}, {Verb::access, false, "MPI_Win_start"}},
    {{Verb::access, false, "MPI_Win_start"}, {Verb::conclude, false, "MPI_Win_complete"}},
    {{Verb::conclude, false, "MPI_Win_complete"}, {Verb::retract, true, "MPI_Win_wait"}}};

Channel channel_of(const CallName& at, const trace::Signature& s, std::int32_t named, bool by_target,
                   std::size_t meeting) {
  return {by_target ? named : at.process, by_target ? at.process : named, s.communicator,
          static_cast<std::int32_t>(meeting)};
}

}  // namespace

void Epochs::add(const CallName& at, const trace::Signature& s) {
  const Verb verb = info(s.op).verb;
  for (const std::int64_t named : s.items) {
    if (named < 0) continue;  // of another MPI program
    for (std::size_t m = 0; m < std::size(meetings); m++) {
      const auto& [first, second] = meetings[m];
      if (verb != first.verb && verb != second.verb) continue;
      const bool by_target = verb == first.verb ? first.by_target : second.by_target;
      channels_.meet(channel_of(at, s, static_cast<std::int32_t>(named), by_target, m),
                     verb == first.verb ? Side::send : Side::receive, {at.call, 0, trace::nobody, s.op});
    }
  }
}

void Epochs::expect_all_met(FaultLog& faults) const {
  struct Alone {
    CallName at;
    std::string expected;
  };
  std::vector<Alone> all;
  for (const auto& [channel, side, half] : channels_.open()) {
    const auto& [first, second] = meetings[static_cast<std::size_t>(channel.tag)];
    const auto& [own, other] = side == Side::send ? std::pair(first, second) : std::pair(second, first);
    const auto target_or_origin = [&c = channel](bool target) { return target ? c.destination : c.source; };
    all.push_back({{target_or_origin(own.by_target), half.call, half.op},
                   fmt::format("a call of {} by process {} that names process {} (window {})", other.name,
                               target_or_origin(other.by_target), target_or_origin(!other.by_target),
                               channel.communicator)});
  }
  std::ranges::stable_sort(all, {}, [](const Alone& a) { return std::tuple(a.at.process, a.at.call); });
  for (const Alone& a : all) faults.add(fault_at(a.at, a.expected, "none"));
}

}  // namespace simreplay::simtrace
