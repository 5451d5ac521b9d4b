#include "common/trace/process_table.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

#include "common/mpi_lists.hpp"

namespace simreplay::trace {

void ProcessTable::begin(std::int32_t process, const Extent& position) {
  Row row;
  row.process = process;
  row.first_call = position.calls;
  row.first_segment = position.segments;
  rows_.push_back(row);
}

void ProcessTable::end(const Process& process) {
  rows_.back().record = process.record;
  rows_.back().overhead_ps = process.overhead_ps;
  hosts_.insert(hosts_.end(), process.host.begin(), process.host.end());
  hosts_.push_back('\0');
}

std::string ProcessTable::write(hdf5::File& file, Layout::Kind kind, std::int32_t processes,
                                const Extent& last, std::optional<MPI_Comm> comm) {
  const auto rows = static_cast<std::uint64_t>(processes);
  if (comm) collect(*comm);
  std::string hosts = number_hosts();
  ProcessColumns columns(file, Layout{kind, rows});
  Column<std::int64_t> overheads(file, overhead_name, Layout{kind, rows * recording_kinds});
  Column<std::int64_t> recorded(file, recorded_name, Layout{kind, rows});
  OffsetColumns offsets(file, Layout{kind, rows + 1});
  if (!rows_.empty()) {
    write_rows(columns, offsets, last);
    std::vector<std::int64_t> values;
    for (const Row& row : rows_) values.insert(values.end(), row.overhead_ps.begin(), row.overhead_ps.end());
    overheads.write(0, std::span<const std::int64_t>(values));
    values.clear();
    for (const Row& row : rows_) values.push_back(static_cast<std::int64_t>(row.recorded_ticks));
    recorded.write(0, std::span<const std::int64_t>(values));
  }
  if (comm) broadcast(*comm, hosts);
  return hosts;
}

void ProcessTable::collect(MPI_Comm comm) {
  rows_ = gather(comm, std::span<const Row>(rows_));
  hosts_ = gather(comm, std::span<const char>(hosts_));
}

/// Sorts the rows, and numbers hosts in the order in which they appear there.
std::string ProcessTable::number_hosts() {
  std::vector<std::pair<Row, std::string>> table;
  auto name = hosts_.begin();
  for (const Row& row : rows_) {
    const auto end = std::find(name, hosts_.end(), '\0');
    table.emplace_back(row, std::string(name, end));
    name = end + 1;
  }
  std::ranges::sort(table, {}, [](const auto& row) { return row.first.process; });

  std::map<std::string, std::int32_t> numbers;
  std::string lines;
  rows_.clear();
  for (auto& [row, host] : table) {
    const auto [number, is_new] = numbers.emplace(host, static_cast<std::int32_t>(numbers.size()));
    if (is_new) lines += (numbers.size() == 1 ? "" : "\n") + host;
    row.host = number->second;
    rows_.push_back(row);
  }
  return lines;
}

void ProcessTable::write_rows(ProcessColumns& columns, OffsetColumns& offsets, const Extent& last) const {
  const auto write = [this](auto& column, auto Row::*field, auto... more) {
    std::vector<std::remove_cvref_t<decltype(rows_[0].*field)>> values;
    for (const Row& row : rows_) values.push_back(row.*field);
    (values.push_back(more), ...);
    column.write(0, std::span(std::as_const(values)));
  };
  std::vector<std::uint8_t> records;
  for (const Row& row : rows_) records.push_back(static_cast<std::uint8_t>(row.record));
  columns.complete.write(0, std::span<const std::uint8_t>(records));
  write(columns.host, &Row::host);
  write(offsets.first_call, &Row::first_call, last.calls);
  write(offsets.first_segment, &Row::first_segment, last.segments);
}

}  // namespace simreplay::trace
