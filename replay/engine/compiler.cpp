#include "replay/engine/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "common/error.hpp"

namespace simreplay::engine {
namespace {

/// Key of a collective in the machine file: "MPI_Reduce_scatter" is `collectives.reduce-scatter`.
std::string key_of(const OpInfo& op) {
  std::string key(op.name.substr(4));
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return key;
}

constexpr std::int64_t creation_bytes = 4;  // making a communicator agrees on one integer
constexpr std::uint32_t most_slots = 1U << 24;

}  // namespace

/// Where the steps of one call go, and whose call it is.
struct Compiler::Target {
  std::int32_t process;
  Program program;
  std::uint32_t messages = 0, scratch = 0;
  std::vector<std::uint32_t> started{};  // costs of what finish() waits for

  void add(Code code, std::uint32_t cost = 0, std::uint32_t channel = 0, std::uint32_t slot = 0) {
    program.steps.push_back(Step::of(code, cost, channel, slot));
  }
  [[noreturn]] void refuse(const std::string& file, const trace::Signature& s, std::string problem) const {
    throw Error({.file = file, .process = process, .operation = std::string(info(s.op).name), .problem = std::move(problem)});
  }
  /// What a call starts for itself: its slots are numbered behind those of the trace by settle().
  void listen(std::uint32_t cost, std::uint32_t channel) {
    add(Code::listen, cost, channel, most_slots + static_cast<std::uint32_t>(started.size()));
    started.push_back(cost);
    scratch = std::max(scratch, static_cast<std::uint32_t>(started.size()));
  }
  /// Waits for it, in the order in which it was started.
  void finish() {
    for (std::uint32_t i = 0; i < started.size(); i++) add(Code::wait, started[i], 0, most_slots + i);
    started.clear();
  }
  void settle() {
    for (Step& step : program.steps)
      if (step.slot >= most_slots) step.slot += program.slots - most_slots;
    program.slots += scratch;
  }
  std::uint32_t slot(const std::string& file, const trace::Signature& s, std::int64_t number) {
    if (number < 0 || number >= most_slots) refuse(file, s, fmt::format("names request {}", number));
    program.slots = std::max(program.slots, static_cast<std::uint32_t>(number) + 1);
    return static_cast<std::uint32_t>(number);
  }
};

Compiler::Compiler(const trace::Reader& trace, const Machine& machine, const Placement& placement, Directory& directory)
    : trace_(trace), placement_(placement), directory_(directory), costs_(machine), self_(trace::Members{{{0, 1, 1}}}) {
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective) continue;
    const auto chosen = machine.collectives.find(key_of(op));
    try {
      algorithms_[op.op] = &collectives::find(op.op, chosen == machine.collectives.end() ? "" : chosen->second);
    } catch (const std::invalid_argument& e) {
      throw Error({.file = machine.name, .operation = "collectives." + key_of(op), .problem = e.what()});
    }
  }
}

Program Compiler::compile(std::int32_t process, const trace::SignatureTable& table) {
  Target to{process, {}};
  for (std::size_t i = 0; i < table.size(); i++) {
    to.program.first.push_back(static_cast<std::uint32_t>(to.program.steps.size()));
    to.program.ops.push_back(static_cast<Op>(table.operation[i]));
    to.messages = 0;
    compile_call(table[i], to);
    to.program.messages.push_back(to.messages);
  }
  to.program.first.push_back(static_cast<std::uint32_t>(to.program.steps.size()));
  to.settle();
  return std::move(to.program);
}

void Compiler::compile_call(const trace::Signature& s, Target& to) {
  switch (info(s.op).verb) {
    case Verb::start:
    case Verb::finish: to.add(Code::leave); break;
    case Verb::send:
    case Verb::post_send: compile_send(s, to); break;
    case Verb::receive:
    case Verb::post_receive: compile_receive(s, to); break;
    case Verb::exchange: compile_exchange(s, to); break;
    case Verb::complete:
    case Verb::release: compile_completion(s, to); break;
    case Verb::cancel: break;  // what it cancelled says so itself
    case Verb::probe:
      if (s.peer >= 0 && !(s.flags & trace::nothing_found))
        to.add(Code::look, 0, directory_.channel_from({s.peer, to.process, s.communicator, s.tag}));
      break;
    case Verb::collective:
    case Verb::create: compile_collective(s, to); break;
    case Verb::local: to.add(Code::elapse); break;
  }
}

