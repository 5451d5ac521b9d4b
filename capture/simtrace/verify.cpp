#include "capture/simtrace/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <utility>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/channels.hpp"
#include "capture/simtrace/collective_log.hpp"
#include "capture/simtrace/fault_log.hpp"
#include "capture/simtrace/membership.hpp"
#include "capture/simtrace/requests.hpp"
#include "capture/simtrace/signature_check.hpp"
#include "common/error.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

// How far a process goes before another one has its turn: small windows keep few messages open, large
// ones need few reads.
constexpr std::size_t window_calls = 1024;
constexpr std::int32_t processes_at_once = 1 << 16;

/// One process under way.
struct Walker {
  CallStream stream;
  Requests requests;
  std::int64_t time = 0;  // ticks
  bool complete = true, finished = false, time_is_lost = false;
  std::vector<std::uint8_t> verdicts;  // per signature of the table

  enum : std::uint8_t { unseen, usable, unusable };
  std::int32_t process() const { return stream.process(); }
};

class Verifier {
 public:
  Verifier(const trace::Reader& reader, std::size_t shown)
      : reader_(reader),
        faults_(reader.path(), shown),
        members_(reader.communicators()),
        collectives_(reader.communicators(), reader.facts().processes),
        most_ticks_(time_limit.time_since_epoch().count() / reader.facts().tick_ps) {}

  Verdict run();

 private:
  void load_processes();
  void walk(Walker& walker);
  void call(Walker& walker, const CallName& at, const Signature& s);
  void check_time(Walker& walker, const CallName& at, std::int64_t computation, std::int64_t duration);
  bool is_usable(Walker& walker, const CallName& at, std::size_t number, const Signature& s);
  void finish(const Walker& walker);

  void send(const CallName& at, const Signature& s);
  void receive(const Channel& channel, const Half& half, std::uint16_t flags);
  void matched(const Channel& channel, const Half& sent, const Half& received);
  void close(Walker& walker, const CallName& at, const Signature& s);
  void report_unmatched();

  const trace::Reader& reader_;
  FaultLog faults_;
  Membership members_;
  CollectiveLog collectives_;
  Channels channels_;
  std::int64_t most_ticks_;
  std::int64_t messages_ = 0;
  Window window_;
  std::vector<ProcessRows> rows_;
  std::vector<bool> complete_;
  std::vector<std::unique_ptr<Walker>> walkers_;                     // of the processes under way
  std::set<std::pair<std::int32_t, std::uint64_t>> freed_receives_;  // by process and call: never completed
};

void Verifier::load_processes() {
  const std::int32_t all = reader_.facts().processes;
  for (std::int32_t first = 0; first < all; first += std::min(processes_at_once, all - first)) {
    const std::int32_t n = std::min(processes_at_once, all - first);
    std::ranges::copy(rows_of(reader_, first, n), std::back_inserter(rows_));
    for (const trace::Process& p : reader_.processes(first, n)) complete_.push_back(p.complete);
  }
}

/// The process that is furthest behind in time goes on next: then messages stay open about as long as
/// they did in the run, and memory does not follow its length.
Verdict Verifier::run() {
  load_processes();
  walkers_.resize(rows_.size());
  using Turn = std::pair<std::int64_t, std::size_t>;  // time, process
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t p = 0; p < rows_.size(); p++) turns.push({0, p});
  while (!turns.empty()) {
    const std::size_t p = turns.top().second;
    turns.pop();
    std::unique_ptr<Walker>& walker = walkers_[p];
    if (!walker)
      walker = std::make_unique<Walker>(
          Walker{CallStream(reader_, rows_[p]), {}, 0, complete_[p], false, false, {}});
    walk(*walker);
    if (!walker->stream.at_end()) {
      turns.push({walker->time, p});
      continue;
    }
    finish(*walker);
    walker.reset();
  }
  report_unmatched();
  collectives_.expect_all_complete(faults_);
  return {reader_.facts().processes, static_cast<std::int64_t>(reader_.extent().calls), messages_,
          faults_.count(), faults_.shown()};
}

