#pragma once
// The rows of /processes. Each rank collects those of its processes, rank 0 writes them all: they are few
// against the calls, and only in the order of processes do hosts get the same numbers for any number of
// ranks. Private to common/trace.

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "common/trace/columns.hpp"
#include "common/trace/format.hpp"

namespace simreplay::trace {

class ProcessTable {
 public:
  /// A process whose calls and segments begin at these rows.
  void begin(std::int32_t process, const Extent& position);
  /// Recorded time of calls of the process that began last, in ticks.
  void add_ticks(std::uint64_t ticks) { rows_.back().recorded_ticks += ticks; }
  /// What else is to be said of it.
  void end(const Process& process);

  /// Makes the datasets and writes the rows of all ranks; `last` is the end of calls and segments.
  /// Returns the names of hosts, one a line. Collective over `comm` if there is one.
  std::string write(hdf5::File& file, Layout::Kind kind, std::int32_t processes, const Extent& last,
                    std::optional<MPI_Comm> comm);

 private:
  struct Row {
    std::int32_t process = 0, host = 0;
    Overheads overhead_ps{};
    std::uint64_t first_call = 0, first_segment = 0;
    std::uint64_t recorded_ticks = 0;
    Record record = Record::cut;
  };

  void collect(MPI_Comm comm);
  std::string number_hosts();
  void write_rows(ProcessColumns& columns, OffsetColumns& offsets, const Extent& last) const;

  std::vector<Row> rows_;
  std::vector<char> hosts_;  // of each row, ended by 0
};

}  // namespace simreplay::trace
