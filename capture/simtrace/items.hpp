#pragma once
// What stands in the lists and fields of signatures, by name (docs/trace-format.md).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/trace/format.hpp"

namespace simreplay::simtrace {

using ItemList = std::span<const std::int64_t>;

/// A message that MPI_Start or MPI_Startall starts.
struct Start {
  std::int64_t mode, communicator, peer, tag, bytes, request, flags;
};
inline std::size_t number_of_starts(ItemList items) { return items.size() / start_words; }
inline Start start_in(ItemList items, std::size_t i) {
  const ItemList w = items.subspan(i * start_words, start_words);
  return {w[start_mode],  w[start_communicator], w[start_peer], w[start_tag],
          w[start_bytes], w[start_request],      w[start_flags]};
}

/// Words of the destinations or of the sources of a collective among neighbours.
struct Neighbor {
  std::int64_t rank, bytes;
};
inline std::size_t number_of_neighbors(ItemList pairs) { return pairs.size() / 2; }
inline Neighbor neighbor_in(ItemList pairs, std::size_t i) { return {pairs[2 * i], pairs[2 * i + 1]}; }

inline std::size_t number_of_destinations(ItemList items) {
  const std::size_t all = items.empty() ? 0 : (items.size() - 1) / 2;
  return items.empty() || items[0] < 0 ? 0 : std::min(all, static_cast<std::size_t>(items[0]));
}
inline ItemList destinations_in(ItemList items) {
  return items.empty() ? items : items.subspan(1, 2 * number_of_destinations(items));
}
inline ItemList sources_in(ItemList items) {
  return items.empty() ? items : items.subspan(1 + 2 * number_of_destinations(items));
}

/// A function without communication that is recorded by name and time only.
constexpr bool is_local(Op op) {
  return info(op).verb == Verb::local && op != Op::Comm_free && op != Op::Comm_disconnect;
}
/// The row may stand for many calls: `bytes` is their number.
inline bool is_folded(const trace::Signature& s) {
  return is_local(s.op) || (s.flags & trace::nothing_found) != 0;
}
inline std::int64_t calls_of(const trace::Signature& s) {
  return is_folded(s) ? std::max<std::int64_t>(s.bytes, 1) : 1;
}

}  // namespace simreplay::simtrace
