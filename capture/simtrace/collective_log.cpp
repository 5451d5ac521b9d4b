#include "capture/simtrace/collective_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capture/simtrace/hash.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

/// What the members of a communicator must agree on beyond operation and root.
enum class Agree { nothing, bytes, blocks };

Agree agreement_of(const Signature& s) {
  const OpInfo& row = info(s.op);
  if (row.verb == Verb::create) return Agree::nothing;  // every member may get into another communicator
  switch (row.items) {
    case Items::none:
      return Agree::bytes;
    case Items::blocks:
      return Agree::blocks;
    default:
      return Agree::nothing;
  }
}

std::uint64_t hash_of(std::span<const std::int64_t> items) {
  std::uint64_t h = scramble(items.size());
  for (const std::int64_t i : items) h = scramble(h ^ static_cast<std::uint64_t>(i));
  return h;
}

/// The communicator whose members make the call together.
std::int32_t communicator_of(const Signature& s) {
  if (s.op != Op::Comm_create_group) return s.communicator;
  return s.items.empty() ? trace::self_id : static_cast<std::int32_t>(s.items[0]);
}

}  // namespace

CollectiveLog::CollectiveLog(const std::vector<trace::Members>& communicators, std::int32_t processes)
    : communicators_(communicators),
      inter_(communicators.size()),
      made_(static_cast<std::size_t>(processes)) {
  for (const trace::Members& m : communicators) sizes_.push_back(m.size());
}

void CollectiveLog::add(const CallName& at, const Signature& s, FaultLog& faults) {
  const std::int32_t communicator = communicator_of(s);
  note_creation(s);
  if (communicator == trace::self_id) return;
  Sequence& sequence = sequences_[communicator];
  if (sequence.broken) return;
  const std::uint64_t number = next_of(at.process, communicator)++;
  const auto index = static_cast<std::size_t>(number - sequence.completed);
  if (index == sequence.open.size())
    sequence.open.push_back({at, s.peer, s.bytes, hash_of(s.items), 0});
  else
    compare(at, s, sequence, sequence.open[index], faults);
  sequence.open[index].members_there++;
  const std::int64_t size = sizes_[static_cast<std::size_t>(communicator)];
  while (!sequence.open.empty() && sequence.open.front().members_there >= size) {
    sequence.open.pop_front();
    sequence.completed++;
  }
}

void CollectiveLog::compare(const CallName& at, const Signature& s, Sequence& sequence, const Operation& o,
                            FaultLog& faults) const {
  const std::string as_first = fmt::format(" as process {} in call {}", o.first.process, o.first.call);
  const auto differs = [&](const std::string& expected, const std::string& found) {
    faults.add(fault_at(at, expected + as_first, fmt::format("{} (communicator {})", found, s.communicator)));
  };
  if (at.op != o.first.op) {
    differs(std::string(info(o.first.op).name), std::string(info(at.op).name));
    sequence.broken = true;
    return;
  }
  if (is_inter(communicator_of(s))) return;
  if (info(s.op).rooted && s.peer != o.root)
    return differs(fmt::format("root {}", o.root), fmt::format("root {}", s.peer));
  const Agree agree = agreement_of(s);
  if (agree == Agree::bytes && s.bytes != o.bytes)
    differs(fmt::format("{} bytes", o.bytes), fmt::format("{} bytes", s.bytes));
  if (agree == Agree::blocks && hash_of(s.items) != o.items) differs("the same blocks", "others");
}

/// Intercommunicators are known by how they were made.
void CollectiveLog::note_creation(const Signature& s) {
  if (info(s.op).verb != Verb::create || s.items.empty() || s.op == Op::Intercomm_merge) return;
  if (s.op == Op::Intercomm_create || is_inter(s.communicator))
    inter_[static_cast<std::size_t>(s.items[0])] = true;
}

std::uint64_t& CollectiveLog::next_of(std::int32_t process, std::int32_t communicator) {
  auto& made = made_[static_cast<std::size_t>(process)];
  const auto it =
      std::ranges::lower_bound(made, communicator, {}, &std::pair<std::int32_t, std::uint64_t>::first);
  if (it != made.end() && it->first == communicator) return it->second;
  return made.emplace(it, communicator, 0)->second;
}

void CollectiveLog::expect_all_complete(FaultLog& faults) const {
  std::vector<std::int32_t> incomplete;
  for (const auto& [communicator, sequence] : sequences_)
    if (!sequence.broken && !sequence.open.empty()) incomplete.push_back(communicator);
  std::ranges::sort(incomplete);
  for (const std::int32_t communicator : incomplete) {
    const Sequence& sequence = sequences_.at(communicator);
    const Operation& o = sequence.open.front();
    faults.add(
        fault_at(o.first,
                 fmt::format("all {} members of communicator {}",
                             sizes_[static_cast<std::size_t>(communicator)], communicator),
                 fmt::format("{}", o.members_there),
                 fmt::format("process {} is missing", first_missing(communicator, sequence.completed))));
  }
}

std::int32_t CollectiveLog::first_missing(std::int32_t communicator, std::uint64_t number) const {
  for (const std::int32_t member : communicators_[static_cast<std::size_t>(communicator)].world_ranks()) {
    const auto& made = made_[static_cast<std::size_t>(member)];
    const auto it = std::ranges::find(made, communicator, &std::pair<std::int32_t, std::uint64_t>::first);
    if (it == made.end() || it->second <= number) return member;
  }
  return trace::nobody;
}

}  // namespace simreplay::simtrace
