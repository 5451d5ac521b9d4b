#include "capture/simtrace/diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capture/simtrace/call_stream.hpp"
#include "capture/simtrace/describe.hpp"
#include "capture/simtrace/saturated.hpp"
#include "capture/simtrace/timeline.hpp"
#include "common/error.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

constexpr std::size_t window_calls = 1U << 15;
constexpr std::int32_t processes_at_once = 1 << 16;

bool equal(const Signature& a, const Signature& b) {
  return a.op == b.op && a.flags == b.flags && a.thread == b.thread && a.communicator == b.communicator &&
         a.peer == b.peer && a.tag == b.tag && a.request == b.request && a.bytes == b.bytes &&
         std::ranges::equal(a.items, b.items);
}

std::int64_t distance(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(std::max(a, b), std::min(a, b), &difference) ? INT64_MAX : difference;
}

/// Reads one call after another, whatever the segments are.
class Calls {
 public:
  Calls(const trace::Reader& reader, const ProcessRows& rows)
      : stream_(reader, rows), tick_ps_(reader.facts().tick_ps) {}

  bool next() {
    if (++at_ >= window_.size()) {
      if (!stream_.read(window_, window_calls)) return false;
      if (stream_.table_changed()) timeline_.use(stream_.table());
      at_ = 0;
    }
    times_ = timeline_.add(window_.signature[at_], saturated_product(window_.computation[at_], tick_ps_),
                           saturated_product(window_.duration[at_], tick_ps_));
    return true;
  }
  Signature signature() const { return stream_.table()[window_.signature[at_]]; }
  std::int64_t enter() const { return times_.enter; }
  std::int64_t leave() const { return times_.leave; }

 private:
  CallStream stream_;
  Window window_;
  Timeline timeline_;
  Timeline::Times times_{};
  std::size_t at_ = 0;
  std::int64_t tick_ps_;
};

class Comparison {
 public:
  Comparison(const trace::Reader& a, const trace::Reader& b) : a_(a), b_(b) {}

  Difference run() {
    const std::int32_t processes = a_.facts().processes;
    if (processes != b_.facts().processes)
      differ(fmt::format("{} processes against {}", format_count(processes),
                         format_count(b_.facts().processes)));
    else if (a_.communicators() != b_.communicators())
      differ("the communicators differ");
    else if (a_.metrics() != b_.metrics())
      differ("the regions, counters and timers differ");
    for (std::int32_t first = 0; !result_.structure && first < processes;) {
      const std::int32_t n = std::min(processes_at_once, processes - first);
      block(rows_of(a_, first, n), rows_of(b_, first, n));
      first += n;
    }
    if (times_ > 0) result_.mean_ps = sum_ / static_cast<double>(times_);
    return result_;
  }

 private:
  void differ(std::string how) { result_.structure = std::move(how); }

  void block(const std::vector<ProcessRows>& a, const std::vector<ProcessRows>& b) {
    for (std::size_t i = 0; i < a.size() && !result_.structure; i++) process(a[i], b[i]);
  }

  void process(const ProcessRows& rows_a, const ProcessRows& rows_b) {
    Calls a(a_, rows_a), b(b_, rows_b);
    const std::uint64_t calls = std::min(rows_a.calls(), rows_b.calls());
    for (std::uint64_t i = 0; i < calls && a.next() && b.next(); i++) {
      const Signature s = a.signature();
      if (const Signature other = b.signature(); !equal(s, other))
        return differ(fmt::format("process {}, call {}: {} against {}", rows_a.process, i,
                                  describe(s, a_.metrics()), describe(other, b_.metrics())));
      times(rows_a.process, i, s.op, a, b);
    }
    if (rows_a.calls() != rows_b.calls())
      differ(fmt::format("process {}: {} calls against {}", rows_a.process,
                         format_count(static_cast<std::int64_t>(rows_a.calls())),
                         format_count(static_cast<std::int64_t>(rows_b.calls()))));
  }

  void times(std::int32_t process, std::uint64_t call, Op op, const Calls& a, const Calls& b) {
    const std::int64_t enter = distance(a.enter(), b.enter()), leave = distance(a.leave(), b.leave());
    times_ += 2;
    const std::int64_t largest = std::max(enter, leave);
    if (largest == 0) return;
    sum_ += static_cast<double>(enter) + static_cast<double>(leave);
    const auto here = [&] { return Difference::Place{process, call, std::string(info(op).name)}; };
    if (!result_.first) result_.first = here();
    if (largest <= result_.largest_ps) return;
    result_.largest_ps = largest;
    result_.largest = here();
  }

  const trace::Reader &a_, &b_;
  Difference result_;
  double sum_ = 0;
  std::uint64_t times_ = 0;
};

std::string text(const Difference::Place& p) {
  return fmt::format("process {}, call {} ({})", p.process, p.call, p.operation);
}

void print(const Difference& d) {
  if (d.structure) {
    fmt::print("different: {}\n", *d.structure);
    return;
  }
  if (d.same()) {
    fmt::print("same calls and times\n");
    return;
  }
  fmt::print("same calls, different times\n");
  fmt::print("first difference    {}\n", text(*d.first));
  fmt::print("largest difference  {} at {}\n", format_duration(Duration{d.largest_ps}), text(*d.largest));
  fmt::print("mean difference     {} of enter and leave times\n",
             format_duration(Duration{static_cast<std::int64_t>(d.mean_ps)}));
}

constexpr Exit same = Exit::success, different = Exit::fault, trouble = Exit::usage;

}  // namespace

Difference compare(const trace::Reader& a, const trace::Reader& b) { return Comparison(a, b).run(); }

Exit diff_command(const Arguments& arguments) {
  CommandLine line("diff FILE OTHER",
                   "Compares two traces call by call. Exit status: 0 same, 1 different, 2 trouble.",
                   {"FILE", "OTHER"});
  try {
    if (!line.parse(arguments)) return same;
    const Difference d = compare(trace::Reader(line.text("FILE")), trace::Reader(line.text("OTHER")));
    print(d);
    return d.same() ? same : different;
  } catch (const Error& e) {
    return report(e.what(), trouble);
  }
}

}  // namespace simreplay::simtrace
