#include "common/trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/error.hpp"
#include "common/trace/columns.hpp"

namespace simreplay::trace {
namespace {

/// What can be said before HDF5 looks at the file.
void check_readable(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found)
    throw Error({.file = path, .expected = "a trace file", .found = "no such file"});
  if (std::filesystem::is_directory(status))
    throw Error({.file = path, .expected = "a trace file", .found = "a directory"});
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error({.file = path, .problem = std::string("cannot be read: ") + std::strerror(errno)});
  char magic[8] = {};
  in.read(magic, sizeof magic);
  if (in.gcount() == 0) throw Error({.file = path, .expected = "a trace file", .found = "an empty file"});
  if (in.gcount() < 8 || std::memcmp(magic, "\x89HDF\r\n\x1a\n", 8) != 0)
    throw Error({.file = path, .expected = "a trace file (HDF5)", .found = "another kind of file"});
}

}  // namespace

Facts read_facts(const hdf5::File& file) {
  Facts facts;
  facts.kind = file.read_string("kind");
  facts.command = file.read_string("command");
  facts.mpi_library = file.read_string("mpi_library");
  facts.started = file.read_string("started");
  facts.clock = file.read_string("clock");
  facts.machine = file.read_string("machine");
  const std::int64_t processes = file.read_integer("processes");
  facts.tick_ps = file.read_integer("tick_ps");
  if (processes < 1 || processes > INT32_MAX)
    throw Error(
        {.file = file.path(), .expected = "at least one process", .found = std::to_string(processes)});
  if (facts.tick_ps < 1 || facts.tick_ps > 1'000'000'000'000)
    throw Error(
        {.file = file.path(), .expected = "a tick of 1 ps to 1 s", .found = std::to_string(facts.tick_ps)});
  facts.processes = static_cast<std::int32_t>(processes);
  return facts;
}

struct Reader::Columns {
  hdf5::File file;
  CallColumns calls;
  SignatureColumns signatures;
  SegmentColumns segments;
  ProcessColumns processes;
  OffsetColumns offsets;
  Column<std::int64_t> items;
  explicit Columns(hdf5::File f)
      : file(std::move(f)),
        calls(file),
        signatures(file),
        segments(file),
        processes(file),
        offsets(file),
        items(file, items_name) {}
};

