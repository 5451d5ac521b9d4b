#pragma once
// The matrices of what was measured: channels, tasks and processors by cells.

#include <cstdint>
#include <string>
#include <vector>

#include "common/performance/catalog.hpp"

namespace simreplay::performance {

/// The ordered messages of one sender, receiver, communicator and tag.
struct Channel {
  std::int32_t source = 0, destination = 0, communicator = 0, tag = 0;  // tags below 0: made of collectives
  friend auto operator<=>(const Channel&, const Channel&) = default;
};
/// For people: `0>1 tag 7`, `0>1 collective`.
std::string to_text(const Channel& channel);

struct Figures {
  std::vector<Cells> tasks;          // by task, which is the number of its processor
  std::vector<std::int32_t> nodes;   // of each processor
  std::vector<Channel> channels;     // ascending
  std::vector<Cells> channel_cells;  // of each of them
};

}  // namespace simreplay::performance
