// Collectives become the messages of their algorithms.

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <span>

#include "replay/collectives/inter.hpp"
#include "replay/engine/compiler_target.hpp"

namespace simreplay::engine {
namespace {

constexpr std::int64_t creation_bytes = 4;  // making a communicator agrees on one integer

}  // namespace

void Compiler::compile_collective(const trace::Signature& s, Target& to) {
  if (info(s.op).verb != Verb::create) {
    compile_rounds(s, *algorithms_[blocking(s.op)], s.communicator, s.bytes, to);
    return;
  }
  // MPI_Comm_create_group is called by the members of the new communicator alone.
  const bool by_members = s.op == Op::Comm_create_group;
  if (by_members && s.items.empty()) return;
  const std::int64_t created = s.items.empty() ? s.communicator : s.items[0];
  if (created < 0 || created >= static_cast<std::int64_t>(trace_.communicators().size()))
    to.refuse(trace_.path(), s, fmt::format("makes unknown communicator {}", created));
  compile_rounds(s, *algorithms_[Op::Allreduce],
                 by_members ? static_cast<std::int32_t>(created) : s.communicator, creation_bytes, to);
}

/// Those of rounds_. `world_rank` translates their peers.
template <class WorldRank>
void Compiler::add_messages(const trace::Signature& s, std::int32_t communicator, WorldRank&& world_rank,
                            Target& to) {
  using Message = collectives::Message;
  const bool is_posted = s.request != trace::nobody;
  const std::int32_t message_tag = is_posted ? posted_collective_tag : collective_tag;
  const std::int32_t signal = is_posted ? posted_signal_tag : signal_tag;
  for (const Message& m : rounds_.messages()) {
    if (m.kind == Message::Kind::finish) {
      to.finish();
    } else if (m.kind >= Message::Kind::pay_barrier) {
      to.add(Code::advance, payment(m, communicator));
    } else {
      const std::int32_t peer = world_rank(m.peer);
      const bool is_signal = m.kind == Message::Kind::signal || m.kind == Message::Kind::await_signal;
      const std::int32_t tag = is_signal ? signal : message_tag;
      add_message(m, {to.process, peer, communicator, tag}, {peer, to.process, communicator, tag}, to);
    }
  }
}

/// The class of what a member pays for a collective without messages.
std::uint32_t Compiler::payment(const collectives::Message& m, std::int32_t communicator) {
  using Message = collectives::Message;
  if (m.kind == Message::Kind::pay_barrier) return costs_.barrier();
  const bool within = on_one_node(communicator);
  if (m.kind == Message::Kind::pay_send) return costs_.send(m.bytes, within, network::Protocol::eager);
  const collectives::Formula& f = rounds_.formulas()[static_cast<std::size_t>(m.peer)];
  return costs_.formula({.role = network::Use::Role::formula,
                         .within_node = within,
                         .bytes = f.of_short.bytes,
                         .other_bytes = f.of_long.bytes,
                         .messages = f.of_short.messages,
                         .other_messages = f.of_long.messages});
}

bool Compiler::on_one_node(std::int32_t communicator) {
  const auto [it, is_new] = on_one_node_.try_emplace(communicator, true);
  if (!is_new) return it->second;
  const Group& members = group(communicator);
  for (int rank = 1; rank < members.size() && it->second; rank++)
    it->second = placement_.same_node(members.world_rank(0), members.world_rank(rank));
  return it->second;
}

void Compiler::compile_rounds(const trace::Signature& s, const collectives::Algorithm& algorithm,
                              std::int32_t communicator, std::int64_t bytes, Target& to) {
  if (trace_.communicators()[static_cast<std::size_t>(communicator)].first_group > 0)
    return compile_between_groups(s, communicator, to);
  const Group& members = group(communicator);
  const auto own = communicator == trace::self_id ? std::optional<int>(0) : members.rank_of(to.process);
  if (!own) to.refuse(trace_.path(), s, fmt::format("is not a member of communicator {}", communicator));
  collectives::Call call{.rank = *own,
                         .size = members.size(),
                         .bytes = bytes,
                         .commutative = !(s.flags & trace::not_commutative),
                         .in_place = (s.flags & trace::in_place) != 0};
  if (members.size() > 1 && info(s.op).rooted) {
    const auto root = s.peer < 0 ? std::nullopt : members.rank_of(s.peer);
    if (!root)
      to.refuse(trace_.path(), s,
                fmt::format("has root {}, no member of communicator {}", s.peer, communicator));
    call.root = *root;
  }
  call.blocks = blocks_of(s, call.size, call.rank == call.root, to);
  check_bytes(s, bytes, call.size, to);

  rounds_.clear();
  algorithm.rounds(call, rounds_);
  add_messages(
      s, communicator, [&](int rank) { return members.world_rank(rank); }, to);
}

/// The sizes that the call lists, or none.
std::span<const std::int64_t> Compiler::blocks_of(const trace::Signature& s, int peers, bool is_root,
                                                  const Target& to) const {
  const Items items = info(s.op).items;
  const bool needs =
      items == Items::blocks || items == Items::blocks_twice || (items == Items::blocks_at_root && is_root);
  if (!needs) return {};
  const std::size_t blocks = static_cast<std::size_t>(peers) * (items == Items::blocks_twice ? 2 : 1);
  if (s.items.size() != blocks)
    to.refuse(trace_.path(), s, fmt::format("expected sizes of {} blocks, found {}", blocks, s.items.size()));
  return s.items;
}

/// Sums over all members must not overflow.
void Compiler::check_bytes(const trace::Signature& s, std::int64_t bytes, int peers, const Target& to) const {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (4 * std::int64_t{peers});
  const auto check = [&](std::int64_t n) {
    if (n < 0 || n > most) to.refuse(trace_.path(), s, fmt::format("moves {} bytes", n));
  };
  check(bytes);
  std::ranges::for_each(s.items, check);
}

void Compiler::compile_between_groups(const trace::Signature& s, std::int32_t communicator, Target& to) {
  using Role = collectives::InterCall::Role;
  const Group& members = group(communicator);
  const int first_group = trace_.communicators()[static_cast<std::size_t>(communicator)].first_group;
  const auto own = members.rank_of(to.process);
  if (!own) to.refuse(trace_.path(), s, fmt::format("is not a member of communicator {}", communicator));
  const bool in_first = *own < first_group;
  const int begin = in_first ? 0 : first_group, remote_begin = in_first ? first_group : 0;
  collectives::InterCall call;
  call.rank = *own - begin;
  call.size = in_first ? first_group : members.size() - first_group;
  call.remote_size = members.size() - call.size;
  call.bytes = info(s.op).verb == Verb::create ? creation_bytes : s.bytes;
  call.commutative = !(s.flags & trace::not_commutative);
  if (info(s.op).rooted) {
    call.role = s.peer == to.process ? Role::root : s.peer < 0 ? Role::beside_root : Role::remote;
    if (call.role == Role::remote) call.root = members.rank_of(s.peer).value_or(remote_begin) - remote_begin;
  }
  const bool by_own_group = blocking(s.op) == Op::Reduce_scatter;
  call.blocks = blocks_of(s, by_own_group ? call.size : call.remote_size, call.role == Role::root, to);
  check_bytes(s, call.bytes, members.size(), to);

  rounds_.clear();
  const collectives::WithinGroup within = [this](Op op, const collectives::Call& c,
                                                 collectives::Rounds& out) {
    algorithms_[op]->rounds(c, out);
  };
  const Op op = info(s.op).verb == Verb::create  ? Op::Allreduce
                : info(s.op).verb == Verb::fence ? Op::Barrier
                                                 : blocking(s.op);
  try {
    collectives::between_groups(op, call, within, rounds_);
  } catch (const std::invalid_argument& e) {
    to.refuse(trace_.path(), s, e.what());
  }
  const auto world_rank = [&](int rank) {
    return members.world_rank(rank < call.size ? begin + rank : remote_begin + rank - call.size);
  };
  add_messages(s, communicator, world_rank, to);
}

void Compiler::add_message(const collectives::Message& m, const Envelope& sent, const Envelope& received,
                           Target& to) {
  using Message = collectives::Message;
  switch (m.kind) {
    case Message::Kind::send:
    case Message::Kind::synchronous_send:
      if (const Answer a = add_send(sent, m.bytes, m.kind == Message::Kind::synchronous_send, to); a.comes)
        to.add(Code::hear, a.cost, a.channel);
      break;
    case Message::Kind::start_send:
      if (const Answer a = add_send(sent, m.bytes, false, to); a.comes) to.listen(a.cost, a.channel);
      break;
    case Message::Kind::receive:
      add_receive(received, m.bytes, 0, to);
      break;
    case Message::Kind::start_receive:
      to.listen(receive_cost(received, m.bytes), directory_.channel_from(received));
      break;
    case Message::Kind::signal:
      to.add(Code::send, network::CostClasses::free, directory_.channel_to(sent));
      break;
    case Message::Kind::await_signal:
      to.add(Code::take, network::CostClasses::free, directory_.channel_from(received));
      break;
    case Message::Kind::finish:
    case Message::Kind::pay_barrier:
    case Message::Kind::pay_send:
    case Message::Kind::pay_formula:
      break;  // these have no peer
  }
}

}  // namespace simreplay::engine
