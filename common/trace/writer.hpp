#pragma once
// Writes a trace file: serially by appending, or by all ranks of a communicator into known places.

#include <mpi.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/trace/encoder.hpp"
#include "common/trace/format.hpp"

namespace simreplay::trace {

/// Processes that one rank writes, from `process` on without a gap, and what they take of the file.
struct Part {
  std::int32_t process = 0;
  Extent extent;
};

/// Where the parts of one rank lie in a file that all ranks of `comm` write.
struct Placement {
  MPI_Comm comm = MPI_COMM_NULL;
  std::map<std::int32_t, Extent> starts;  // of the parts, by first process
  Extent total;
};

/// Lays the parts of all ranks end to end in the order of processes. Collective.
Placement place(MPI_Comm comm, const std::vector<Part>& own);

/// A file under way has the name PATH.part; commit() gives it its name, and without commit() it vanishes.
/// Throws Error. With a Placement, constructor and commit() are collective.
class Writer final : public Sink {
 public:
  Writer(std::string path, Facts facts, std::optional<Placement> placement = std::nullopt);
  ~Writer() override;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // One process, in ascending order: segment() and calls() come from an Encoder in between.
  void begin_process(std::int32_t process);
  void calls(std::span<const std::uint16_t> signature, std::span<const std::int64_t> computation,
             std::span<const std::int64_t> duration, std::span<const std::int64_t> wall) override;
  void segment(const Segment& segment, const SignatureTable& table) override;
  void end_process(const Process& process);

  /// `communicators`: all of the trace, by id; ids 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF. With a
  /// Placement only rank 0 need know them, what was skipped, and metrics.
  void commit(const std::vector<Members>& communicators, const std::vector<Skipped>& skipped = {},
              const std::vector<Metric>& metrics = {});

 private:
  struct Columns;
  void write_pending();
  void write_tables(const std::vector<Members>& communicators, const std::vector<Skipped>& skipped,
                    const std::vector<Metric>& metrics);
  void write_communicators(const std::vector<Members>& communicators);
  void write_skipped(const std::vector<Skipped>& skipped);
  void write_metrics(const std::vector<Metric>& metrics);

  std::string path_, temporary_;
  Facts facts_;
  std::optional<Placement> placement_;
  std::unique_ptr<Columns> columns_;
  Extent position_;  // of the next row, from the file's start
};

/// About the bytes that a Rewriter puts out.
std::uint64_t rewritten_bytes(const Extent& e, std::int32_t processes);

/// A new trace with the calls of another and new times: the prediction. Structure is copied in parallel,
/// times are written by whoever computes them. Constructor and commit() are collective over `comm`.
class Rewriter {
 public:
  Rewriter(std::string path, const std::string& source, Facts facts, MPI_Comm comm);
  ~Rewriter();
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  /// Times of the calls in rows first_call, first_call+1, ... of the source, in ticks.
  void calls(std::uint64_t first_call, std::span<const std::int64_t> computation,
             std::span<const std::int64_t> duration);
  void commit();

 private:
  struct Columns;
  std::string path_, temporary_;
  MPI_Comm comm_;
  std::unique_ptr<Columns> columns_;
};

}  // namespace simreplay::trace
