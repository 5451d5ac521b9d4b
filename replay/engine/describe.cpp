// Messages as people name them.

#include <fmt/format.h>

#include "replay/engine/engine.hpp"

namespace simreplay::engine {

std::string describe(const Envelope& e, std::int32_t peer, const char* preposition) {
  if (peer < 0) return "a message that the trace does not name";
  if (e.communicator & answers)
    return fmt::format("process {} to receive its message with tag {}", peer, e.tag);
  if (e.tag < 0)
    return fmt::format("a message of {} {} process {} on communicator {}",
                       e.tag >= posted_signal_tag ? "the collective" : "the window's epoch", preposition,
                       peer, e.communicator);
  return fmt::format("a message {} process {} with tag {} on communicator {}", preposition, peer, e.tag,
                     e.communicator);
}

}  // namespace simreplay::engine
