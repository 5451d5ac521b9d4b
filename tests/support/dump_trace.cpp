// Prints the calls of a trace as text that does not change from run to run: no times, no polls.
//
//   dump_trace FILE [--polls]

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/trace/reader.hpp"

namespace {

using namespace simreplay;
using trace::Signature;

std::string rank_name(std::int64_t rank) {
  return rank == trace::nobody ? "nobody" : rank == trace::anybody ? "anybody" : std::to_string(rank);
}

std::string receive_half(std::int64_t source, std::int64_t tag, std::int64_t bytes, std::uint16_t flags) {
  return fmt::format(" from {}{} tag {}{} bytes {}", rank_name(source),
                     (flags & trace::any_source) != 0 ? " (any)" : "", tag,
                     (flags & trace::any_tag) != 0 ? " (any)" : "", bytes);
}

std::string details(const Signature& s) {
  switch (info(s.op).verb) {
    case Verb::send:
    case Verb::post_send:
      return fmt::format(" to {} tag {} bytes {}", rank_name(s.peer), s.tag, s.bytes);
    case Verb::receive:
    case Verb::post_receive:
    case Verb::probe:
      if ((s.flags & trace::nothing_found) != 0) return fmt::format(" nothing, {} times", s.bytes);
      return receive_half(s.peer, s.tag, s.bytes, s.flags);
    case Verb::exchange:
      return fmt::format(" to {} tag {} bytes {},", rank_name(s.peer), s.tag, s.bytes) +
             receive_half(s.items[0], s.items[1], s.items[2], s.flags);
    case Verb::complete:
    case Verb::release:
    case Verb::cancel:
      if ((s.flags & trace::nothing_found) != 0) return fmt::format(" nothing, {} times", s.bytes);
      return s.items.empty() ? " no request" : fmt::format(" request {}", fmt::join(s.items, " "));
    case Verb::collective:
      if (s.op == Op::Barrier) return "";
      return (info(s.op).rooted ? " root " + rank_name(s.peer) : std::string()) +
             fmt::format(" bytes {}", s.bytes) +
             (s.items.empty() ? "" : fmt::format(" blocks {}", fmt::join(s.items, " ")));
    case Verb::create:
      return s.items.empty() ? " makes none" : fmt::format(" makes {}", s.items[0]);
    default:
      return "";
  }
}

std::string text(const Signature& s) {
  std::string line = std::string(info(s.op).name) + details(s);
  if (s.request != trace::nobody) line += fmt::format(" opens {}", s.request);
  if (s.communicator != trace::world_id) line += fmt::format(" in {}", s.communicator);
  if ((s.flags & trace::cancelled) != 0) line += " cancelled";
  if ((s.flags & trace::in_place) != 0) line += " in place";
  if ((s.flags & trace::not_commutative) != 0) line += " not commutative";
  return line;
}

using Lines = std::vector<std::string>;

void add_segment(const trace::Reader& reader, const trace::Segment& segment, bool with_polls, Lines& lines) {
  const trace::SignatureTable table = reader.table(segment);
  std::vector<std::uint16_t> signature(segment.calls);
  std::vector<std::int64_t> computation(segment.calls), duration(segment.calls);
  reader.calls(segment, segment.first_call, signature, computation, duration);
  for (const std::uint16_t number : signature) {
    const Signature s = table[number];
    if (with_polls || (s.flags & trace::nothing_found) == 0) lines.push_back(text(s));
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

void dump(const trace::Reader& reader, bool with_polls) {
  for (std::size_t id = 2; id < reader.communicators().size(); id++)
    fmt::print("communicator {}: {}\n", id, fmt::join(reader.communicators()[id].world_ranks(), " "));
  const std::int32_t processes = reader.facts().processes;
  const std::vector<trace::Process> rows = reader.processes(0, processes);
  const std::vector<std::uint64_t> first_segment = reader.first_segments(0, processes);
  for (std::size_t p = 0; p < rows.size(); p++) {
    fmt::print("\nprocess {}{}\n", p, rows[p].complete ? "" : ", incomplete");
    Lines lines;
    for (std::uint64_t row = first_segment[p]; row < first_segment[p + 1]; row++)
      add_segment(reader, reader.segment(row), with_polls, lines);
    print(lines);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    dump(trace::Reader(argv[1]), argc > 2 && std::strcmp(argv[2], "--polls") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump_trace: %s\n", error.what());
    return 1;
  }
  return 0;
}
