#pragma once
// Reads a trace file. Everything that is read is checked, so that any bytes give a trace or an Error.

#include <memory>
#include <string>
#include <vector>

#include "common/trace/format.hpp"
#include "common/trace/signature_table.hpp"

namespace simreplay::trace {

class Reader {
 public:
  /// Opens, checks format and version, reads facts and communicators. Independent on every rank.
  explicit Reader(std::string path);
  ~Reader();
  Reader(Reader&&) noexcept;

  const std::string& path() const { return path_; }
  const Facts& facts() const { return facts_; }
  const Extent& extent() const { return extent_; }
  const std::vector<Members>& communicators() const { return communicators_; }

  /// Regions, counters and timers, by the numbers that marks name.
  const std::vector<Metric>& metrics() const { return metrics_; }

  /// Of a program that was recorded in part; empty otherwise.
  std::vector<Skipped> skipped() const;

  /// Rows `first` to `first + count` of /processes.
  std::vector<Process> processes(std::int32_t first, std::int32_t count) const;
  /// How much there is of each of these.
  std::vector<Record> records(std::int32_t first, std::int32_t count) const;
  /// Row in /calls at which each of these processes starts, and one more for the end.
  std::vector<std::uint64_t> first_calls(std::int32_t first, std::int32_t count) const;
  /// Row in /segments likewise.
  std::vector<std::uint64_t> first_segments(std::int32_t first, std::int32_t count) const;

  Segment segment(std::uint64_t row) const;
  SignatureTable table(const Segment& segment) const;

  /// Rows of /calls from `first`; each span has the length wanted. Signatures are checked against the number
  /// of those that the segment of the process has, times are not checked.
  void calls(std::int32_t process, std::uint64_t signatures, std::uint64_t first,
             std::span<std::uint16_t> signature, std::span<std::int64_t> computation) const;
  void calls(const Segment& segment, std::uint64_t first, std::span<std::uint16_t> signature,
             std::span<std::int64_t> computation) const {
    calls(segment.process, segment.signatures, first, signature, computation);
  }
  void computations(std::uint64_t first, std::span<std::int64_t> ticks) const;
  void durations(std::uint64_t first, std::span<std::int64_t> ticks) const;
  /// All rows of /calls in memory, without copies; nothing is checked. Null where the file does not allow it.
  struct MappedCalls {
    const std::uint16_t* signature = nullptr;
    const std::int64_t* computation = nullptr;
    const std::int64_t* duration = nullptr;
    explicit operator bool() const { return signature && computation && duration; }
  };
  MappedCalls map_calls() const;
  /// Throws unless all of these are below `signatures`.
  void check_signatures(std::int32_t process, std::uint64_t signatures,
                        std::span<const std::uint16_t> of_calls) const;
  /// The sum of both over the calls of each of these processes. Empty: the file does not say.
  std::vector<std::int64_t> recorded_ticks(std::int32_t first, std::int32_t count) const;

 private:
  struct Columns;
  [[noreturn]] void corrupt(const std::string& what) const;
  std::vector<std::uint64_t> offsets(const std::vector<std::uint64_t>& rows, std::uint64_t end,
                                     const char* what) const;
  void read_communicators();
  void read_metrics();
  void check_mark(const Segment& segment, const Signature& s) const;

  std::string path_;
  std::unique_ptr<Columns> columns_;
  Facts facts_;
  Extent extent_;
  std::vector<Members> communicators_;
  std::vector<Metric> metrics_;
  std::vector<Op> operations_;  // operation code in the file -> ours
  std::vector<std::string> hosts_;
};

}  // namespace simreplay::trace
