#include "replay/network/ethernet/domain.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "replay/network/ethernet/frames.hpp"

namespace simreplay::ethernet {

Domain::Domain(const SharedSettings& settings, std::int32_t number, std::vector<std::int32_t> hosts)
    : settings_(settings),
      names_(std::move(hosts)),
      hosts_(names_.size()),
      medium_(settings.per_byte, static_cast<std::int32_t>(names_.size()) + 1) {
  figures_.domain = number;
  figures_.hosts = port_sender();
}

Medium::Work Domain::work_of(std::int64_t payload) const {
  std::int64_t overhead = 0, bytes = 0;
  if (__builtin_mul_overflow(frames_of(payload, settings_.mtu), settings_.frame_overhead, &overhead) ||
      __builtin_add_overflow(payload, overhead, &bytes))
    throw Error({.operation = "shared-ethernet.frame-overhead",
                 .expected = "messages of at most 2^63 B with what goes along",
                 .found = format_bytes(payload)});
  return medium_.work_of(bytes);
}

/// The whole message, or the first frame if it has to pass the switch.
Medium::Work Domain::first_work(const Host& host) const {
  const std::int64_t bytes = host.now.message.bytes;
  return work_of(host.now.leaves ? payload_of(bytes, 0, settings_.mtu) : bytes);
}

void Domain::inject(const network::Message& message, bool leaves) {
  const auto host =
      static_cast<std::int32_t>(std::ranges::lower_bound(names_, message.source) - names_.begin());
  hosts_[static_cast<std::size_t>(host)].waiting.push({message, leaves});
  schedule(host);
}

/// The next message of a host may yet be another one, handed over earlier: it is chosen when it begins.
void Domain::schedule(std::int32_t host) {
  const Host& h = hosts_[static_cast<std::size_t>(host)];
  if (h.sending || h.waiting.empty()) return;
  ready_.push({std::max(h.waiting.top().message.time, h.free) + settings_.start, host});
}

TimePoint Domain::next_event() const {
  TimePoint next = medium_.next_end();
  if (!ready_.empty()) next = std::min(next, ready_.top().time);
  if (!port_sending_ && !port_.empty()) next = std::min(next, port_.top().time);
  return next;
}

void Domain::advance(TimePoint until) {
  for (TimePoint next = next_event(); next < until; next = next_event()) work_at(next);
}

/// Who ends leaves the medium before others begin.
void Domain::work_at(TimePoint now) {
  while (const auto ended = medium_.take_ended(now)) end_of_work(*ended, now);
  while (!ready_.empty() && ready_.top().time <= now) {
    const std::int32_t host = ready_.top().host;
    ready_.pop();
    begin_sending(host, now);
  }
  if (port_sending_) return;
  if (const std::optional<Medium::Work> work = take_from_port(now)) {
    port_sending_ = true;
    medium_.start(now, port_sender(), *work);
  }
}

void Domain::begin_sending(std::int32_t host, TimePoint now) {
  Host& h = hosts_[static_cast<std::size_t>(host)];
  if (h.sending || h.waiting.empty()) return;
  const TimePoint begun = std::max(h.waiting.top().message.time, h.free);
  if (begun + settings_.start != now) return;  // out of date
  h.now = h.waiting.top();
  h.waiting.pop();
  h.sending = true;
  h.frame = 0;
  figures_.messages++;
  figures_.bytes += h.now.message.bytes;
  figures_.queued.add(begun - h.now.message.time);
  if (const Medium::Work work = first_work(h); work > 0)
    medium_.start(now, host, work);
  else
    end_message(host, now);
}

void Domain::end_of_work(const Medium::Transfer& ended, TimePoint now) {
  if (ended.sender == port_sender())
    end_at_port(ended, now);
  else
    end_at_host(ended, now);
}

void Domain::end_at_host(const Medium::Transfer& ended, TimePoint now) {
  Host& h = hosts_[static_cast<std::size_t>(ended.sender)];
  const network::Message& m = h.now.message;
  if (!h.now.leaves || h.frame + 1 == frames_of(m.bytes, settings_.mtu))
    return end_message(ended.sender, now);
  leaving_.push_back(
      {now + settings_.switch_delay, m, h.frame, payload_of(m.bytes, h.frame, settings_.mtu), false});
  h.frame++;
  medium_.go_on(ended, work_of(payload_of(m.bytes, h.frame, settings_.mtu)));
}

void Domain::end_message(std::int32_t host, TimePoint now) {
  Host& h = hosts_[static_cast<std::size_t>(host)];
  const network::Message& m = h.now.message;
  if (h.now.leaves)
    leaving_.push_back(
        {now + settings_.switch_delay, m, h.frame, payload_of(m.bytes, h.frame, settings_.mtu), true});
  else
    arrive(m, now);
  h.sending = false;
  h.free = now;
  schedule(host);
}

/// The work of the next frame in the port. An empty message is a frame without work, which arrives at once.
std::optional<Medium::Work> Domain::take_from_port(TimePoint now) {
  while (!port_.empty() && port_.top().time <= now) {
    port_frame_ = port_.top();
    port_.pop();
    figures_.forwarded++;
    figures_.port_queued.add(now - port_frame_.time);
    if (const Medium::Work work = work_of(port_frame_.payload); work > 0) return work;
    arrive(port_frame_.message, now);
  }
  return std::nullopt;
}

void Domain::end_at_port(const Medium::Transfer& ended, TimePoint now) {
  if (port_frame_.last) arrive(port_frame_.message, now);
  const std::optional<Medium::Work> work = take_from_port(now);
  port_sending_ = work.has_value();
  if (work) medium_.go_on(ended, *work);
}

/// Beyond what it takes alone, in a domain of its own.
Duration Domain::held(const network::Message& m, TimePoint now) const {
  return std::max(now - m.time - settings_.start - Duration{settings_.per_byte.times(m.bytes)}, Duration{});
}

void Domain::arrive(const network::Message& m, TimePoint now) {
  arrivals_.push_back({now, m.id, m.source, m.destination, m.bytes, m.payload, m.time, held(m, now)});
  figures_.arrived.add(m.time, now, m.bytes);
}

DomainFigures Domain::figures() const {
  DomainFigures f = figures_;
  f.busy = medium_.busy();
  f.sender_time_ps = medium_.sender_time_ps();
  f.most_senders = medium_.most_senders();
  return f;
}

}  // namespace simreplay::ethernet
