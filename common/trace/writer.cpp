#include "common/trace/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <type_traits>
#include <utility>

#include "common/error.hpp"
#include "common/mpi_lists.hpp"
#include "common/mpi_session.hpp"
#include "common/trace/columns.hpp"
#include "common/trace/process_table.hpp"

namespace simreplay::trace {
namespace {

std::string temporary_name(const std::string& path) { return path + ".part"; }

/// Datasets that a prediction takes over unchanged.
constexpr const char* structure_u8[] = {"/processes/complete"};
constexpr const char* structure_u16[] = {"/calls/signature", "/signatures/operation", "/signatures/flags",
                                         "/signatures/thread", "/signatures/overlaps"};
constexpr const char* structure_i32[] = {
    "/signatures/communicator", "/signatures/peer", "/signatures/tag",      "/signatures/request",
    "/segments/process",        "/processes/host",  "/communicators/first", "/communicators/stride",
    "/communicators/count",     first_group_name,   "/skipped/source",      "/skipped/destination",
    "/skipped/communicator",    "/skipped/tag"};
constexpr const char* structure_u32[] = {"/signatures/items"};
constexpr const char* structure_i64[] = {"/signatures/bytes", items_name, "/skipped/messages"};
constexpr const char* structure_u64[] = {
    "/segments/first_call", "/segments/calls",       "/segments/first_signature", "/segments/signatures",
    "/segments/first_item", "/processes/first_call", "/processes/first_segment",  first_run_name};

template <class T>
void copy(const hdf5::File& from, hdf5::File& to, const char* name, int rank, int ranks) {
  const Column<T> source(from, name);
  Column<T> target(to, name, {Layout::Kind::fixed, source.rows()});
  const auto bound = [&](int r) {
    return source.rows() * static_cast<std::uint64_t>(r) / static_cast<std::uint64_t>(ranks);
  };
  constexpr std::uint64_t at_once = 1U << 18;
  for (std::uint64_t row = bound(rank); row < bound(rank + 1);) {
    const std::uint64_t n = std::min(at_once, bound(rank + 1) - row);
    target.write(row, std::span<const T>(source.read(row, n)));
    row += n;
  }
}

template <class T, std::size_t N>
void copy_all(const hdf5::File& from, hdf5::File& to, const char* const (&names)[N], int rank, int ranks) {
  for (const char* name : names) copy<T>(from, to, name, rank, ranks);
}

/// Only where there are any.
void copy_metrics(const hdf5::File& from, hdf5::File& to, int rank, int ranks) {
  if (!from.has(metrics_group)) return;
  to.create_group(metrics_group);
  copy<std::uint8_t>(from, to, metric_kind_name, rank, ranks);
  copy<std::uint8_t>(from, to, metric_characters_name, rank, ranks);
  copy<std::uint64_t>(from, to, metric_offsets_name, rank, ranks);
}

void rename_over(const std::string& from, const std::string& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (failure) throw Error({.file = to, .problem = "cannot take its name: " + failure.message()});
}

std::optional<MPI_Comm> comm_of(const std::optional<Placement>& placement) {
  return placement ? std::optional(placement->comm) : std::nullopt;
}

Layout::Kind layout_of(const std::optional<Placement>& placement) {
  return placement ? Layout::Kind::fixed : Layout::Kind::growing;
}

/// Of times as they are in the file: nobody has checked that they are any.
std::uint64_t sum_of(std::span<const std::int64_t> ticks) {
  std::uint64_t sum = 0;
  for (const std::int64_t t : ticks) sum += static_cast<std::uint64_t>(t);
  return sum;
}

hdf5::File with_groups(hdf5::File file) {
  for (const char* group : groups) file.create_group(group);
  return file;
}

}  // namespace

void write_facts(hdf5::File& file, const Facts& facts) {
  std::string names;
  for (const OpInfo& row : mpi_ops) names += (names.empty() ? "" : " ") + std::string(row.name);
  file.write_attribute("format", std::string(format_name));
  file.write_attribute("version", format_version);
  file.write_attribute("operations", names);
  file.write_attribute("kind", facts.kind);
  file.write_attribute("command", facts.command);
  file.write_attribute("mpi_library", facts.mpi_library);
  file.write_attribute("started", facts.started);
  file.write_attribute("clock", facts.clock);
  file.write_attribute("machine", facts.machine);
  file.write_attribute("processes", facts.processes);
  file.write_attribute("tick_ps", facts.tick_ps);
}

Placement place(MPI_Comm comm, const std::vector<Part>& own) {
  const std::vector<Part> all = gather(comm, std::span<const Part>(own));
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i].process; });
  std::vector<Extent> starts(all.size());
  Placement p;
  p.comm = comm;
  for (const std::size_t i : order) {
    starts[i] = p.total;
    p.total += all[i].extent;
  }
  MPI_Bcast(&p.total, sizeof p.total, MPI_BYTE, 0, comm);
  const std::vector<Extent> own_starts = scatter(comm, std::span<const Extent>(starts), own.size());
  for (std::size_t i = 0; i < own.size(); i++) p.starts[own[i].process] = own_starts[i];
  return p;
}