void Verifier::walk(Walker& walker) {
  if (!walker.stream.read(window_, window_calls)) return;
  const trace::SignatureTable& table = walker.stream.table();
  if (walker.stream.table_changed()) walker.verdicts.assign(table.size(), Walker::unseen);
  for (std::size_t i = 0; i < window_.size(); i++) {
    const std::size_t number = window_.signature[i];
    const Signature s = table[number];
    const CallName at{walker.process(), window_.first + i, s.op};
    check_time(walker, at, window_.computation[i], window_.duration[i]);
    if (is_usable(walker, at, number, s)) call(walker, at, s);
  }
}

void Verifier::check_time(Walker& walker, const CallName& at, std::int64_t computation,
                          std::int64_t duration) {
  if (computation < 0 || duration < 0) [[unlikely]] {
    const bool before = computation < 0;
    faults_.add(fault_at(at, "times that ascend",
                         fmt::format("a {} of {} ticks", before ? "computation" : "duration",
                                     before ? computation : duration)));
    return;
  }
  if (walker.time_is_lost) return;
  if (computation > most_ticks_ - walker.time || duration > most_ticks_ - walker.time - computation)
      [[unlikely]] {
    faults_.add(fault_at(at, fmt::format("times below {} ticks", most_ticks_), "later ones"));
    walker.time_is_lost = true;
    return;
  }
  walker.time += computation + duration;
}

/// Each signature is looked at once, when it is first used.
bool Verifier::is_usable(Walker& walker, const CallName& at, std::size_t number, const Signature& s) {
  std::uint8_t& verdict = walker.verdicts[number];
  if (verdict == Walker::unseen) [[unlikely]] {
    const auto objection = object_to(s, walker.process(), collectives_.is_inter(s.communicator), members_);
    if (objection) faults_.add(fault_at(at, objection->expected, objection->found));
    verdict = objection && !objection->usable ? Walker::unusable : Walker::usable;
  }
  return verdict == Walker::usable;
}

void Verifier::call(Walker& walker, const CallName& at, const Signature& s) {
  const auto rank = [](std::int64_t item) { return static_cast<std::int32_t>(item); };
  switch (info(s.op).verb) {
    case Verb::exchange:
      send(at, s);
      return receive({rank(s.items[0]), at.process, s.communicator, rank(s.items[1])},
                     {at.call, s.items[2], trace::nobody, s.op}, s.flags);
    case Verb::post_send:
      if (s.request >= 0) walker.requests.open(at, s.request, faults_);
      [[fallthrough]];
    case Verb::send:
      return send(at, s);
    case Verb::post_receive:
      if (s.request >= 0) walker.requests.open(at, s.request, faults_);
      [[fallthrough]];
    case Verb::receive:
      return receive({s.peer, at.process, s.communicator, s.tag}, {at.call, s.bytes, s.request, s.op},
                     s.flags);
    case Verb::complete:
    case Verb::release:
      return close(walker, at, s);
    case Verb::cancel:
      return walker.requests.expect_open(at, s.items[0], faults_);
    case Verb::collective:
    case Verb::create:
      return collectives_.add(at, s, faults_);
    case Verb::finish:
      walker.finished = true;
      return;
    case Verb::start:
    case Verb::probe:
    case Verb::local:
      return;
  }
}

// ---- messages ----

void Verifier::send(const CallName& at, const Signature& s) {
  if (s.peer < 0 || (s.flags & trace::cancelled) != 0) return;
  const Channel channel{at.process, s.peer, s.communicator, s.tag};
  const Half half{at.call, s.bytes, s.request, s.op};
  if (const auto received = channels_.meet(channel, Side::send, half)) matched(channel, half, *received);
}

