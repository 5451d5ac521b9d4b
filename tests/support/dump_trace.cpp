// Prints the calls of a trace as text that does not change from run to run: no times, no polls. Functions
// without communication differ between MPI libraries, so they are left out, too.
//
//   dump_trace FILE [--polls] [--local]

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "capture/simtrace/enum_table.hpp"
#include "capture/simtrace/items.hpp"
#include "common/trace/reader.hpp"

namespace {

using namespace simreplay;
using namespace simreplay::simtrace;
using trace::Signature;

// ---- what a call was about ----

std::string rank_name(std::int64_t rank) {
  return rank == trace::nobody ? "nobody" : rank == trace::anybody ? "anybody" : std::to_string(rank);
}

std::string receive_half(std::int64_t source, std::int64_t tag, std::int64_t bytes, std::uint16_t flags) {
  return fmt::format(" from {}{} tag {}{} bytes {}", rank_name(source),
                     (flags & trace::any_source) != 0 ? " (any)" : "", tag,
                     (flags & trace::any_tag) != 0 ? " (any)" : "", bytes);
}

std::string send_half(std::int64_t destination, std::int64_t tag, std::int64_t bytes) {
  return fmt::format(" to {} tag {} bytes {}", rank_name(destination), tag, bytes);
}

std::string sends(const Signature& s) { return send_half(s.peer, s.tag, s.bytes); }
std::string receives(const Signature& s) { return receive_half(s.peer, s.tag, s.bytes, s.flags); }
std::string exchanges(const Signature& s) {
  return sends(s) + "," + receive_half(s.items[0], s.items[1], s.items[2], s.flags);
}
std::string prepares(const Signature& s) { return s.op == Op::Recv_init ? receives(s) : sends(s); }

std::string place(std::int64_t communicator) {
  return communicator == trace::world_id ? std::string() : fmt::format(" in {}", communicator);
}

std::string launches(const Signature& s) {
  constexpr const char* modes[] = {" receive", " send", " synchronous send"};
  if (s.items.empty()) return " no request";
  std::vector<std::string> all;
  for (std::size_t i = 0; i < number_of_starts(s.items); i++) {
    const Start m = start_in(s.items, i);
    all.push_back(modes[m.mode] +
                  (m.mode == starts_receive
                       ? receive_half(m.peer, m.tag, m.bytes, static_cast<std::uint16_t>(m.flags))
                       : send_half(m.peer, m.tag, m.bytes)) +
                  fmt::format(" opens {}", m.request) + place(m.communicator) +
                  ((m.flags & trace::cancelled) != 0 ? " cancelled" : ""));
  }
  return fmt::format("{}", fmt::join(all, ","));
}

std::string names_requests(const Signature& s) {
  return s.items.empty() ? " no request" : fmt::format(" request {}", fmt::join(s.items, " "));
}

std::string collective(const Signature& s) {
  if (blocking(s.op) == Op::Barrier) return "";
  return (info(s.op).rooted ? " root " + rank_name(s.peer) : std::string()) +
         fmt::format(" bytes {}", s.bytes) +
         (s.items.empty() ? "" : fmt::format(" blocks {}", fmt::join(s.items, " ")));
}

std::string neighbors(ItemList pairs) {
  std::string text;
  for (std::size_t i = 0; i < number_of_neighbors(pairs); i++) {
    const Neighbor n = neighbor_in(pairs, i);
    text += fmt::format(" {} ({})", rank_name(n.rank), n.bytes);
  }
  return text.empty() ? " nobody" : text;
}
std::string exchanges_with_neighbors(const Signature& s) {
  return fmt::format(" bytes {} to{} from{}", s.bytes, neighbors(destinations_in(s.items)),
                     neighbors(sources_in(s.items)));
}

std::string creates(const Signature& s) {
  return s.items.empty() ? " makes none" : fmt::format(" makes {}", s.items[0]);
}

std::string accesses(const Signature& s) {
  return fmt::format(" at {} bytes {}", rank_name(s.peer), s.bytes);
}
std::string epoch(const Signature& s) {
  return s.items.empty() ? " with nobody" : fmt::format(" with {}", fmt::join(s.items, " "));
}
std::string has_target(const Signature& s) {
  return info(s.op).name.ends_with("_all") ? std::string() : " at " + rank_name(s.peer);
}

std::string file(const Signature& s) {
  const std::string_view name = info(s.op).name;
  const bool moves = name.find("read") != name.npos || name.find("write") != name.npos;
  return moves && !name.ends_with("_end") ? fmt::format(" bytes {}", s.bytes) : std::string();
}

std::string local(const Signature& s) {
  return is_local(s.op) && s.bytes != 1 ? fmt::format(" {} times", s.bytes) : std::string();
}

std::string mark(const Signature& s) {
  if (s.items.empty()) return "";
  return s.op == Op::Timer_while ? fmt::format(" while metric {}", s.items[0])
                                 : fmt::format(" {}", s.items[0]);
}

constexpr VerbTable<std::string (*)(const Signature&)> details({
    {Verb::send, sends},
    {Verb::post_send, sends},
    {Verb::receive, receives},
    {Verb::post_receive, receives},
    {Verb::probe, receives},
    {Verb::exchange, exchanges},
    {Verb::prepare, prepares},
    {Verb::launch, launches},
    {Verb::complete, names_requests},
    {Verb::release, names_requests},
    {Verb::cancel, names_requests},
    {Verb::collective, collective},
    {Verb::post_collective, collective},
    {Verb::neighbors, exchanges_with_neighbors},
    {Verb::post_neighbors, exchanges_with_neighbors},
    {Verb::create, creates},
    {Verb::put, accesses},
    {Verb::get, accesses},
    {Verb::update, accesses},
    {Verb::expose, epoch},
    {Verb::access, epoch},
    {Verb::conclude, epoch},
    {Verb::retract, epoch},
    {Verb::lock, has_target},
    {Verb::flush, has_target},
    {Verb::flush_local, has_target},
    {Verb::io, file},
    {Verb::local, local},
    {Verb::mark, mark},
});

std::string text(const Signature& s) {
  std::string line(info(s.op).name);
  if (info(s.op).verb == Verb::mark) line += fmt::format(" of metric {}", s.tag);
  if ((s.flags & trace::nothing_found) != 0)
    line += fmt::format(" nothing, {} times", s.bytes);
  else if (const auto detail = details[info(s.op).verb])
    line += detail(s);
  if (s.request != trace::nobody) line += fmt::format(" opens {}", s.request);
  line += place(s.communicator);
  if ((s.flags & trace::cancelled) != 0) line += " cancelled";
  if ((s.flags & trace::in_place) != 0) line += " in place";
  if ((s.flags & trace::not_commutative) != 0) line += " not commutative";
  return line;
}

// ---- the calls of all processes ----

struct Options {
  bool polls = false, local = false;
  bool shows(const Signature& s) const {
    return (polls || (s.flags & trace::nothing_found) == 0) && (local || !is_local(s.op));
  }
};

using Lines = std::vector<std::string>;

void add_segment(const trace::Reader& reader, const trace::Segment& segment, const Options& options,
                 Lines& lines) {
  const trace::SignatureTable table = reader.table(segment);
  std::vector<std::uint16_t> signature(segment.calls);
  std::vector<std::int64_t> computation(segment.calls), duration(segment.calls);
  reader.calls(segment, segment.first_call, signature, computation);
  reader.durations(segment.first_call, duration);
  for (const std::uint16_t number : signature) {
    const Signature s = table[number];
    if (options.shows(s)) lines.push_back(text(s));
  }
}

/// How often the `length` lines at `first` stand there one after the other.
std::size_t repeats(const Lines& lines, std::size_t first, std::size_t length) {
  std::size_t n = 1;
  while (first + (n + 1) * length <= lines.size() &&
         std::equal(&lines[first], &lines[first] + length, &lines[first] + n * length))
    n++;
  return n;
}

/// Programs iterate, and what they repeat is printed once.
void print(const Lines& lines) {
  constexpr std::size_t longest = 16, worth_it = 3;
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t length = 1;
    while (length <= longest && (i + length > lines.size() || repeats(lines, i, length) < worth_it)) length++;
    if (length > longest) {
      fmt::print("{}\n", lines[i++]);
      continue;
    }
    const std::size_t times = repeats(lines, i, length);
    fmt::print("{} times\n", times);
    for (std::size_t k = 0; k < length; k++) fmt::print("  {}\n", lines[i + k]);
    i += times * length;
  }
}

