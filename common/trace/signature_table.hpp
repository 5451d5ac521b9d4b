#pragma once
// The signatures of one segment, column by column.

#include <cstdint>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::trace {

struct SignatureTable {
  std::vector<std::uint16_t> operation, flags, thread, overlaps;
  std::vector<std::int32_t> communicator, peer, tag, request;
  std::vector<std::int64_t> bytes;
  std::vector<std::uint32_t> items;     // number of items of each signature
  std::vector<std::uint64_t> item_end;  // in memory only: running sum of `items`
  std::vector<std::int64_t> item_values;

  std::size_t size() const { return operation.size(); }
  Signature operator[](std::size_t i) const;
  void push_back(const Signature& s);
  void clear();
};

}  // namespace simreplay::trace
