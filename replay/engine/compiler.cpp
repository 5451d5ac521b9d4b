#include "replay/engine/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <span>

#include "common/error.hpp"
#include "replay/collectives/inter.hpp"

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
  std::uint32_t first_scratch = most_slots;
  std::vector<std::uint32_t> started{};  // costs of what finish() waits for

  void add(Code code, std::uint32_t cost = 0, std::uint32_t channel = 0, std::uint32_t slot = 0) {
    program.steps.push_back(Step::of(code, cost, channel, slot));
  }
  void mark(const observe::Mark& mark) {
    add(Code::mark, 0, 0, static_cast<std::uint32_t>(program.marks.size()));
    program.marks.push_back(mark);
  }
  [[noreturn]] void refuse(const std::string& file, const trace::Signature& s, std::string problem) const {
    throw Error({.file = file,
                 .process = process,
                 .operation = std::string(info(s.op).name),
                 .problem = std::move(problem)});
  }
  /// What a call starts for itself: its slots are numbered behind those of the trace by settle().
  void listen(std::uint32_t cost, std::uint32_t channel) {
    add(Code::listen, cost, channel, first_scratch + static_cast<std::uint32_t>(started.size()));
    started.push_back(cost);
    if (first_scratch == most_slots) scratch = std::max(scratch, static_cast<std::uint32_t>(started.size()));
  }
  /// Waits for it, in the order in which it was started.
  void finish() {
    const std::size_t first = program.steps.size();
    for (std::uint32_t i = 0; i < started.size(); i++) wait(started[i], first_scratch + i, first);
    started.clear();
  }
  /// Waits for slots that follow each other are one step, from step `first` on.
  void wait(std::uint32_t cost, std::uint32_t slot, std::size_t first) {
    Step* const last = program.steps.size() > first ? &program.steps.back() : nullptr;
    if (last && last->cost() == cost && last->slot_after() == slot)
      last->channel++;
    else
      add(Code::wait, cost, 1, slot);
  }
  void settle() {
    for (Step& step : program.steps)
      if (step.slot >= most_slots && step.slot != no_slot) step.slot += program.slots - most_slots;
    program.slots += scratch;
  }
  std::uint32_t slot(const std::string& file, const trace::Signature& s, std::int64_t number) {
    if (number < 0 || number >= most_slots) refuse(file, s, fmt::format("names request {}", number));
    program.slots = std::max(program.slots, static_cast<std::uint32_t>(number) + 1);
    return static_cast<std::uint32_t>(number);
  }
};

Compiler::Compiler(const trace::Reader& trace, const Machine& machine, const Placement& placement,
                   Directory& directory)
    : trace_(trace),
      placement_(placement),
      directory_(directory),
      costs_(machine),
      barrier_overhead_(machine.barrier_overhead),
      between_(machine.between, machine.model),
      within_(machine.within, machine.model),
      self_(trace::Members{{{0, 1, 1}}}) {
  find_left_out();
  find_timers();
  for (const trace::Members& members : trace.communicators())
    has_strangers_.push_back(members.has_strangers());
  const auto& chosen = machine.collectives;
  for (const OpInfo& op : mpi_ops) {
    if (op.verb != Verb::collective) continue;
    const std::string key = chosen.contains(key_of(op)) ? key_of(op) : std::string(all_collectives);
    try {
      algorithms_[op.op] = &collectives::find(op.op, chosen.contains(key) ? chosen.at(key) : "");
    } catch (const std::invalid_argument& e) {
      throw Error({.file = machine.name, .operation = "collectives." + key, .problem = e.what()});
    }
  }
}

Program Compiler::compile(std::int32_t process, const trace::SignatureTable& table) {
  Target to{process, {}};
  for (std::size_t i = 0; i < table.size(); i++) {
    const auto first = static_cast<std::uint32_t>(to.program.steps.size());
    to.program.ops.push_back(static_cast<Op>(table.operation[i]));
    to.messages = 0;
    compile_timed(table[i], to);
    to.program.calls.push_back({first, to.messages, trace::recording_of(to.program.ops.back())});
  }
  to.program.calls.push_back({static_cast<std::uint32_t>(to.program.steps.size())});
  to.settle();
  if (std::ranges::any_of(table.thread, [](std::uint16_t t) { return t != 0; })) {
    to.program.thread = table.thread;
    to.program.overlaps = table.overlaps;
  }
  return std::move(to.program);
}

