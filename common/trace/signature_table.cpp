#include "common/trace/signature_table.hpp"

namespace simreplay::trace {

Signature SignatureTable::operator[](std::size_t i) const {
  return {static_cast<Op>(operation[i]),
          flags[i],
          thread[i],
          overlaps[i],
          communicator[i],
          peer[i],
          tag[i],
          request[i],
          bytes[i],
          std::span<const std::int64_t>(item_values).subspan(item_end[i] - items[i], items[i])};
}

void SignatureTable::push_back(const Signature& s) {
  operation.push_back(static_cast<std::uint16_t>(s.op));
  flags.push_back(s.flags);
  thread.push_back(s.thread);
  overlaps.push_back(s.overlaps);
  communicator.push_back(s.communicator);
  peer.push_back(s.peer);
  tag.push_back(s.tag);
  request.push_back(s.request);
  bytes.push_back(s.bytes);
  items.push_back(static_cast<std::uint32_t>(s.items.size()));
  item_values.insert(item_values.end(), s.items.begin(), s.items.end());
  item_end.push_back(item_values.size());
}

void SignatureTable::clear() {
  operation.clear();
  flags.clear();
  thread.clear();
  overlaps.clear();
  communicator.clear();
  peer.clear();
  tag.clear();
  request.clear();
  bytes.clear();
  items.clear();
  item_end.clear();
  item_values.clear();
}

}  // namespace simreplay::trace
