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

namespace {

performance::Cells& add_row(Outcome& o, const Envelope& e) {
  o.channels.push_back({e.source, e.destination, e.communicator, e.tag});
  return o.channel_cells.emplace_back();
}

}  // namespace

void Outcome::add(const Envelope& e, const observe::Sending& s) {
  using performance::Cell;
  performance::Cells& c = add_row(*this, e);
  c[Cell::sends] = s.messages;
  c[Cell::bytes_sent] = s.bytes;
  c[Cell::send_time] = s.time.count();
  c[Cell::send_max] = s.longest.count();
}

void Outcome::add(const Envelope& e, const observe::Receiving& r) {
  using performance::Cell;
  performance::Cells& c = add_row(*this, e);
  c[Cell::receives] = r.messages;
  c[Cell::bytes_received] = r.bytes;
  c[Cell::receive_time] = r.time.count();
  c[Cell::receive_max] = r.longest.count();
  c[Cell::receive_wait] = r.waiting.count();
  c[Cell::in_flight] = r.queue.in_flight.count();
  c[Cell::queue_max] = r.queue.most;
}

void Outcome::add_unreceived(const Envelope& e, std::int64_t messages) {
  if (e.source >= 0 && !(e.communicator & answers)) add_row(*this, e)[performance::Cell::queue] = messages;
}

}  // namespace simreplay::engine