void Compiler::compile_call(const trace::Signature& s, Target& to) {
  const Verb verb = info(s.op).verb;
  if (((s.flags & trace::alone) != 0 && trace::is_collective(verb)) || meets_left_out(s, verb))
    return compile_alone(s, to);
  if (verb != Verb::local && has_strangers_[static_cast<std::size_t>(s.communicator)])
    refuse_strangers(s, to);
  switch (verb) {
    case Verb::start:
    case Verb::finish:
      to.add(Code::leave);
      break;
    case Verb::send:
    case Verb::post_send:
      compile_send(s, to);
      break;
    case Verb::receive:
    case Verb::post_receive:
      compile_receive(s, to);
      break;
    case Verb::exchange:
      compile_exchange(s, to);
      break;
    case Verb::complete:
    case Verb::release:
      compile_completion(s, to);
      break;
    case Verb::cancel:
      break;  // what it cancelled says so itself
    case Verb::probe:
      if (s.peer >= 0 && !(s.flags & trace::nothing_found))
        to.add(Code::look, 0, directory_.channel_from({s.peer, to.process, s.communicator, s.tag}));
      break;
    case Verb::launch:
      compile_launch(s, to);
      break;
    case Verb::collective:
      compile_collective(s, to);
      break;
    case Verb::create:
    case Verb::post_collective:
      beside(s, to, [&] { compile_collective(s, to); });
      break;
    case Verb::neighbors:
    case Verb::post_neighbors:
      beside(s, to, [&] { compile_neighbors(s, to); });
      break;
    case Verb::put:
      compile_access(s, network::Access::put, to);
      break;
    case Verb::get:
      compile_access(s, network::Access::get, to);
      break;
    case Verb::update:
      compile_access(s, network::Access::update, to);
      break;
    case Verb::fence:
      compile_fence(s, to);
      break;
    case Verb::expose:
    case Verb::access:
    case Verb::conclude:
    case Verb::retract:
      compile_epoch(s, to);
      break;
    case Verb::flush:
      to.add(Code::drain, 0, static_cast<std::uint32_t>(s.communicator), 0);
      break;
    case Verb::flush_local:
      to.add(Code::drain, 0, static_cast<std::uint32_t>(s.communicator), 1);
      break;
    case Verb::io:
      compile_io(s, to);
      break;
    case Verb::mark:
      compile_mark(s, to);
      break;
    case Verb::connect:
      refuse_strangers(s, to);
    case Verb::prepare:
    case Verb::lock:
    case Verb::local:
      to.add(Code::elapse);
      break;
  }
}

/// Whether the other side is a process that was left out of the recording.
bool Compiler::meets_left_out(const trace::Signature& s, Verb verb) const {
  if (left_out_.empty()) return false;
  if (trace::is_collective(verb)) return has_left_out_[static_cast<std::size_t>(s.communicator)];
  return is_left_out(s.peer) || (verb == Verb::exchange && !s.items.empty() && is_left_out(s.items[0])) ||
         (info(s.op).items == Items::ranks &&
          std::ranges::any_of(s.items, [this](std::int64_t r) { return is_left_out(r); }));
}

bool Compiler::is_left_out(std::int64_t process) const {
  return process >= 0 && process < std::ssize(left_out_) && left_out_[static_cast<std::size_t>(process)];
}

/// Nothing is known of the other side: the call takes as long as it did.
void Compiler::compile_alone(const trace::Signature& s, Target& to) {
  to.add(Code::elapse);
  if (s.request != trace::nobody) to.add(Code::fill, 0, 0, to.slot(trace_.path(), s, s.request));
}