void Compiler::compile_send(const trace::Signature& s, Target& to) {
  const bool takes_part = s.peer >= 0 && !(s.flags & trace::cancelled);
  Answer answer{};
  if (takes_part) {
    answer = add_send({to.process, s.peer, s.communicator, s.tag}, s.bytes, info(s.op).synchronous, to);
    to.messages++;
  }
  if (s.request != trace::nobody) {
    const std::uint32_t slot = to.slot(trace_.path(), s, s.request);
    to.add(answer.comes ? Code::listen : Code::fill, answer.cost, answer.channel, slot);
  } else if (answer.comes) {
    to.add(Code::hear, answer.cost, answer.channel);
  }
}

Compiler::Answer Compiler::add_send(const Envelope& e, std::int64_t bytes, bool synchronous, Target& to) {
  const bool within = placement_.same_node(e.source, e.destination);
  const network::Protocol protocol = costs_.protocol(bytes, within, synchronous);
  to.add(Code::send, costs_.send(bytes, within, protocol), directory_.channel_to(e), static_cast<std::uint32_t>(protocol));
  if (protocol == network::Protocol::eager) return {};
  return {true, costs_.answer(bytes, within, protocol), directory_.channel_from(answer_to(e))};
}

std::uint32_t Compiler::receive_cost(const Envelope& e, std::int64_t bytes) {
  return costs_.receive(bytes, placement_.same_node(e.source, e.destination));
}

void Compiler::compile_receive(const trace::Signature& s, Target& to) {
  const bool takes_part = s.peer != trace::nobody && !(s.flags & trace::cancelled);
  const Envelope e{s.peer, to.process, s.communicator, s.tag};
  if (info(s.op).verb != Verb::post_receive) {
    if (takes_part) to.add(Code::take, receive_cost(e, s.bytes), directory_.channel_from(e));
    return;
  }
  if (s.request == trace::nobody) to.refuse(trace_.path(), s, "opens no request");
  const std::uint32_t slot = to.slot(trace_.path(), s, s.request);
  if (takes_part)
    to.add(Code::post, receive_cost(e, s.bytes), directory_.channel_from(e), slot);
  else
    to.add(Code::fill, 0, 0, slot);
}

/// The receive is posted first, as MPI libraries do, so that two large messages may cross; its prolog is
/// paid after the send.
void Compiler::compile_exchange(const trace::Signature& s, Target& to) {
  if (s.items.size() != 3) to.refuse(trace_.path(), s, fmt::format("expected 3 items, found {}", s.items.size()));
  const std::int64_t source = s.items[0], bytes = s.items[2];
  if (source < trace::anybody || source >= trace_.facts().processes || bytes < 0)
    to.refuse(trace_.path(), s, fmt::format("receives {} bytes from process {}", bytes, source));
  const Envelope e{static_cast<std::int32_t>(source), to.process, s.communicator, static_cast<std::int32_t>(s.items[1])};
  if (source != trace::nobody) to.listen(receive_cost(e, bytes), directory_.channel_from(e));
  compile_send(s, to);
  to.finish();
}

void Compiler::compile_completion(const trace::Signature& s, Target& to) {
  const Code code = info(s.op).verb == Verb::release ? Code::release : Code::wait;
  for (const std::int64_t slot : s.items) to.add(code, 0, 0, to.slot(trace_.path(), s, slot));
}