struct Writer::Columns {
  hdf5::File file;
  CallColumns calls;
  std::optional<Column<std::int64_t>> wall_column;
  SignatureColumns signatures;
  SegmentColumns segments;
  Column<std::int64_t> items;

  Columns(hdf5::File f, Layout::Kind kind, const Extent& total, bool with_wall)
      : file(with_groups(std::move(f))),
        calls(file, Layout{kind, total.calls}),
        signatures(file, Layout{kind, total.signatures}),
        segments(file, Layout{kind, total.segments}),
        items(file, items_name, Layout{kind, total.items}) {
    if (with_wall) wall_column.emplace(file, wall_name, Layout{kind, total.calls});
  }

  void write_calls(const Extent& end, std::span<const std::uint16_t> numbers,
                   std::span<const std::int64_t> before, std::span<const std::int64_t> inside,
                   std::span<const std::int64_t> by_wall) {
    const std::uint64_t first = end.calls - numbers.size();
    calls.signature.write(first, numbers);
    calls.computation.write(first, before);
    calls.duration.write(first, inside);
    if (wall_column) wall_column->write(first, by_wall);
  }
  void write_pending_calls(const Extent& end) {
    write_calls(end, signature, computation, duration, wall);
    signature.clear();
    computation.clear();
    duration.clear();
    wall.clear();
  }
  void write_pending_segments(const Extent& end);

  // What lies before the writer's position and is not in the file yet: processes of few calls are put
  // together, for a write costs as much as the encoding of hundreds of calls.
  std::vector<std::uint16_t> signature;
  std::vector<std::int64_t> computation, duration, wall;
  std::vector<Segment> segment;
  SignatureTable table;

  ProcessTable processes;
};

constexpr std::size_t calls_at_once = 1U << 15;
constexpr std::size_t signatures_at_once = 1U << 14;

void Writer::Columns::write_pending_segments(const Extent& end) {
  const auto each = [&](auto& column, auto Segment::*field) {
    std::vector<std::remove_cvref_t<decltype(segment[0].*field)>> values;
    for (const Segment& s : segment) values.push_back(s.*field);
    column.write(end.segments - segment.size(), std::span(std::as_const(values)));
  };
  each(segments.process, &Segment::process);
  each(segments.first_call, &Segment::first_call);
  each(segments.calls, &Segment::calls);
  each(segments.first_signature, &Segment::first_signature);
  each(segments.signatures, &Segment::signatures);
  each(segments.first_item, &Segment::first_item);

  const auto all = [&](auto& column, const auto& values) {
    column.write(end.signatures - table.size(), std::span(values));
  };
  all(signatures.operation, table.operation);
  all(signatures.flags, table.flags);
  all(signatures.thread, table.thread);
  all(signatures.overlaps, table.overlaps);
  all(signatures.communicator, table.communicator);
  all(signatures.peer, table.peer);
  all(signatures.tag, table.tag);
  all(signatures.request, table.request);
  all(signatures.bytes, table.bytes);
  all(signatures.items, table.items);
  items.write(end.items - table.item_values.size(), std::span<const std::int64_t>(table.item_values));
  segment.clear();
  table.clear();
}

Writer::Writer(std::string path, Facts facts, std::optional<Placement> placement)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      facts_(std::move(facts)),
      placement_(std::move(placement)) {
  columns_ = std::make_unique<Columns>(hdf5::File::create(temporary_, comm_of(placement_)),
                                       layout_of(placement_), placement_ ? placement_->total : Extent{},
                                       facts_.clock != "wall" && facts_.clock != "none");
}

Writer::~Writer() {
  if (!columns_) return;
  columns_.reset();
  if (!placement_ || rank_in(placement_->comm) == 0) std::remove(temporary_.c_str());
}

void Writer::begin_process(std::int32_t process) {
  if (placement_) {
    const auto start = placement_->starts.find(process);
    if (start != placement_->starts.end() && start->second != position_) {
      write_pending();
      position_ = start->second;
    }
  }
  columns_->processes.begin(process, position_);
}

