#include "capture/simtrace/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "capture/simtrace/enum_table.hpp"
#include "capture/simtrace/items.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

constexpr std::size_t items_shown = 16;

// ---- the fields ----

/// Which fields of a signature mean something, and what they are called.
struct Fields {
  const char* peer = nullptr;
  bool tag = false, bytes = false;
  const char* place = nullptr;  // what `communicator` is
};
constexpr Fields message_to{"to", true, true, "communicator"};
constexpr Fields message_from{"from", true, true, "communicator"};
constexpr Fields together{nullptr, false, true, "communicator"};
constexpr Fields access{"target", false, true, "window"};
constexpr Fields synchronisation{nullptr, false, false, "window"};

constexpr VerbTable<Fields> fields_of_verb({
    {Verb::send, message_to},
    {Verb::post_send, message_to},
    {Verb::exchange, message_to},
    {Verb::receive, message_from},
    {Verb::post_receive, message_from},
    {Verb::probe, message_from},
    {Verb::prepare, message_to},
    {Verb::collective, together},
    {Verb::post_collective, together},
    {Verb::neighbors, together},
    {Verb::post_neighbors, together},
    {Verb::create, {nullptr, false, false, "communicator"}},
    {Verb::put, access},
    {Verb::get, access},
    {Verb::update, access},
    {Verb::fence, synchronisation},
    {Verb::expose, synchronisation},
    {Verb::access, synchronisation},
    {Verb::conclude, synchronisation},
    {Verb::retract, synchronisation},
    {Verb::lock, {"target", false, false, "window"}},
    {Verb::flush, {"target", false, false, "window"}},
    {Verb::flush_local, {"target", false, false, "window"}},
    {Verb::io, {nullptr, false, true, nullptr}},
});

Fields fields_of(Op op) {
  if (op == Op::Recv_init) return message_from;
  if (op == Op::Comm_free || op == Op::Comm_disconnect) return {nullptr, false, false, "communicator"};
  Fields fields = fields_of_verb[info(op).verb];
  if (info(op).name.ends_with("_all")) fields.peer = nullptr;  // MPI_Win_lock_all and its like
  return fields;
}

std::string rank_text(std::int64_t rank) {
  if (rank == trace::nobody) return "none";
  if (rank == trace::anybody) return "any";
  return std::to_string(rank);
}

std::string times(std::int64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

// ---- the flags ----

constexpr struct {
  trace::Flag flag;
  const char* text;
} flag_names[] = {{trace::any_source, "any source"},
                  {trace::any_tag, "any tag"},
                  {trace::cancelled, "cancelled"},
                  {trace::in_place, "in place"},
                  {trace::not_commutative, "not commutative"}};

/// Each with `separator` before it.
std::string flags_text(std::int64_t flags, const char* separator) {
  std::string all;
  for (const auto& [flag, text] : flag_names)
    if ((flags & flag) != 0) all += std::string(separator) + text;
  return all;
}

// ---- the items ----

std::string list_text(ItemList items) {
  const auto shown = items.first(std::min(items.size(), items_shown));
  return fmt::format("[{}{}]", fmt::join(shown, " "), shown.size() < items.size() ? " ..." : "");
}

/// Texts of the first of `n` things.
template <class Text>
std::string list_of(std::size_t n, Text text) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(n, items_shown); i++) shown.push_back(text(i));
  return fmt::format("[{}{}]", fmt::join(shown, ", "), shown.size() < n ? ", ..." : "");
}

std::string nothing(const Signature&) { return {}; }

std::string requests(const Signature& s) {
  return (s.flags & trace::nothing_found) != 0 ? std::string() : "requests " + list_text(s.items);
}

std::string receive_half(const Signature& s) {
  if (s.items.size() != 3) return list_text(s.items);
  return fmt::format("received from {} tag {} {} B", rank_text(s.items[0]), rank_text(s.items[1]),
                     s.items[2]);
}

std::string blocks(const Signature& s) { return s.items.empty() ? "" : "blocks " + list_text(s.items); }