void Verifier::receive(const Channel& channel, const Half& half, std::uint16_t flags) {
  if (channel.source < 0 || channel.tag < 0 || (flags & trace::cancelled) != 0) return;
  if (const auto sent = channels_.meet(channel, Side::receive, half)) matched(channel, *sent, half);
}

void fault_of_size(const CallName& at, const Requests::Shortfall& s, FaultLog& faults) {
  faults.add(fault_at(
      at, fmt::format("the {} bytes that process {} sent in call {}", s.sent, s.sender, s.sending_call),
      fmt::format("{} bytes", s.received)));
}

void Verifier::matched(const Channel& channel, const Half& sent, const Half& received) {
  messages_++;
  if (sent.bytes == received.bytes) [[likely]]
    return;
  const CallName at{channel.destination, received.call, received.op};
  const Requests::Shortfall shortfall{received.bytes, sent.bytes, channel.source, sent.call};
  // A non-blocking receive that never completes has not got all bytes of its message.
  if (received.bytes < sent.bytes && received.request >= 0) {
    Walker* receiver = walkers_[static_cast<std::size_t>(channel.destination)].get();
    if (Requests::Open* open =
            receiver ? receiver->requests.opened_by(received.call, received.request) : nullptr) {
      open->shortfall = shortfall;
      return;
    }
    if (freed_receives_.contains({channel.destination, received.call})) return;
  }
  fault_of_size(at, shortfall, faults_);
}

void Verifier::close(Walker& walker, const CallName& at, const Signature& s) {
  const bool completes = info(s.op).verb == Verb::complete;
  for (const std::int64_t slot : s.items) {
    const auto open = walker.requests.close(at, slot, faults_);
    if (!open) continue;
    if (completes && open->shortfall)
      fault_of_size({walker.process(), open->call, open->op}, *open->shortfall, faults_);
    if (!completes && info(open->op).verb == Verb::post_receive)
      freed_receives_.insert({walker.process(), open->call});
  }
}

void Verifier::report_unmatched() {
  if (channels_.open_count() == 0) return;
  for (const auto& [channel, side, half] : channels_.open()) {
    const bool is_send = side == Side::send;
    const CallName at{is_send ? channel.source : channel.destination, half.call, half.op};
    faults_.add(fault_at(
        at,
        fmt::format("{} process {} (communicator {}, tag {})", is_send ? "a receive by" : "a send from",
                    is_send ? channel.destination : channel.source, channel.communicator, channel.tag),
        "none"));
  }
}

void Verifier::finish(const Walker& walker) {
  if (walker.complete && walker.finished)
    walker.requests.expect_none_open(walker.process(), faults_);
  else  // its open requests only follow from this
    faults_.add({.process = walker.process(),
                 .expected = "MPI_Finalize",
                 .found = walker.finished ? "that the process did not end well" : "the end of the trace"});
}

}  // namespace

Verdict verify(const trace::Reader& reader, std::size_t faults_shown) {
  return Verifier(reader, faults_shown).run();
}

Exit verify_command(const Arguments& arguments) {
  CommandLine line("verify FILE",
                   "Checks that messages, requests, collective operations and times fit together.", {"FILE"});
  if (!line.parse(arguments)) return Exit::success;
  const Verdict v = verify(trace::Reader(line.text("FILE")));
  if (v.faults == 0) {
    fmt::print("verified: {} processes, {} calls, {} messages\n", format_count(v.processes),
               format_count(v.calls), format_count(v.messages));
    return Exit::success;
  }
  for (const std::string& text : v.shown) report(text, Exit::fault);
  const auto more = v.faults - static_cast<std::int64_t>(v.shown.size());
  return report(
      more > 0 ? fmt::format("{} faults, {} of them not shown", format_count(v.faults), format_count(more))
               : fmt::format("{} fault{}", v.faults, v.faults == 1 ? "" : "s"),
      Exit::fault);
}

}  // namespace simreplay::simtrace