/// Processes of which there is no record, if any.
void Compiler::find_left_out() {
  const auto rows = trace_.processes(0, trace_.facts().processes);
  const auto is_left_out = [](const trace::Process& p) { return p.record == trace::Record::left_out; };
  if (std::ranges::none_of(rows, is_left_out)) return;
  for (const trace::Process& p : rows) left_out_.push_back(is_left_out(p));
  for (const trace::Members& members : trace_.communicators()) {
    const auto ranks = members.world_ranks();
    has_left_out_.push_back(std::ranges::any_of(
        ranks, [this](std::int32_t r) { return r >= 0 && left_out_[static_cast<std::size_t>(r)]; }));
  }
}

void Compiler::refuse_strangers(const trace::Signature& s, const Target& to) const {
  to.refuse(trace_.path(), s, "meets processes of another MPI program, which this trace does not hold");
}

/// What has a request goes on beside the process.
template <class Body>
void Compiler::beside(const trace::Signature& s, Target& to, Body&& body) {
  if (s.request == trace::nobody) return body();
  const std::uint32_t slot = to.slot(trace_.path(), s, s.request);
  const std::size_t fork = to.program.steps.size();
  to.add(Code::fork, 0, static_cast<std::uint32_t>(s.communicator), slot);
  to.first_scratch = 0;
  body();
  to.first_scratch = most_slots;
  const auto steps = static_cast<std::uint32_t>(to.program.steps.size() - fork - 1);
  to.program.steps[fork] = Step::of(Code::fork, steps, static_cast<std::uint32_t>(s.communicator), slot);
}

/// Each start is what the call would be that sends or receives at once.
void Compiler::compile_launch(const trace::Signature& s, Target& to) {
  constexpr Op as[] = {Op::Irecv, Op::Isend, Op::Issend};
  if (s.items.size() % start_words != 0)
    to.refuse(trace_.path(), s, fmt::format("has {} words", s.items.size()));
  for (auto words = s.items; !words.empty(); words = words.subspan(start_words)) {
    const std::int64_t mode = words[start_mode], communicator = words[start_communicator],
                       peer = words[start_peer];
    if (mode < 0 || mode >= std::ssize(as) || communicator < 0 ||
        communicator >= std::ssize(trace_.communicators()) || peer < trace::anybody ||
        peer >= trace_.facts().processes || words[start_bytes] < 0)
      to.refuse(
          trace_.path(), s,
          fmt::format("starts a message that makes no sense: {}", fmt::join(words.first(start_words), " ")));
    trace::Signature m;
    m.op = as[mode];
    m.flags = static_cast<std::uint16_t>(words[start_flags]);
    m.communicator = static_cast<std::int32_t>(communicator);
    m.peer = static_cast<std::int32_t>(peer);
    m.tag = static_cast<std::int32_t>(words[start_tag]);
    m.bytes = words[start_bytes];
    m.request = static_cast<std::int32_t>(to.slot(trace_.path(), s, words[start_request]));
    if (is_left_out(m.peer))
      to.add(Code::fill, 0, 0, static_cast<std::uint32_t>(m.request));
    else if (mode == starts_receive)
      compile_receive(m, to);
    else
      compile_send(m, to);
  }
}

/// All receives are posted, then all messages leave.
void Compiler::compile_neighbors(const trace::Signature& s, Target& to) {
  const std::size_t pairs = s.items.size() / 2;
  const auto destinations = s.items.empty() ? std::size_t{0} : static_cast<std::size_t>(s.items[0]);
  if (s.items.size() % 2 != 1 || destinations > pairs)
    to.refuse(trace_.path(), s, "lists no destinations and sources");
  const auto each = [&](std::size_t from, std::size_t end, auto&& f) {
    for (std::size_t i = from; i < end; i++) {
      const std::int64_t peer = s.items[1 + 2 * i], bytes = s.items[2 + 2 * i];
      if (peer < trace::nobody || peer >= trace_.facts().processes || bytes < 0)
        to.refuse(trace_.path(), s, fmt::format("exchanges {} bytes with process {}", bytes, peer));
      if (peer >= 0) f(static_cast<std::int32_t>(peer), bytes);
    }
  };
  const std::int32_t tag = s.request == trace::nobody ? collective_tag : posted_collective_tag;
  each(destinations, pairs, [&](std::int32_t peer, std::int64_t bytes) {
    const Envelope e{peer, to.process, s.communicator, tag};
    to.listen(receive_cost(e, bytes), directory_.channel_from(e));
  });
  each(0, destinations, [&](std::int32_t peer, std::int64_t bytes) {
    if (const Answer a = add_send({to.process, peer, s.communicator, tag}, bytes, false, to); a.comes)
      to.listen(a.cost, a.channel);
  });
  to.finish();
}

