#include "capture/simtrace/signature_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capture/simtrace/enum_table.hpp"
#include "capture/simtrace/items.hpp"
#include "capture/simtrace/requests.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;
using MaybeObjection = std::optional<Objection>;

struct Context {
  const Signature& s;
  const OpInfo& row;
  std::int32_t process;
  Membership& members;

  bool inter() const { return members.is_inter(s.communicator); }
  bool has(trace::Flag flag) const { return (s.flags & flag) != 0; }
};
using Check = MaybeObjection (*)(const Context&);

bool fits(std::int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; }

// ---- ranks ----

MaybeObjection check_membership(const Context& c, std::int32_t communicator) {
  if (c.members.holds(communicator, c.process, c.process)) return std::nullopt;
  return Objection{fmt::format("a communicator of process {}", c.process),
                   fmt::format("communicator {}", communicator), false};
}

/// `open`: the call never learnt who it was.
MaybeObjection check_rank(const Context& c, std::int32_t communicator, std::int64_t rank, bool open) {
  if (rank == trace::nobody || (rank == trace::anybody && open)) return std::nullopt;
  if (rank == trace::anybody) return Objection{"the real source of the message", "MPI_ANY_SOURCE", false};
  if (rank >= 0 && fits(rank) && c.members.has_peer(communicator, c.process, static_cast<std::int32_t>(rank)))
    return std::nullopt;
  return Objection{fmt::format("a member of {}communicator {}",
                               c.members.is_inter(communicator) ? "the other group of " : "", communicator),
                   fmt::format("process {}", rank), false};
}

MaybeObjection check_rank_of_peer(const Context& c, bool open) {
  return check_rank(c, c.s.communicator, c.s.peer, open);
}

MaybeObjection matched(const Context& c) { return check_rank_of_peer(c, c.has(trace::cancelled)); }
MaybeObjection posted(const Context& c) { return check_rank_of_peer(c, true); }  // maybe never completed
MaybeObjection target(const Context& c) { return check_rank_of_peer(c, false); }

MaybeObjection root(const Context& c) {
  if (!c.row.rooted || (c.inter() && c.s.peer == c.process)) return std::nullopt;
  if (!c.inter() && c.s.peer < 0 && !c.members.has_strangers(c.s.communicator))
    return Objection{"a root", fmt::format("process {}", c.s.peer), true};
  return check_rank_of_peer(c, false);
}

constexpr VerbTable<Check> peer_checks({
    {Verb::send, matched},
    {Verb::post_send, matched},
    {Verb::exchange, matched},
    {Verb::receive, matched},
    {Verb::post_receive, posted},
    {Verb::prepare, posted},
    {Verb::collective, root},
    {Verb::post_collective, root},
    {Verb::put, target},
    {Verb::get, target},
    {Verb::update, target},
    {Verb::lock, target},
    {Verb::flush, target},
    {Verb::flush_local, target},
});

// ---- items ----

std::string items_text(std::size_t n) { return n == 1 ? "1 item" : fmt::format("{} items", n); }

MaybeObjection expect_items(const Context& c, std::int64_t n) {
  const std::size_t expected = static_cast<std::size_t>(n);
  if (c.s.items.size() == expected) return std::nullopt;
  return Objection{items_text(expected), items_text(c.s.items.size()), false};
}

MaybeObjection expect_bytes(std::int64_t n, bool usable) {
  if (n >= 0) return std::nullopt;
  return Objection{"a number of bytes", fmt::format("{}", n), usable};
}

MaybeObjection no_items(const Context& c) { return expect_items(c, 0); }

MaybeObjection requests(const Context& c) {
  if (c.row.verb == Verb::cancel) return expect_items(c, 1);
  if (c.has(trace::nothing_found)) return expect_items(c, 0);
  // An inactive persistent request is freed without closing any.
  return c.row.verb == Verb::release && !c.s.items.empty() ? expect_items(c, 1) : std::nullopt;
}

MaybeObjection receive_half(const Context& c) {
  if (MaybeObjection o = expect_items(c, 3)) return o;
  if (MaybeObjection o = expect_bytes(c.s.items[2], false)) return o;
  return check_rank(c, c.s.communicator, c.s.items[0], false);
}

MaybeObjection created(const Context& c) {
  if (c.s.items.empty()) return std::nullopt;
  if (MaybeObjection o = expect_items(c, 1)) return o;
  if (c.members.exists(c.s.items[0])) return check_membership(c, static_cast<std::int32_t>(c.s.items[0]));
  return Objection{"a communicator of the trace", fmt::format("id {}", c.s.items[0]), false};
}

MaybeObjection expect_blocks(const Context& c, std::int64_t n) {
  if (MaybeObjection o = expect_items(c, n)) return o;
  const auto bad = std::ranges::find_if(c.s.items, [](std::int64_t bytes) { return bytes < 0; });
  return bad == c.s.items.end() ? std::nullopt : expect_bytes(*bad, true);
}

/// Processes that exchange data in a collective: in an intercommunicator those of the other group.
std::int64_t peers(const Context& c) { return c.members.peers(c.s.communicator, c.process); }