void Compiler::compile_collective(const trace::Signature& s, Target& to) {
  if (info(s.op).verb == Verb::collective) {
    compile_rounds(s, *algorithms_[s.op], s.communicator, s.bytes, to);
    return;
  }
  // MPI_Comm_create_group is called by the members of the new communicator alone.
  const bool by_members = s.op == Op::Comm_create_group;
  if (by_members && s.items.empty()) return;
  const std::int64_t created = s.items.empty() ? s.communicator : s.items[0];
  if (created < 0 || created >= static_cast<std::int64_t>(trace_.communicators().size()))
    to.refuse(trace_.path(), s, fmt::format("makes unknown communicator {}", created));
  compile_rounds(s, *algorithms_[Op::Allreduce], by_members ? static_cast<std::int32_t>(created) : s.communicator,
                 creation_bytes, to);
}

void Compiler::compile_rounds(const trace::Signature& s, const collectives::Algorithm& algorithm, std::int32_t communicator,
                              std::int64_t bytes, Target& to) {
  const Group& members = group(communicator);
  const auto own = communicator == trace::self_id ? std::optional<int>(0) : members.rank_of(to.process);
  if (!own) to.refuse(trace_.path(), s, fmt::format("is not a member of communicator {}", communicator));
  collectives::Call call{.rank = *own, .size = members.size(), .bytes = bytes, .commutative = !(s.flags & trace::not_commutative)};
  if (members.size() > 1 && info(s.op).rooted) {
    const auto root = s.peer < 0 ? std::nullopt : members.rank_of(s.peer);
    if (!root) to.refuse(trace_.path(), s, fmt::format("has root {}, no member of communicator {}", s.peer, communicator));
    call.root = *root;
  }
  const Items items = info(s.op).items;
  const bool needs_blocks = items == Items::blocks || items == Items::blocks_twice ||
                            (items == Items::blocks_at_root && call.rank == call.root);
  const std::size_t blocks = static_cast<std::size_t>(call.size) * (items == Items::blocks_twice ? 2 : 1);
  if (needs_blocks && s.items.size() != blocks)
    to.refuse(trace_.path(), s, fmt::format("expected sizes of {} blocks, found {}", blocks, s.items.size()));
  if (needs_blocks) call.blocks = s.items;
  // Sums over all members must not overflow.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (4 * std::int64_t{call.size});
  const auto check = [&](std::int64_t n) {
    if (n < 0 || n > most) to.refuse(trace_.path(), s, fmt::format("moves {} bytes", n));
  };
  check(bytes);
  std::ranges::for_each(call.blocks, check);

  rounds_.clear();
  algorithm.rounds(call, rounds_);
  for (const collectives::Message& m : rounds_.messages()) {
    if (m.kind == collectives::Message::Kind::finish) {
      to.finish();
      continue;
    }
    const std::int32_t peer = members.world_rank(m.peer);
    const Envelope sent{to.process, peer, communicator, collective_tag}, received{peer, to.process, communicator, collective_tag};
    if (algorithm.synchronises_only)
      add_free_message(m, sent, received, to);
    else
      add_message(m, sent, received, to);
  }
  if (algorithm.synchronises_only) to.add(Code::advance, costs_.barrier());
}

void Compiler::add_message(const collectives::Message& m, const Envelope& sent, const Envelope& received, Target& to) {
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
    case Message::Kind::receive: to.add(Code::take, receive_cost(received, m.bytes), directory_.channel_from(received)); break;
    case Message::Kind::start_receive: to.listen(receive_cost(received, m.bytes), directory_.channel_from(received)); break;
    case Message::Kind::finish: break;
  }
}

/// Of algorithms that only carry times: sends and receives without cost.
void Compiler::add_free_message(const collectives::Message& m, const Envelope& sent, const Envelope& received, Target& to) {
  const bool sends = m.kind == collectives::Message::Kind::send;
  to.add(sends ? Code::send : Code::take, network::CostTable::free,
         sends ? directory_.channel_to(sent) : directory_.channel_from(received));
}

const Group& Compiler::group(std::int32_t communicator) {
  if (communicator == trace::self_id) return self_;
  const auto it = groups_.find(communicator);
  if (it != groups_.end()) return it->second;
  return groups_.emplace(communicator, Group(trace_.communicators()[static_cast<std::size_t>(communicator)])).first->second;
}

}  // namespace simreplay::engine
