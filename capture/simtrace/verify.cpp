#include "capture/simtrace/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/checker.hpp"
#include "capture/simtrace/fault_log.hpp"
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
  std::int64_t time = 0;  // ticks
  bool time_is_lost = false;
  std::vector<std::uint8_t> verdicts;  // per signature of the table

  enum : std::uint8_t { unseen, usable, unusable };
  std::int32_t process() const { return stream.process(); }
};

class Verifier {
 public:
  Verifier(const trace::Reader& reader, std::size_t shown)
      : reader_(reader),
        faults_(reader.path(), shown),
        checker_(reader, faults_),
        most_ticks_(time_limit.time_since_epoch().count() / reader.facts().tick_ps) {}

  Verdict run();

 private:
  void load_processes();
  void walk(Walker& walker);
  void check_time(Walker& walker, const CallName& at, std::int64_t computation, std::int64_t duration);
  bool is_usable(Walker& walker, const CallName& at, std::size_t number, const Signature& s);
  std::vector<std::string> remarks() const;

  const trace::Reader& reader_;
  FaultLog faults_;
  Checker checker_;
  std::int64_t most_ticks_;
  Window window_;
  std::vector<ProcessRows> rows_;
  std::vector<std::unique_ptr<Walker>> walkers_;  // of the processes under way
};

void Verifier::load_processes() {
  const std::int32_t all = reader_.facts().processes;
  for (std::int32_t first = 0; first < all; first += std::min(processes_at_once, all - first)) {
    const std::int32_t n = std::min(processes_at_once, all - first);
    std::ranges::copy(rows_of(reader_, first, n), std::back_inserter(rows_));
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
    if (!walker) walker = std::make_unique<Walker>(Walker{CallStream(reader_, rows_[p]), 0, false, {}});
    walk(*walker);
    if (!walker->stream.at_end()) {
      turns.push({walker->time, p});
      continue;
    }
    checker_.end_of(walker->process());
    walker.reset();
  }
  checker_.end_of_all();
  return {reader_.facts().processes, static_cast<std::int64_t>(reader_.extent().calls),
          checker_.messages(),       faults_.count(),
          faults_.shown(),           remarks()};
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
    if (is_usable(walker, at, number, s)) checker_.call(at, s);
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
  if (verdict == Walker::unseen) [[unlikely]]
    verdict = checker_.accepts(at, s) ? Walker::usable : Walker::unusable;
  return verdict == Walker::usable;
}

std::vector<std::string> Verifier::remarks() const {
  std::vector<std::string> all = checker_.marks().remarks();
  Fault remark{.file = reader_.path(),
               .problem = "the program meets processes of another MPI program, which are not in this trace",
               .remedy = "it cannot be replayed"};
  if (const auto& at = checker_.met_others()) {
    remark.process = at->process;
    remark.call = static_cast<std::int64_t>(at->call);
    remark.operation = info(at->op).name;
  } else if (std::ranges::none_of(reader_.communicators(), &trace::Members::has_strangers)) {
    return all;
  }
  all.push_back(to_string(remark));
  return all;
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
  for (const std::string& text : v.remarks) report("remark: " + text, Exit::success);
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