MaybeObjection blocks_at_root(const Context& c) {
  return expect_blocks(c, c.s.peer == c.process ? peers(c) : 0);
}

/// MPI_Reduce_scatter says what the processes of the own group receive.
MaybeObjection blocks(const Context& c) {
  const bool own_group = c.inter() && c.row.reduces;
  return expect_blocks(c, own_group ? c.members.size(c.s.communicator) - peers(c) : peers(c));
}

MaybeObjection blocks_twice(const Context& c) { return expect_blocks(c, 2 * peers(c)); }

MaybeObjection one_item(const Context& c) { return expect_items(c, 1); }

MaybeObjection check_start(const Context& c, const Start& m) {
  if (m.mode < starts_receive || m.mode > starts_synchronous_send)
    return Objection{"a receive (0), a send (1) or a synchronous send (2)", fmt::format("{}", m.mode), false};
  if (!c.members.exists(m.communicator))
    return Objection{"a communicator of the trace", fmt::format("id {}", m.communicator), false};
  const auto communicator = static_cast<std::int32_t>(m.communicator);
  if (MaybeObjection o = check_membership(c, communicator)) return o;
  if (MaybeObjection o = check_rank(c, communicator, m.peer, m.mode == starts_receive)) return o;
  if (!fits(m.tag)) return Objection{"a tag", fmt::format("{}", m.tag), false};
  if (m.request < 0 || !fits(m.request))
    return Objection{"a request slot", fmt::format("slot {}", m.request), true};
  return expect_bytes(m.bytes, false);
}

MaybeObjection starts(const Context& c) {
  if (c.s.items.size() % start_words != 0)
    return Objection{fmt::format("{} items for each message", std::size_t{start_words}),
                     items_text(c.s.items.size()), false};
  for (std::size_t i = 0; i < number_of_starts(c.s.items); i++)
    if (MaybeObjection o = check_start(c, start_in(c.s.items, i))) return o;
  return std::nullopt;
}

MaybeObjection ranks(const Context& c) {
  if (c.has(trace::nothing_found)) return expect_items(c, 0);
  for (const std::int64_t rank : c.s.items)
    if (MaybeObjection o = check_rank(c, c.s.communicator, rank, false)) return o;
  return std::nullopt;
}

MaybeObjection neighbors(const Context& c) {
  const ItemList items = c.s.items;
  if (items.size() % 2 != 1) return Objection{"an odd number of items", items_text(items.size()), false};
  const ItemList pairs = items.subspan(1);
  if (static_cast<std::int64_t>(number_of_destinations(items)) != items[0])
    return Objection{fmt::format("0 to {} destinations", number_of_neighbors(pairs)),
                     fmt::format("{}", items[0]), false};
  for (std::size_t i = 0; i < number_of_neighbors(pairs); i++) {
    const Neighbor n = neighbor_in(pairs, i);
    if (MaybeObjection o = check_rank(c, c.s.communicator, n.rank, false)) return o;
    if (MaybeObjection o = expect_bytes(n.bytes, false)) return o;
  }
  return std::nullopt;
}

constexpr ItemsTable<Check> item_checks({
    {Items::none, no_items},
    {Items::requests, requests},
    {Items::receive_half, receive_half},
    {Items::blocks_at_root, blocks_at_root},
    {Items::blocks, blocks},
    {Items::blocks_twice, blocks_twice},
    {Items::communicator, created},
    {Items::starts, starts},
    {Items::ranks, ranks},
    {Items::neighbors, neighbors},
    {Items::value, one_item},
    {Items::counter, one_item},
});
static_assert(item_checks.is_full());

// ---- all of them, the first objection counts ----

MaybeObjection check_communicator(const Context& c) { return check_membership(c, c.s.communicator); }

MaybeObjection check_items(const Context& c) { return item_checks[c.row.items](c); }

MaybeObjection check_peer(const Context& c) {
  const Check check = peer_checks[c.row.verb];
  return check == nullptr ? std::nullopt : check(c);
}

MaybeObjection check_request(const Context& c) {
  if (opens(c.s.op) == Opens::must && c.s.request < 0) return Objection{"a request slot", "none", true};
  if (opens(c.s.op) == Opens::never && c.s.request != trace::nobody)
    return Objection{"no request slot", fmt::format("slot {}", c.s.request), true};
  return std::nullopt;
}

MaybeObjection check_folding(const Context& c) {
  if (!is_folded(c.s) || c.s.bytes >= 1) return std::nullopt;
  return Objection{"the number of calls that were folded into one", fmt::format("{}", c.s.bytes), true};
}

constexpr Check checks[] = {check_communicator, check_items, check_peer, check_request, check_folding};

}  // namespace

std::optional<Objection> object_to(const Signature& s, std::int32_t process, Membership& members) {
  const Context context{s, info(s.op), process, members};
  for (const Check check : checks)
    if (MaybeObjection objection = check(context)) return objection;
  return std::nullopt;
}

}  // namespace simreplay::simtrace
