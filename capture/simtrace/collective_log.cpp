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
  if (row.verb != Verb::collective && row.verb != Verb::post_collective) return Agree::nothing;
  if (row.items == Items::none) return Agree::bytes;
  return row.items == Items::blocks ? Agree::blocks : Agree::nothing;
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

std::string root_text(std::int32_t root) {
  return root == trace::nobody ? "no root" : fmt::format("root {}", root);
}

/// `first` made the operation before `at` did, in another way.
Fault differs(const CallName& at, const Signature& s, const CallName& first, std::string_view expected,
              std::string_view found) {
  return fault_at(at, fmt::format("{} as process {} in call {}", expected, first.process, first.call),
                  fmt::format("{} (communicator {})", found, s.communicator));
}

}  // namespace

std::optional<std::uint64_t> CollectiveLog::add(const CallName& at, const Signature& s, FaultLog& faults) {
  const std::int32_t communicator = communicator_of(s);
  if (communicator == trace::self_id) return 0;
  Sequence& sequence = sequences_[communicator];
  if (sequence.broken) return std::nullopt;
  const std::uint64_t number = next_of(at.process, communicator)++;
  const auto index = static_cast<std::size_t>(number - sequence.completed);
  if (index == sequence.open.size()) sequence.open.push_back({at, s.peer, s.bytes, hash_of(s.items)});
  Operation& o = sequence.open[index];
  if (at.op != o.first.op) {
    faults.add(differs(at, s, o.first, info(o.first.op).name, info(at.op).name));
    sequence.broken = true;
    return std::nullopt;
  }
  if (!members_.is_inter(communicator))
    compare(at, s, o, faults);
  else if (has_known_root(at.op, communicator))
    compare_roots_of_groups(at, s, o, faults);
  o.members_there++;
  take_complete(communicator, sequence, faults);
  return number;
}

void CollectiveLog::compare(const CallName& at, const Signature& s, const Operation& o, FaultLog& faults) {
  if (info(s.op).rooted && s.peer != o.root)
    return faults.add(differs(at, s, o.first, root_text(o.root), root_text(s.peer)));
  const Agree agree = agreement_of(s);
  if (agree == Agree::bytes && s.bytes != o.bytes)
    faults.add(differs(at, s, o.first, fmt::format("{} bytes", o.bytes), fmt::format("{} bytes", s.bytes)));
  if (agree == Agree::blocks && hash_of(s.items) != o.items)
    faults.add(differs(at, s, o.first, "the same blocks", "others"));
}

/// Processes of other programs all have the same name.
bool CollectiveLog::has_known_root(Op op, std::int32_t communicator) const {
  return info(op).rooted && !members_.has_strangers(communicator);
}

/// The root names itself, the others of its group name nobody, and the other group names the root.
void CollectiveLog::compare_roots_of_groups(const CallName& at, const Signature& s, Operation& o,
                                            FaultLog& faults) {
  const auto apart = [&](std::int32_t a, std::int32_t b) {
    return a >= 0 && b >= 0 && !members_.in_one_group(s.communicator, a, b);
  };
  if (s.peer < 0) {
    if (apart(at.process, o.root))
      return faults.add(differs(at, s, o.first, root_text(o.root), root_text(s.peer)));
    if (apart(at.process, o.rootless))
      faults.add(fault_at(at, fmt::format("a root, for process {} of the other group names none", o.rootless),
                          fmt::format("no root (communicator {})", s.communicator)));
    o.rootless = at.process;
    return;
  }
  if (o.root >= 0 && s.peer != o.root)
    return faults.add(differs(at, s, o.first, root_text(o.root), root_text(s.peer)));
  o.root = s.peer;
  o.root_there = o.root_there || at.process == s.peer;
  if (!apart(o.root, o.rootless)) return;
  faults.add(fault_at(at, fmt::format("that process {} names root {}, too", o.rootless, o.root),
                      fmt::format("that it names none (communicator {})", s.communicator)));
  o.rootless = trace::nobody;
}

void CollectiveLog::take_complete(std::int32_t communicator, Sequence& sequence, FaultLog& faults) {
  while (!sequence.open.empty() && sequence.open.front().members_there >= members_.own_size(communicator)) {
    const Operation& o = sequence.open.front();
    if (members_.is_inter(communicator) && has_known_root(o.first.op, communicator) && o.root >= 0 &&
        !o.root_there)
      faults.add(fault_at(o.first, fmt::format("that process {} names itself the root", o.root),
                          fmt::format("that it does not (communicator {})", communicator)));
    sequence.open.pop_front();
    sequence.completed++;
  }
}

bool CollectiveLog::is_complete(std::int32_t communicator, std::uint64_t number) const {
  const auto it = sequences_.find(communicator);
  return communicator == trace::self_id || (it != sequences_.end() && number < it->second.completed);
}

std::uint64_t& CollectiveLog::next_of(std::int32_t process, std::int32_t communicator) {
  auto& made = made_[static_cast<std::size_t>(process)];
  const auto it =
      std::ranges::lower_bound(made, communicator, {}, &std::pair<std::int32_t, std::uint64_t>::first);
  if (it != made.end() && it->first == communicator) return it->second;
  return made.emplace(it, communicator, 0)->second;
}

void CollectiveLog::expect_all_complete(const std::function<bool(std::int32_t)>& is_cut,
                                        FaultLog& faults) const {
  std::vector<std::int32_t> incomplete;
  for (const auto& [communicator, sequence] : sequences_)
    if (!sequence.broken && !sequence.open.empty()) incomplete.push_back(communicator);
  std::ranges::sort(incomplete);
  for (const std::int32_t communicator : incomplete) {
    const Sequence& sequence = sequences_.at(communicator);
    const Operation& o = sequence.open.front();
    const std::int32_t missing = first_missing(communicator, sequence.completed);
    if (missing >= 0 && is_cut(missing)) continue;
    faults.add(fault_at(
        o.first,
        fmt::format("all {} members of communicator {}", members_.own_size(communicator), communicator),
        fmt::format("{}", o.members_there), fmt::format("process {} is missing", missing)));
  }
}

std::int32_t CollectiveLog::first_missing(std::int32_t communicator, std::uint64_t number) const {
  for (const std::int32_t member : members_.world_ranks(communicator)) {
    if (member < 0) continue;
    const auto& made = made_[static_cast<std::size_t>(member)];
    const auto it = std::ranges::find(made, communicator, &std::pair<std::int32_t, std::uint64_t>::first);
    if (it == made.end() || it->second <= number) return member;
  }
  return trace::nobody;
}

}  // namespace simreplay::simtrace