void Compiler::compile_access(const trace::Signature& s, network::Access kind, Target& to) {
  const std::uint32_t slot = s.request == trace::nobody ? no_slot : to.slot(trace_.path(), s, s.request);
  if (s.peer < 0) {
    if (slot != no_slot) to.add(Code::fill, 0, 0, slot);
    return;
  }
  const bool within = placement_.same_node(to.process, s.peer);
  to.add(Code::transfer, costs_.access(kind, s.bytes, within), static_cast<std::uint32_t>(s.communicator),
         slot);
}

/// All accesses end, then all members wait for each other.
void Compiler::compile_fence(const trace::Signature& s, Target& to) {
  to.add(Code::drain, 0, static_cast<std::uint32_t>(s.communicator), 0);
  compile_rounds(s, *algorithms_[Op::Barrier], s.communicator, 0, to);
}

/// An epoch begins with a message from each target to each origin, and ends with one the other way.
void Compiler::compile_epoch(const trace::Signature& s, Target& to) {
  const Verb verb = info(s.op).verb;
  const std::int32_t tag = verb == Verb::expose || verb == Verb::access ? epoch_begin_tag : epoch_end_tag;
  if (verb == Verb::conclude) to.add(Code::drain, 0, static_cast<std::uint32_t>(s.communicator), 0);
  for (const std::int64_t rank : s.items) {
    if (rank < 0 || rank >= trace_.facts().processes)
      to.refuse(trace_.path(), s, fmt::format("names process {}", rank));
    const auto peer = static_cast<std::int32_t>(rank);
    const Envelope sent{to.process, peer, s.communicator, tag},
        received{peer, to.process, s.communicator, tag};
    if (verb == Verb::expose || verb == Verb::conclude)
      add_send(sent, 0, false, to);
    else
      to.add(Code::take, receive_cost(received, 0), directory_.channel_from(received));
  }
}

void Compiler::compile_io(const trace::Signature& s, Target& to) {
  to.add(Code::elapse, 0, 0, 1);
  if (s.request != trace::nobody) to.add(Code::fill, 0, 1, to.slot(trace_.path(), s, s.request));
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
    if (answer.comes)
      to.add(Code::listen, answer.cost, answer.channel, slot);
    else if (takes_part)
      to.program.steps.back() = to.program.steps.back().starting(slot);
    else
      to.add(Code::fill, 0, 0, slot);
  } else if (answer.comes) {
    to.add(Code::hear, answer.cost, answer.channel);
  }
}

Compiler::Answer Compiler::add_send(const Envelope& e, std::int64_t bytes, bool synchronous, Target& to) {
  const bool within = placement_.same_node(e.source, e.destination);
  const network::Protocol protocol = costs_.protocol(bytes, within, synchronous);
  to.add(Code::send, costs_.send(bytes, within, protocol), directory_.channel_to(e),
         static_cast<std::uint32_t>(protocol));
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
  if (s.items.size() != 3)
    to.refuse(trace_.path(), s, fmt::format("expected 3 items, found {}", s.items.size()));
  const std::int64_t source = s.items[0], bytes = s.items[2];
  if (source < trace::anybody || source >= trace_.facts().processes || bytes < 0)
    to.refuse(trace_.path(), s, fmt::format("receives {} bytes from process {}", bytes, source));
  const Envelope e{static_cast<std::int32_t>(source), to.process, s.communicator,
                   static_cast<std::int32_t>(s.items[1])};
  if (source != trace::nobody) to.listen(receive_cost(e, bytes), directory_.channel_from(e));
  compile_send(s, to);
  to.finish();
}

