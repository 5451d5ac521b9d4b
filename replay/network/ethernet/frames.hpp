#pragma once
// How messages are cut into frames.

#include <algorithm>
#include <cstdint>

namespace simreplay::ethernet {

/// A message without bytes is a frame, too.
inline std::int64_t frames_of(std::int64_t bytes, std::int64_t mtu) {
  return std::max<std::int64_t>(1, bytes / mtu + (bytes % mtu != 0 ? 1 : 0));
}

/// Of frame `frame`, from 0.
inline std::int64_t payload_of(std::int64_t bytes, std::int64_t frame, std::int64_t mtu) {
  return std::min(mtu, bytes - frame * mtu);
}

}  // namespace simreplay::ethernet
