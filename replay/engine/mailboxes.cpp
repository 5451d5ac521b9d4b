#include "replay/engine/mailboxes.hpp"

#include <algorithm>

#include "common/trace/format.hpp"
#include "replay/engine/step.hpp"

namespace simreplay::engine {

bool Mailboxes::is_for(const Envelope& e) {
  return (e.tag >= 0 || e.tag == trace::anybody) && !(e.communicator & answers);
}

void Mailboxes::open(std::uint32_t channel, const Envelope& e) {
  if (channel < box_.size() && envelope_[channel] == e) return;
  const auto [known, is_new] =
      known_.try_emplace({e.destination, e.communicator}, static_cast<std::uint32_t>(boxes_.size()));
  if (is_new) boxes_.emplace_back();
  if (channel >= box_.size()) {
    box_.resize(channel + 1);
    envelope_.resize(channel + 1);
  }
  box_[channel] = known->second;
  envelope_[channel] = e;
}

bool Mailboxes::fits(std::uint32_t receive, std::uint32_t message) const {
  const auto accepts = [](std::int32_t wanted, std::int32_t is) {
    return wanted == is || wanted == trace::anybody;
  };
  const Envelope &r = envelope_[receive], &m = envelope_[message];
  return accepts(r.source, m.source) && accepts(r.tag, m.tag);
}

std::deque<Mailboxes::Found>::const_iterator Mailboxes::first_for(std::uint32_t receive) const {
  return std::ranges::find_if(boxes_[box_[receive]].arrived,
                              [&](const Found& f) { return fits(receive, f.channel); });
}

std::optional<Mailboxes::Found> Mailboxes::find(std::uint32_t channel) const {
  const auto first = first_for(channel);
  if (first == boxes_[box_[channel]].arrived.end()) return std::nullopt;
  return *first;
}

std::optional<Mailboxes::Found> Mailboxes::receive(std::uint32_t channel, PendingReceive r) {
  Mailbox& box = of(channel);
  const auto first = first_for(channel);
  if (first == box.arrived.end()) {
    box.posted.push_back({channel, r});
    return std::nullopt;
  }
  const Found found = *first;
  box.arrived.erase(first);
  return found;
}

std::optional<PendingReceive> Mailboxes::arrive(std::uint32_t channel, const Arrival& a) {
  Mailbox& box = of(channel);
  const auto first =
      std::ranges::find_if(box.posted, [&](const Posted& p) { return fits(p.channel, channel); });
  if (first == box.posted.end()) {
    box.arrived.push_back({channel, a});
    return std::nullopt;
  }
  const PendingReceive receive = first->receive;
  box.posted.erase(first);
  return receive;
}

void Mailboxes::abandon(std::uint32_t channel, PendingReceive r) {
  for (Posted& p : of(channel).posted)
    if (p.receive == r) p.receive.slot = no_slot;
}

std::vector<Envelope> Mailboxes::unreceived_envelopes() const {
  std::vector<Envelope> all;
  for (const Mailbox& box : boxes_)
    for (const Found& f : box.arrived) all.push_back(envelope_[f.channel]);
  return all;
}

}  // namespace simreplay::engine