void Compiler::compile_completion(const trace::Signature& s, Target& to) {
  const bool waits = info(s.op).verb != Verb::release;
  const std::size_t first = to.program.steps.size();
  for (const std::int64_t item : s.items) {
    const std::uint32_t slot = to.slot(trace_.path(), s, item);
    if (waits)
      to.wait(0, slot, first);
    else
      to.add(Code::release, 0, 0, slot);
  }
}

void Compiler::compile_mark(const trace::Signature& s, Target& to) {
  to.mark({s.op, s.thread, s.tag, s.items.empty() ? 0 : s.items[0]});
}

/// Timers that have the name of an operation, or that of all.
void Compiler::find_timers() {
  const auto is_timed = [](const OpInfo& op) {
    return op.verb != Verb::mark && op.verb != Verb::start && op.verb != Verb::finish;
  };
  const std::vector<trace::Metric>& metrics = trace_.metrics();
  for (std::size_t i = 0; i < metrics.size(); i++)
    for (const OpInfo& op : mpi_ops)
      if (metrics[i].kind == trace::MetricKind::timer && is_timed(op) &&
          (metrics[i].name == op.name || metrics[i].name == "MPI"))
        timers_[op.op].push_back(static_cast<std::int32_t>(i));
}

void Compiler::compile_timed(const trace::Signature& s, Target& to) {
  const auto timers = timers_.find(s.op);
  if (timers == timers_.end()) [[likely]]
    return compile_call(s, to);
  for (const std::int32_t timer : timers->second) to.mark({Op::Timer_start, s.thread, timer});
  compile_call(s, to);
  for (const std::int32_t timer : timers->second) to.mark({Op::Timer_stop, s.thread, timer});
}

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
  const std::int32_t tag = s.request == trace::nobody ? collective_tag : posted_collective_tag;
  for (const Message& m : rounds_.messages()) {
    if (m.kind == Message::Kind::finish) {
      to.finish();
    } else if (m.kind >= Message::Kind::pay_barrier) {
      to.add(Code::advance, payment(m, communicator));
    } else {
      const std::int32_t peer = world_rank(m.peer);
      add_message(m, {to.process, peer, communicator, tag}, {peer, to.process, communicator, tag}, to);
    }
  }
}

/// The class of what a member pays for a collective without messages.
std::uint32_t Compiler::payment(const collectives::Message& m, std::int32_t communicator) {
  using Message = collectives::Message;
  if (m.kind == Message::Kind::pay_barrier) return costs_.lasting(barrier_overhead_);
  const bool within = on_one_node(communicator);
  if (m.kind == Message::Kind::pay_send) return costs_.send(m.bytes, within, network::Protocol::eager);
  const collectives::Formula& f = rounds_.formulas()[static_cast<std::size_t>(m.peer)];
  const network::AlphaBeta& line = within ? within_ : between_;
  return costs_.lasting(
      std::min(line.of(f.of_short.messages, f.of_short.bytes), line.of(f.of_long.messages, f.of_long.bytes)));
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
      to.add(Code::take, receive_cost(received, m.bytes), directory_.channel_from(received));
      break;
    case Message::Kind::start_receive:
      to.listen(receive_cost(received, m.bytes), directory_.channel_from(received));
      break;
    case Message::Kind::signal:
      to.add(Code::send, network::CostTable::free, directory_.channel_to(sent));
      break;
    case Message::Kind::await_signal:
      to.add(Code::take, network::CostTable::free, directory_.channel_from(received));
      break;
    case Message::Kind::finish:
    case Message::Kind::pay_barrier:
    case Message::Kind::pay_send:
    case Message::Kind::pay_formula:
      break;  // these have no peer
  }
}

const Group& Compiler::group(std::int32_t communicator) {
  if (communicator == trace::self_id) return self_;
  const auto it = groups_.find(communicator);
  if (it != groups_.end()) return it->second;
  return groups_.emplace(communicator, Group(trace_.communicators()[static_cast<std::size_t>(communicator)]))
      .first->second;
}

}  // namespace simreplay::engine
