#pragma once
// Streams the calls of processes through memory: one window of calls at a time.

#include <cstdint>
#include <span>
#include <vector>

#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

/// Rows of one process in /calls and /segments.
struct ProcessRows {
  std::int32_t process = 0;
  std::uint64_t first_call = 0, end_call = 0;
  std::uint64_t first_segment = 0, end_segment = 0;
  std::uint64_t calls() const { return end_call - first_call; }
};

/// The rows of processes `first` to `first + count`.
std::vector<ProcessRows> rows_of(const trace::Reader& reader, std::int32_t first, std::int32_t count);

/// Consecutive calls of one process that share a signature table.
struct Window {
  std::uint64_t first = 0;  // index of the first call within the process
  std::vector<std::uint16_t> signature;
  std::vector<std::int64_t> computation, duration;
  std::size_t size() const { return signature.size(); }
};

/// Reads one process front to back. The window belongs to the caller, so that many streams can share one.
class CallStream {
 public:
  CallStream(const trace::Reader& reader, const ProcessRows& rows) : reader_(&reader), rows_(rows) {}

  std::int32_t process() const { return rows_.process; }
  bool at_end() const { return row_ == rows_.calls(); }
  /// Index of the next call.
  std::uint64_t position() const { return row_; }
  /// Goes on at call `index`, which must not lie before the position.
  void skip_to(std::uint64_t index);
  /// Reads the next calls into `window`, at most `limit`; false at the end.
  bool read(Window& window, std::size_t limit);
  /// Of the window that was read last.
  const trace::SignatureTable& table() const { return table_; }
  /// True if the last read() went on in another segment: the signature numbers mean something else now.
  bool table_changed() const { return table_changed_; }

 private:
  void enter_segment();
  [[noreturn]] void corrupt(const char* problem) const;

  const trace::Reader* reader_;
  ProcessRows rows_;
  std::uint64_t row_ = 0;      // next call, from the start of the process
  std::uint64_t segment_ = 0;  // segments entered so far
  std::uint64_t segment_end_ = 0;
  bool table_changed_ = false;
  trace::Segment current_;
  trace::SignatureTable table_;
};

}  // namespace simreplay::simtrace