void Writer::calls(std::span<const std::uint16_t> signature, std::span<const std::int64_t> computation,
                   std::span<const std::int64_t> duration, std::span<const std::int64_t> wall) {
  Columns& c = *columns_;
  c.processes.add_ticks(sum_of(computation) + sum_of(duration));
  if (c.signature.size() + signature.size() > calls_at_once) c.write_pending_calls(position_);
  position_.calls += signature.size();
  if (signature.size() >= calls_at_once)
    return c.write_calls(position_, signature, computation, duration, wall);
  c.signature.insert(c.signature.end(), signature.begin(), signature.end());
  c.computation.insert(c.computation.end(), computation.begin(), computation.end());
  c.duration.insert(c.duration.end(), duration.begin(), duration.end());
  if (c.wall_column) c.wall.insert(c.wall.end(), wall.begin(), wall.end());
}

void Writer::segment(const Segment& s, const SignatureTable& table) {
  Columns& c = *columns_;
  if (c.table.size() + table.size() > signatures_at_once) c.write_pending_segments(position_);
  c.segment.push_back(
      {s.process, position_.calls - s.calls, s.calls, position_.signatures, s.signatures, position_.items});
  for (std::size_t i = 0; i < table.size(); i++) c.table.push_back(table[i]);
  position_ += {0, table.size(), table.item_values.size(), 1};
}

void Writer::end_process(const Process& process) { columns_->processes.end(process); }

void Writer::write_pending() {
  columns_->write_pending_calls(position_);
  columns_->write_pending_segments(position_);
}

void Writer::commit(const std::vector<Members>& communicators, const std::vector<Skipped>& skipped,
                    const std::vector<Metric>& metrics) {
  write_pending();
  write_tables(communicators, skipped, metrics);
  columns_.reset();
  if (!placement_) return rename_over(temporary_, path_);
  MPI_Barrier(placement_->comm);
  together(placement_->comm, [&] {
    if (rank_in(placement_->comm) == 0) rename_over(temporary_, path_);
  });
}

void Writer::write_tables(const std::vector<Members>& communicators, const std::vector<Skipped>& skipped,
                          const std::vector<Metric>& metrics) {
  Columns& c = *columns_;
  const Extent& end = placement_ ? placement_->total : position_;
  const std::string hosts =
      c.processes.write(c.file, layout_of(placement_), facts_.processes, end, comm_of(placement_));
  write_communicators(communicators);
  write_skipped(skipped);
  write_metrics(metrics);
  write_facts(c.file, facts_);
  c.file.write_attribute("hosts", hosts);  // one a line; `host` counts lines
  c.file.flush();
}

void Writer::write_communicators(const std::vector<Members>& communicators) {
  std::vector<std::uint64_t> first_run{0};
  std::vector<std::int32_t> first, stride, count, first_group;
  for (const Members& m : communicators) {
    first_group.push_back(m.first_group);
    for (const Members::Run& r : m.runs) {
      first.push_back(r.first);
      stride.push_back(r.stride);
      count.push_back(r.count);
    }
    first_run.push_back(first.size());
  }
  std::vector<std::uint64_t> rows{first.size(), first_group.size()};
  if (placement_) broadcast(placement_->comm, rows);
  const Layout::Kind kind = layout_of(placement_);
  RunColumns runs(columns_->file, Layout{kind, rows[0]});
  Column<std::uint64_t> offsets(columns_->file, first_run_name, Layout{kind, rows[1] + 1});
  Column<std::int32_t> first_groups(columns_->file, first_group_name, Layout{kind, rows[1]});
  if (placement_ && rank_in(placement_->comm) != 0) return;
  runs.first.write(0, std::span<const std::int32_t>(first));
  runs.stride.write(0, std::span<const std::int32_t>(stride));
  runs.count.write(0, std::span<const std::int32_t>(count));
  offsets.write(0, std::span<const std::uint64_t>(first_run));
  first_groups.write(0, std::span<const std::int32_t>(first_group));
}

void Writer::write_skipped(const std::vector<Skipped>& skipped) {
  std::vector<std::uint64_t> rows{skipped.size()};
  if (placement_) broadcast(placement_->comm, rows);
  SkippedColumns columns(columns_->file, Layout{layout_of(placement_), rows[0]});
  if (skipped.empty()) return;
  const auto each = [&](auto& column, auto Skipped::*field) {
    std::vector<std::remove_cvref_t<decltype(skipped[0].*field)>> values;
    for (const Skipped& s : skipped) values.push_back(s.*field);
    column.write(0, std::span(std::as_const(values)));
  };
  each(columns.source, &Skipped::source);
  each(columns.destination, &Skipped::destination);
  each(columns.communicator, &Skipped::communicator);
  each(columns.tag, &Skipped::tag);
  each(columns.messages, &Skipped::messages);
}