Reader::Reader(std::string path) : path_(std::move(path)) {
  check_readable(path_);
  hdf5::File file = hdf5::File::open(path_);
  if (const std::string format = file.read_string("format"); format != format_name)
    throw Error(
        {.file = path_, .expected = fmt::format("format '{}'", format_name), .found = "'" + format + "'"});
  if (const std::int64_t version = file.read_integer("version"); version < 1 || version > format_version)
    throw Error({.file = path_,
                 .expected = fmt::format("format version up to {}", format_version),
                 .found = fmt::format("version {}", version),
                 .remedy = "a newer simreplay reads it"});
  facts_ = read_facts(file);
  std::istringstream names(file.read_string("operations"));
  for (std::string name; names >> name;) operations_.push_back(find_op(name).value_or(Op::count));
  std::istringstream hosts(file.read_string("hosts"));
  for (std::string host; std::getline(hosts, host);) hosts_.push_back(host);

  columns_ = std::make_unique<Columns>(std::move(file));
  extent_ = {columns_->calls.signature.rows(), columns_->signatures.operation.rows(), columns_->items.rows(),
             columns_->segments.process.rows()};
  const auto processes = static_cast<std::uint64_t>(facts_.processes);
  if (columns_->calls.computation.rows() != extent_.calls || columns_->calls.duration.rows() != extent_.calls)
    corrupt("the columns of /calls differ in length");
  if (columns_->processes.complete.rows() != processes ||
      columns_->offsets.first_call.rows() != processes + 1)
    corrupt(fmt::format("expected {} rows in /processes, found {}", processes,
                        columns_->processes.complete.rows()));
  read_communicators();
  read_metrics();
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;

void Reader::corrupt(const std::string& what) const {
  throw Error(
      {.file = path_, .problem = what, .remedy = "the file is damaged or was made by another program"});
}

std::vector<std::uint64_t> Reader::offsets(const std::vector<std::uint64_t>& rows, std::uint64_t end,
                                           const char* what) const {
  if (!std::ranges::is_sorted(rows) || (!rows.empty() && rows.back() > end))
    corrupt(fmt::format("the offsets in {} do not ascend within {} rows", what, end));
  return rows;
}

void Reader::read_communicators() {
  const RunColumns runs(columns_->file);
  const Column<std::uint64_t> first_run(columns_->file, first_run_name);
  const auto count = runs.first.rows();
  if (first_run.rows() < 3) corrupt("expected MPI_COMM_WORLD and MPI_COMM_SELF in /communicators");
  const auto starts = offsets(first_run.read(0, first_run.rows()), count, "/communicators");
  const Column<std::int32_t> first_group(columns_->file, first_group_name);
  if (first_group.rows() + 1 != first_run.rows())
    corrupt("/communicators/first_group has not a row for each communicator");
  const auto group_sizes = first_group.read(0, first_group.rows());
  const auto first = runs.first.read(0, count), stride = runs.stride.read(0, count),
             length = runs.count.read(0, count);
  for (std::size_t c = 0; c + 1 < starts.size(); c++) {
    Members members;
    std::int64_t size = 0;
    for (std::uint64_t r = starts[c]; r < starts[c + 1]; r++) {
      const std::int64_t last = first[r] + static_cast<std::int64_t>(length[r] - 1) * stride[r];
      // `nobody` is a process of another program.
      if (length[r] < 1 || first[r] < nobody || first[r] >= facts_.processes || last < nobody ||
          last >= facts_.processes)
        corrupt(fmt::format("communicator {} has members outside of the {} processes", c, facts_.processes));
      members.runs.push_back({first[r], stride[r], length[r]});
      size += length[r];
    }
    members.first_group = group_sizes[c];
    if (group_sizes[c] < 0 || group_sizes[c] > size)
      corrupt(
          fmt::format("the first group of communicator {} has {} of {} members", c, group_sizes[c], size));
    if (size > facts_.processes && !members.has_strangers())
      corrupt(fmt::format("communicator {} has more members than there are processes", c));
    communicators_.push_back(std::move(members));
  }
  if (communicators_[world_id].size() != facts_.processes)
    corrupt("MPI_COMM_WORLD does not hold all processes");
}

/// Traces of programs that have none, and those of earlier versions, lack the columns.
void Reader::read_metrics() {
  if (!columns_->file.has(metrics_group)) return;
  const MetricColumns c(columns_->file);
  const std::uint64_t n = c.kind.rows();
  if (c.first_character.rows() != n + 1) corrupt("the columns of /metrics differ in length");
  const auto starts = offsets(c.first_character.read(0, n + 1), c.characters.rows(), "/metrics");
  const auto kinds = c.kind.read(0, n);
  const auto characters = c.characters.read(0, starts.back());
  const std::string names(characters.begin(), characters.end());
  for (std::size_t i = 0; i < n; i++) {
    if (kinds[i] >= static_cast<std::uint8_t>(MetricKind::kinds))
      corrupt(fmt::format("metric {} is of unknown kind {}", i, kinds[i]));
    metrics_.push_back(
        {static_cast<MetricKind>(kinds[i]), names.substr(starts[i], starts[i + 1] - starts[i])});
  }
}

void Reader::check_mark(const Segment& segment, const Signature& s) const {
  const auto is = [this](std::int64_t metric, MetricKind kind) {
    return metric >= 0 && metric < std::ssize(metrics_) &&
           metrics_[static_cast<std::size_t>(metric)].kind == kind;
  };
  const Items items = info(s.op).items;
  const std::size_t words = items == Items::none ? 0 : 1;
  if (!is(s.tag, metric_kind_of(s.op)) || s.items.size() != words ||
      (items == Items::counter && !is(s.items[0], MetricKind::counter)))
    corrupt(fmt::format("process {}: {} of unknown metric {}", segment.process, info(s.op).name, s.tag));
}

std::vector<Skipped> Reader::skipped() const {
  const SkippedColumns c(columns_->file);
  const std::uint64_t n = c.source.rows();
  for (const std::uint64_t rows :
       {c.destination.rows(), c.communicator.rows(), c.tag.rows(), c.messages.rows()})
    if (rows != n) corrupt("the columns of /skipped differ in length");
  const auto source = c.source.read(0, n), destination = c.destination.read(0, n),
             communicator = c.communicator.read(0, n), tag = c.tag.read(0, n);
  const auto messages = c.messages.read(0, n);
  const auto is_process = [this](std::int32_t p) { return p >= 0 && p < facts_.processes; };
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::vector<Skipped> all;
  for (std::size_t i = 0; i < n; i++) {
    all.push_back({source[i], destination[i], communicator[i], tag[i], messages[i]});
    if (!is_process(source[i]) || !is_process(destination[i]) || messages[i] < -most || messages[i] > most)
      corrupt(fmt::format("/skipped, row {}: {} messages from process {} to {}", i, messages[i], source[i],
                          destination[i]));
  }
  return all;
}

std::vector<Record> Reader::records(std::int32_t first, std::int32_t count) const {
  const auto from = static_cast<std::uint64_t>(first);
  std::vector<Record> all;
  all.reserve(static_cast<std::size_t>(count));
  for (const std::uint8_t r : columns_->processes.complete.read(from, static_cast<std::uint64_t>(count))) {
    if (r >= static_cast<std::uint8_t>(Record::kinds))
      corrupt(fmt::format("/processes/complete of process {} is {}", from + all.size(), r));
    all.push_back(static_cast<Record>(r));
  }
  return all;
}

std::vector<Process> Reader::processes(std::int32_t first, std::int32_t count) const {
  const auto from = static_cast<std::uint64_t>(first), n = static_cast<std::uint64_t>(count);
  const auto starts = first_calls(first, count);
  const auto complete = records(first, count);
  const Column<std::int64_t> overheads(columns_->file, overhead_name);
  if (overheads.rows() != static_cast<std::uint64_t>(facts_.processes) * recording_kinds)
    corrupt(fmt::format("{} has not {} rows for each process", overhead_name, recording_kinds));
  const auto overhead = overheads.read(from * recording_kinds, n * recording_kinds);
  const auto host = columns_->processes.host.read(from, n);
  std::vector<Process> rows(n);
  for (std::size_t i = 0; i < n; i++) {
    const auto h = static_cast<std::size_t>(host[i]);
    rows[i] = {starts[i + 1] - starts[i], complete[i], {}, h < hosts_.size() ? hosts_[h] : ""};
    std::copy_n(overhead.begin() + static_cast<std::ptrdiff_t>(i * recording_kinds), recording_kinds,
                rows[i].overhead_ps.begin());
  }
  return rows;
}

std::vector<std::uint64_t> Reader::first_calls(std::int32_t first, std::int32_t count) const {
  return offsets(columns_->offsets.first_call.read(static_cast<std::uint64_t>(first),
                                                   static_cast<std::uint64_t>(count) + 1),
                 extent_.calls, "/processes/first_call");
}

std::vector<std::uint64_t> Reader::first_segments(std::int32_t first, std::int32_t count) const {
  return offsets(columns_->offsets.first_segment.read(static_cast<std::uint64_t>(first),
                                                      static_cast<std::uint64_t>(count) + 1),
                 extent_.segments, "/processes/first_segment");
}

Segment Reader::segment(std::uint64_t row) const {
  const SegmentColumns& c = columns_->segments;
  const auto at = [row](const auto& column) { return column.read(row, 1)[0]; };
  const Segment s{at(c.process),         at(c.first_call), at(c.calls),
                  at(c.first_signature), at(c.signatures), at(c.first_item)};
  if (s.first_call > extent_.calls || s.calls > extent_.calls - s.first_call ||
      s.first_signature > extent_.signatures || s.signatures > extent_.signatures - s.first_signature ||
      s.first_item > extent_.items || s.signatures > signatures_per_segment)
    corrupt(fmt::format("segment {} points outside of the file", row));
  return s;
}

SignatureTable Reader::table(const Segment& s) const {
  const SignatureColumns& c = columns_->signatures;
  SignatureTable t;
  t.operation = c.operation.read(s.first_signature, s.signatures);
  t.flags = c.flags.read(s.first_signature, s.signatures);
  t.thread = c.thread.read(s.first_signature, s.signatures);
  t.overlaps = c.overlaps.read(s.first_signature, s.signatures);
  t.communicator = c.communicator.read(s.first_signature, s.signatures);
  t.peer = c.peer.read(s.first_signature, s.signatures);
  t.tag = c.tag.read(s.first_signature, s.signatures);
  t.request = c.request.read(s.first_signature, s.signatures);
  t.bytes = c.bytes.read(s.first_signature, s.signatures);
  t.items = c.items.read(s.first_signature, s.signatures);
  std::uint64_t items = 0;
  for (const std::uint32_t n : t.items) t.item_end.push_back(items += n);
  if (items > extent_.items - s.first_item) corrupt("a signature has items outside of the file");
  t.item_values = columns_->items.read(s.first_item, items);
  for (std::size_t i = 0; i < t.size(); i++) {
    const std::uint16_t code = t.operation[i];
    if (code >= operations_.size() || operations_[code] == Op::count)
      corrupt(fmt::format("process {} has an operation of unknown kind {}", s.process, code));
    t.operation[i] = static_cast<std::uint16_t>(operations_[code]);
    if (t.communicator[i] < 0 || static_cast<std::size_t>(t.communicator[i]) >= communicators_.size())
      corrupt(fmt::format("process {}: {} on unknown communicator {}", s.process,
                          info(operations_[code]).name, t.communicator[i]));
    if (t.peer[i] < anybody || t.peer[i] >= facts_.processes)
      corrupt(fmt::format("process {}: {} with unknown process {}", s.process, info(operations_[code]).name,
                          t.peer[i]));
    if (t.bytes[i] < 0)
      corrupt(fmt::format("process {}: {} of {} bytes", s.process, info(operations_[code]).name, t.bytes[i]));
    if (info(operations_[code]).verb == Verb::mark) check_mark(s, t[i]);
  }
  return t;
}

void Reader::calls(std::int32_t process, std::uint64_t signatures, std::uint64_t first,
                   std::span<std::uint16_t> signature, std::span<std::int64_t> computation) const {
  columns_->calls.signature.read(first, signature);
  columns_->calls.computation.read(first, computation);
  check_signatures(process, signatures, signature);
}

void Reader::check_signatures(std::int32_t process, std::uint64_t signatures,
                              std::span<const std::uint16_t> of_calls) const {
  std::uint16_t most = 0;
  for (const std::uint16_t s : of_calls) most = std::max(most, s);
  if (!of_calls.empty() && most >= signatures)
    corrupt(fmt::format("process {} has a call of unknown signature {}", process, most));
}

Reader::MappedCalls Reader::map_calls() const {
  const CallColumns& c = columns_->calls;
  return {c.signature.map(columns_->file), c.computation.map(columns_->file), c.duration.map(columns_->file)};
}

void Reader::computations(std::uint64_t first, std::span<std::int64_t> ticks) const {
  columns_->calls.computation.read(first, ticks);
}

void Reader::durations(std::uint64_t first, std::span<std::int64_t> ticks) const {
  columns_->calls.duration.read(first, ticks);
}

std::vector<std::int64_t> Reader::recorded_ticks(std::int32_t first, std::int32_t count) const {
  if (!columns_->file.has(recorded_name)) return {};
  const Column<std::int64_t> recorded(columns_->file, recorded_name);
  if (recorded.rows() != static_cast<std::uint64_t>(facts_.processes))
    corrupt(fmt::format("{} has not a row for each process", recorded_name));
  return recorded.read(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count));
}

}  // namespace simreplay::trace
