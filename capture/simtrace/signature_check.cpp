#include "capture/simtrace/signature_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simreplay::simtrace {
namespace {

using trace::Signature;
using MaybeObjection = std::optional<Objection>;

struct Context {
  const Signature& s;
  const OpInfo& row;
  std::int32_t process;
  bool inter;
  Membership& members;
};

std::string items_text(std::size_t n) { return n == 1 ? "1 item" : fmt::format("{} items", n); }

MaybeObjection expect_items(const Context& c, std::size_t n) {
  if (c.s.items.size() == n) return std::nullopt;
  return Objection{items_text(n), items_text(c.s.items.size()), false};
}

/// How many items the operation has, where that follows from the communicator.
MaybeObjection check_number_of_items(const Context& c) {
  const auto size = static_cast<std::size_t>(c.members.size(c.s.communicator));
  switch (c.row.items) {
    case Items::none:
      return expect_items(c, 0);
    case Items::receive_half:
      return expect_items(c, 3);
    case Items::requests:
      if (c.row.verb != Verb::complete) return expect_items(c, 1);
      return (c.s.flags & trace::nothing_found) != 0 ? expect_items(c, 0) : std::nullopt;
    case Items::communicator:
      return c.s.items.empty() ? std::nullopt : expect_items(c, 1);
    case Items::blocks_at_root:
      return c.inter ? std::nullopt : expect_items(c, c.s.peer == c.process ? size : 0);
    case Items::blocks:
      return c.inter ? std::nullopt : expect_items(c, size);
    case Items::blocks_twice:
      return c.inter ? std::nullopt : expect_items(c, 2 * size);
  }
  return std::nullopt;
}

MaybeObjection check_rank(const Context& c, std::int64_t rank, bool may_be_open) {
  if (rank == trace::nobody) return std::nullopt;
  if (rank == trace::anybody) {
    if (may_be_open) return std::nullopt;
    return Objection{"the real source of the message", "MPI_ANY_SOURCE", false};
  }
  if (rank >= 0 && rank <= INT32_MAX &&
      c.members.holds(c.s.communicator, c.process, static_cast<std::int32_t>(rank)))
    return std::nullopt;
  return Objection{fmt::format("a member of communicator {}", c.s.communicator),
                   fmt::format("process {}", rank), false};
}

MaybeObjection check_values_of_items(const Context& c) {
  const auto bad = [&](auto is_bad) { return std::ranges::find_if(c.s.items, is_bad); };
  switch (c.row.items) {
    case Items::communicator:
      if (const auto it = bad([&](std::int64_t id) { return !c.members.exists(id); }); it != c.s.items.end())
        return Objection{"a communicator of the trace", fmt::format("id {}", *it), false};
      return std::nullopt;
    case Items::receive_half:
      if (c.s.items[2] < 0) return Objection{"a number of bytes", fmt::format("{}", c.s.items[2]), false};
      return check_rank(c, c.s.items[0], false);
    case Items::blocks_at_root:
    case Items::blocks:
    case Items::blocks_twice:
      if (const auto it = bad([](std::int64_t n) { return n < 0; }); it != c.s.items.end())
        return Objection{"a number of bytes", fmt::format("{}", *it), true};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

MaybeObjection check_peer(const Context& c) {
  switch (c.row.verb) {
    case Verb::send:
    case Verb::post_send:
    case Verb::exchange:
    case Verb::receive:
      return check_rank(c, c.s.peer, (c.s.flags & trace::cancelled) != 0);
    case Verb::post_receive:
      return check_rank(c, c.s.peer, true);  // it may never have been completed
    case Verb::collective:
      if (c.row.rooted && !c.inter && c.s.peer < 0)
        return Objection{"a root", fmt::format("process {}", c.s.peer), true};
      return c.row.rooted ? check_rank(c, c.s.peer, false) : std::nullopt;
    default:
      return std::nullopt;
  }
}

MaybeObjection check_request(const Context& c) {
  const bool opens = c.row.verb == Verb::post_send || c.row.verb == Verb::post_receive;
  if (opens && c.s.request < 0) return Objection{"a request slot", "none", true};
  if (!opens && c.s.request != trace::nobody)
    return Objection{"no request slot", fmt::format("slot {}", c.s.request), true};
  return std::nullopt;
}

MaybeObjection check_membership(const Context& c) {
  if (c.members.holds(c.s.communicator, c.process, c.process)) return std::nullopt;
  return Objection{fmt::format("a communicator of process {}", c.process),
                   fmt::format("communicator {}", c.s.communicator), false};
}

constexpr MaybeObjection (*checks[])(const Context&) = {check_membership, check_number_of_items,
                                                        check_values_of_items, check_peer, check_request};

}  // namespace

std::optional<Objection> object_to(const Signature& s, std::int32_t process, bool inter,
                                   Membership& members) {
  const Context context{s, info(s.op), process, inter, members};
  for (const auto& check : checks)
    if (MaybeObjection objection = check(context)) return objection;
  return std::nullopt;
}

}  // namespace simreplay::simtrace