/// Most programs have none; then nothing is written.
void Writer::write_metrics(const std::vector<Metric>& metrics) {
  std::vector<std::uint8_t> kinds, characters;
  std::vector<std::uint64_t> starts{0};
  for (const Metric& m : metrics) {
    kinds.push_back(static_cast<std::uint8_t>(m.kind));
    characters.insert(characters.end(), m.name.begin(), m.name.end());
    starts.push_back(characters.size());
  }
  std::vector<std::uint64_t> rows{kinds.size(), characters.size()};
  if (placement_) broadcast(placement_->comm, rows);
  if (rows[0] == 0) return;
  const Layout::Kind kind = layout_of(placement_);
  columns_->file.create_group(metrics_group);
  MetricColumns columns(columns_->file, Layout{kind, rows[0]}, Layout{kind, rows[1]},
                        Layout{kind, rows[0] + 1});
  if (metrics.empty()) return;
  columns.kind.write(0, std::span<const std::uint8_t>(kinds));
  columns.characters.write(0, std::span<const std::uint8_t>(characters));
  columns.first_character.write(0, std::span<const std::uint64_t>(starts));
}

struct Rewriter::Columns {
  hdf5::File file;
  Column<std::int64_t> computation, duration;
  Columns(hdf5::File f, std::uint64_t calls)
      : file(with_groups(std::move(f))),
        computation(file, "/calls/computation", {Layout::Kind::fixed, calls}),
        duration(file, "/calls/duration", {Layout::Kind::fixed, calls}) {}
};

std::uint64_t rewritten_bytes(const Extent& e, std::int32_t processes) {
  constexpr std::uint64_t per_call = 18, per_signature = 32, per_segment = 44, per_process = 29,
                          tables = 1U << 16;
  return e.calls * per_call + e.signatures * per_signature + e.items * sizeof(std::int64_t) +
         e.segments * per_segment + static_cast<std::uint64_t>(processes) * per_process + tables;
}

Rewriter::Rewriter(std::string path, const std::string& source, Facts facts, MPI_Comm comm)
    : path_(std::move(path)), temporary_(temporary_name(path_)), comm_(comm) {
  const hdf5::File from = hdf5::File::open(source);
  const std::uint64_t calls = Column<std::int64_t>(from, "/calls/computation").rows();
  columns_ = std::make_unique<Columns>(hdf5::File::create(temporary_, comm), calls);
  hdf5::File& to = columns_->file;
  const int rank = rank_in(comm), ranks = size_of(comm);
  copy_all<std::uint8_t>(from, to, structure_u8, rank, ranks);
  copy_all<std::uint16_t>(from, to, structure_u16, rank, ranks);
  copy_all<std::int32_t>(from, to, structure_i32, rank, ranks);
  copy_all<std::uint32_t>(from, to, structure_u32, rank, ranks);
  copy_all<std::int64_t>(from, to, structure_i64, rank, ranks);
  copy_all<std::uint64_t>(from, to, structure_u64, rank, ranks);
  copy_metrics(from, to, rank, ranks);

  // Its times hold no tracing cost any more.
  const auto processes = static_cast<std::uint64_t>(facts.processes);
  const std::vector<std::int64_t> none(processes * recording_kinds, 0);
  Column<std::int64_t> overhead(to, overhead_name, {Layout::Kind::fixed, none.size()});
  if (rank == 0) overhead.write(0, std::span<const std::int64_t>(none));
  write_facts(to, facts);
  to.write_attribute("hosts", from.read_string("hosts"));
}

Rewriter::~Rewriter() {
  if (!columns_) return;
  columns_.reset();
  if (rank_in(comm_) == 0) std::remove(temporary_.c_str());
}

void Rewriter::calls(std::uint64_t first_call, std::span<const std::int64_t> computation,
                     std::span<const std::int64_t> duration) {
  columns_->computation.write(first_call, computation);
  columns_->duration.write(first_call, duration);
}

void Rewriter::commit() {
  columns_->file.flush();
  columns_.reset();
  MPI_Barrier(comm_);
  if (rank_in(comm_) == 0) rename_over(temporary_, path_);
  MPI_Barrier(comm_);
}

}  // namespace simreplay::trace
