// How the replay ended: what each process adds up to, who waits for what, and what nobody received.

#include <fmt/format.h>

#include "common/error.hpp"
#include "replay/engine/engine.hpp"

namespace simreplay::engine {
namespace {

constexpr std::size_t lines_shown = 20;

std::string describe(const Envelope& e, std::int32_t peer, const char* preposition) {
  if (peer < 0) return "a message that the trace does not name";
  if (e.communicator & answers)
    return fmt::format("process {} to receive its message with tag {}", peer, e.tag);
  if (e.tag < 0)
    return fmt::format("a message of {} {} process {} on communicator {}",
                       e.tag >= posted_collective_tag ? "the collective" : "the window's epoch", preposition,
                       peer, e.communicator);
  return fmt::format("a message {} process {} with tag {} on communicator {}", preposition, peer, e.tag,
                     e.communicator);
}

}  // namespace

/// The channel from which the process, or the collective it waits for, wants a message.
std::uint32_t Engine::awaited_channel(const VirtualProcessor& v) const {
  const auto of = [](const Lane& lane, const auto& slots) {
    return lane.blocked == Lane::Blocked::on_slot ? slots[lane.blocked_on].channel : lane.blocked_on;
  };
  const std::uint32_t channel = of(v.main, v.slots);
  if (channel != no_channel) return channel;
  // Not the strand of that request alone: it may be one before it that is stuck.
  return of(v.strands[v.order.front()], v.strands[v.order.front()].slots);
}

std::string Engine::describe_block(const VirtualProcessor& v) const {
  Fault fault{.file = trace_.path(), .process = v.process};
  const std::uint16_t signature = v.window.signature[v.row];
  fault.call = static_cast<std::int64_t>(v.window.first_row + v.row - v.first_call);
  fault.operation = std::string(info(v.program.ops[signature]).name);
  const Envelope& e = channels_.envelope(awaited_channel(v));
  fault.expected = describe(e, e.source, "from");
  fault.found = e.communicator & answers ? "no such receive" : "none";
  if (e.source >= 0 && trace_.processes(e.source, 1)[0].record == trace::Record::cut)
    fault.remedy = fmt::format("the trace of process {} ends before MPI_Finalize", e.source);
  return to_string(fault);
}

Outcome Engine::outcome() {
  Outcome o;
  o.first_process = partition_.first(rank_);
  o.failure = failure_;
  o.metrics = trace_.metrics();
  for (VirtualProcessor& v : processors_) {
    if (!v.finished) cut(v);
    if (v.is_cut) o.cut_processes++;
    o.accounts.push_back(v.account);
    if (!observed_.empty()) finish_metrics(v, o);
    if (v.main.blocked == Lane::Blocked::no || !failure_.empty()) continue;
    if (o.blocked_processes++ < static_cast<std::int64_t>(lines_shown))
      o.blocked.push_back(describe_block(v));
  }
  o.unreceived_messages = channels_.unreceived();
  channels_.each_unreceived([&](const Envelope& e, std::int64_t n) {
    if (o.unreceived.size() == lines_shown) return;
    const std::string what = describe(e, e.destination, "to");
    o.unreceived.push_back(fmt::format("process {}: {} times {} was never received", e.source, n, what));
  });
  return o;
}

}  // namespace simreplay::engine
