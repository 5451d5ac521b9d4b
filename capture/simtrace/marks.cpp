#include "capture/simtrace/marks.hpp"

#include <fmt/format.h>

#include <iterator>

#include "common/error.hpp"

namespace simreplay::simtrace {
namespace {

constexpr std::size_t remarks_shown = 20;

}  // namespace

void Marks::add(const CallName& at, const trace::Signature& s) {
  Thread& thread = threads_[at.process][s.thread];
  switch (s.op) {
    case Op::Region_begin:
      return thread.regions.begin(s.tag, at);
    case Op::Region_end:
      return end_region(thread, at, s.tag);
    case Op::Timer_start:
      return thread.timers[s.tag].push_back(at);
    case Op::Timer_stop:
      return stop(thread, at, s.tag);
    default:
      return;
  }
}

void Marks::end_region(Thread& thread, const CallName& at, std::int32_t metric) {
  const auto close = [this](const auto& open, bool is_asked) {
    if (!is_asked) say(open.begin, open.region, Unpaired::outlived);
  };
  if (!thread.regions.end(metric, close)) say(at, metric, Unpaired::not_begun);
}

void Marks::stop(Thread& thread, const CallName& at, std::int32_t metric) {
  std::vector<CallName>& starts = thread.timers[metric];
  if (starts.empty()) return say(at, metric, Unpaired::not_begun);
  starts.pop_back();
}

void Marks::end_of(std::int32_t process, bool complete) {
  const auto threads = threads_.extract(process);
  if (threads.empty() || !complete) return;
  for (const auto& [number, thread] : threads.mapped()) {
    for (const auto& open : thread.regions.open()) say(open.begin, open.region, Unpaired::not_ended);
    for (const auto& [timer, starts] : thread.timers)
      for (const CallName& at : starts) say(at, timer, Unpaired::not_ended);
  }
}

/// The first of all are kept, wherever they were found.
void Marks::say(const CallName& at, std::int32_t metric, Unpaired fault) {
  count_++;
  const trace::Metric& m = metrics_[static_cast<std::size_t>(metric)];
  said_[{at.process, at.call}] =
      to_string({.file = file_,
                 .process = at.process,
                 .call = static_cast<std::int64_t>(at.call),
                 .operation = std::string(info(at.op).name),
                 .problem = fmt::format("{} '{}' {}", m.kind == trace::MetricKind::timer ? "timer" : "region",
                                        m.name, text_of(fault, m.kind))});
  if (said_.size() > remarks_shown) said_.erase(std::prev(said_.end()));
}

std::vector<std::string> Marks::remarks() const {
  std::vector<std::string> lines;
  for (const auto& [place, text] : said_) lines.push_back(text);
  if (const auto more = count_ - std::ssize(lines); more > 0)
    lines.push_back(fmt::format("{}: {} more regions and timers are not in pairs", file_, more));
  return lines;
}

}  // namespace simreplay::simtrace