std::string created(const Signature& s) {
  const char* what = info(s.op).name.starts_with("MPI_Win") ? "window" : "communicator";
  return s.items.empty() ? fmt::format("no new {}", what)
                         : fmt::format("new {} {}", what, list_text(s.items));
}

const char* start_text(std::int64_t mode) {
  return mode == starts_receive ? "receive from" : mode == starts_send ? "send to" : "synchronous send to";
}

std::string starts(const Signature& s) {
  return list_of(number_of_starts(s.items), [&](std::size_t i) {
    const Start m = start_in(s.items, i);
    return fmt::format("{} {} tag {} {} B communicator {} request {}{}", start_text(m.mode),
                       rank_text(m.peer), rank_text(m.tag), m.bytes, m.communicator, m.request,
                       flags_text(m.flags, " "));
  });
}

std::string ranks(const Signature& s) {
  return (s.flags & trace::nothing_found) != 0 ? std::string() : "processes " + list_text(s.items);
}

std::string neighbors_text(ItemList pairs) {
  return list_of(number_of_neighbors(pairs), [&](std::size_t i) {
    const Neighbor n = neighbor_in(pairs, i);
    return fmt::format("{} {} B", rank_text(n.rank), n.bytes);
  });
}

std::string neighbors(const Signature& s) {
  return fmt::format("to {} from {}", neighbors_text(destinations_in(s.items)),
                     neighbors_text(sources_in(s.items)));
}

std::string value(const Signature& s) { return list_text(s.items); }

// ---- marks ----

std::string metric_text(std::int64_t metric, std::span<const trace::Metric> metrics) {
  if (metric < 0 || metric >= std::ssize(metrics)) return fmt::format("metric {}", metric);
  return fmt::format("'{}'", metrics[static_cast<std::size_t>(metric)].name);
}

std::string mark_text(const Signature& s, std::span<const trace::Metric> metrics) {
  if (s.op != Op::Timer_while || s.items.empty()) return metric_text(s.tag, metrics);
  return fmt::format("{} while {} is above 0", metric_text(s.tag, metrics), metric_text(s.items[0], metrics));
}

constexpr ItemsTable<std::string (*)(const Signature&)> item_texts({
    {Items::none, nothing},
    {Items::requests, requests},
    {Items::receive_half, receive_half},
    {Items::blocks_at_root, blocks},
    {Items::blocks, blocks},
    {Items::blocks_twice, blocks},
    {Items::communicator, created},
    {Items::starts, starts},
    {Items::ranks, ranks},
    {Items::neighbors, neighbors},
    {Items::value, value},
    {Items::counter, nothing},
});
static_assert(item_texts.is_full());

}  // namespace

std::string describe(const Signature& s, std::span<const trace::Metric> metrics) {
  const OpInfo& row = info(s.op);
  const Fields fields = fields_of(s.op);
  const bool found_nothing = (s.flags & trace::nothing_found) != 0;
  std::vector<std::string> parts{std::string(row.name)};
  if (fields.peer != nullptr)
    parts.push_back(fmt::format("{} {}", fields.peer, rank_text(s.peer)) +
                    (fields.tag ? " tag " + rank_text(s.tag) : ""));
  if (row.verb == Verb::mark) parts.push_back(mark_text(s, metrics));
  if (row.rooted) parts.push_back("root " + rank_text(s.peer));
  if (fields.bytes && !found_nothing) parts.push_back(fmt::format("{} B", s.bytes));
  if (fields.place != nullptr) parts.push_back(fmt::format("{} {}", fields.place, s.communicator));
  if (s.request != trace::nobody) parts.push_back(fmt::format("request {}", s.request));
  if (std::string text = item_texts[row.items](s); !text.empty()) parts.push_back(std::move(text));
  if (s.thread != 0) parts.push_back(fmt::format("thread {}", s.thread));
  if (found_nothing)
    parts.push_back("nothing found, " + times(s.bytes));
  else if (is_local(s.op) && s.bytes != 1)
    parts.push_back(times(s.bytes));
  return fmt::format("{}{}", fmt::join(parts, ", "), flags_text(s.flags, ", "));
}

}  // namespace simreplay::simtrace