void dump(const trace::Reader& reader, const Options& options) {
  for (std::size_t id = 2; id < reader.communicators().size(); id++)
    fmt::print("communicator {}: {}\n", id, fmt::join(reader.communicators()[id].world_ranks(), " "));
  constexpr const char* kinds[] = {"region", "counter", "timer"};
  for (std::size_t i = 0; i < reader.metrics().size(); i++)
    fmt::print("metric {}: {} {}\n", i, kinds[static_cast<std::size_t>(reader.metrics()[i].kind)],
               reader.metrics()[i].name);
  const std::int32_t processes = reader.facts().processes;
  const std::vector<trace::Process> rows = reader.processes(0, processes);
  const std::vector<std::uint64_t> first_segment = reader.first_segments(0, processes);
  for (std::size_t p = 0; p < rows.size(); p++) {
    constexpr const char* what_of[] = {", incomplete", "", ", left out"};  // by trace::Record
    fmt::print("\nprocess {}{}\n", p, what_of[static_cast<std::size_t>(rows[p].record)]);
    Lines lines;
    for (std::uint64_t row = first_segment[p]; row < first_segment[p + 1]; row++)
      add_segment(reader, reader.segment(row), options, lines);
    print(lines);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::vector<std::string_view> words(argv + 2, argv + argc);
  const auto given = [&](std::string_view option) { return std::ranges::find(words, option) != words.end(); };
  try {
    dump(trace::Reader(argv[1]), {given("--polls"), given("--local")});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump_trace: %s\n", error.what());
    return 1;
  }
  return 0;
}
