#include "replay/engine/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <span>

#include "common/error.hpp"
#include "replay/engine/compiler_target.hpp"

namespace simreplay::engine {
namespace {

/// Key of a collective in the machine file: "MPI_Reduce_scatter" is `collectives.reduce-scatter`.
std::string key_of(const OpInfo& op) {
  std::string key(op.name.substr(4));
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return key;
}

}  // namespace

Compiler::Compiler(const trace::Reader& trace, const Machine& machine, const Placement& placement,
                   Directory& directory, bool in_order)
    : trace_(trace),
      placement_(placement),
      directory_(directory),
      in_order_(in_order),
      matching_is_simulated_(machine.matching_is_simulated),
      model_(machine),
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
    if (to.program.steps.size() == first) to.add(Code::advance);
    to.program.steps.back().end_call();
    if (to.messages > Call::most_messages) to.refuse(trace_.path(), table[i], "sends too many messages");
    to.program.calls.emplace_back(first, trace::recording_of(to.program.ops.back()), to.messages);
  }
  to.program.calls.emplace_back(static_cast<std::uint32_t>(to.program.steps.size()), trace::Recording::free,
                                0U);
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
      if (s.peer >= 0 && !(s.flags & trace::nothing_found)) {
        const Envelope e{s.peer, to.process, s.communicator, s.tag};
        to.add(Code::look, 0, channel_of_receive(e, s.flags), directory_.channel_from(e));
      }
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
  const auto records = trace_.records(0, trace_.facts().processes);
  if (std::ranges::find(records, trace::Record::left_out) == records.end()) return;
  for (const trace::Record r : records) left_out_.push_back(r == trace::Record::left_out);
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
  if (in_order_) to.add(Code::target, 0, static_cast<std::uint32_t>(s.peer));
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
      add_receive(received, 0, 0, to);
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
  const network::Protocol protocol = model_.protocol(bytes, within, synchronous);
  to.add(Code::send, costs_.send(bytes, within, protocol), directory_.channel_to(e),
         static_cast<std::uint32_t>(protocol));
  if (protocol == network::Protocol::eager) return {};
  return {true, costs_.answer(bytes, within, protocol), directory_.channel_from(answer_to(e))};
}

std::uint32_t Compiler::receive_cost(const Envelope& e, std::int64_t bytes) {
  return costs_.receive(bytes, placement_.same_node(e.source, e.destination));
}

/// What waits for its receive is answered across the network: that takes a request to wait for.
void Compiler::add_receive(const Envelope& e, std::int64_t bytes, std::uint16_t flags, Target& to) {
  const std::uint32_t cost = receive_cost(e, bytes), channel = channel_of_receive(e, flags);
  if (in_order_)
    to.receive(cost, channel);
  else
    to.add(Code::take, cost, channel);
}

/// That of the message it took, or of all that it would have taken.
std::uint32_t Compiler::channel_of_receive(Envelope e, std::uint16_t flags) {
  if (matching_is_simulated_ && (flags & trace::any_source)) e.source = trace::anybody;
  if (matching_is_simulated_ && (flags & trace::any_tag)) e.tag = trace::anybody;
  return directory_.channel_from(e);
}

void Compiler::compile_receive(const trace::Signature& s, Target& to) {
  const bool takes_part = s.peer != trace::nobody && !(s.flags & trace::cancelled);
  const Envelope e{s.peer, to.process, s.communicator, s.tag};
  if (info(s.op).verb != Verb::post_receive) {
    if (takes_part) add_receive(e, s.bytes, s.flags, to);
    return;
  }
  if (s.request == trace::nobody) to.refuse(trace_.path(), s, "opens no request");
  const std::uint32_t slot = to.slot(trace_.path(), s, s.request);
  if (takes_part)
    to.add(Code::post, receive_cost(e, s.bytes), channel_of_receive(e, s.flags), slot);
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
  if (source != trace::nobody) to.listen(receive_cost(e, bytes), channel_of_receive(e, s.flags));
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

const Group& Compiler::group(std::int32_t communicator) {
  if (communicator == trace::self_id) return self_;
  const auto it = groups_.find(communicator);
  if (it != groups_.end()) return it->second;
  return groups_.emplace(communicator, Group(trace_.communicators()[static_cast<std::size_t>(communicator)]))
      .first->second;
}

}  // namespace simreplay::engine
