#include "capture/simtrace/call_stream.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace simreplay::simtrace {

std::vector<ProcessRows> rows_of(const trace::Reader& reader, std::int32_t first, std::int32_t count) {
  const std::vector<std::uint64_t> calls = reader.first_calls(first, count);
  const std::vector<std::uint64_t> segments = reader.first_segments(first, count);
  std::vector<ProcessRows> rows(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < rows.size(); i++)
    rows[i] = {first + static_cast<std::int32_t>(i), calls[i], calls[i + 1], segments[i], segments[i + 1]};
  return rows;
}

bool CallStream::read(Window& window, std::size_t limit) {
  table_changed_ = false;
  if (at_end()) return false;
  if (row_ == segment_end_) enter_segment();
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(limit, segment_end_ - row_));
  window.first = row_;
  window.signature.resize(n);
  window.computation.resize(n);
  window.duration.resize(n);
  const std::uint64_t first = rows_.first_call + row_;
  reader_->calls(current_, first, window.signature, window.computation);
  reader_->durations(first, window.duration);
  row_ += n;
  return true;
}

void CallStream::skip_to(std::uint64_t index) {
  while (row_ < index && !at_end()) {
    if (row_ == segment_end_) enter_segment();
    row_ = std::min(index, segment_end_);
  }
}

void CallStream::enter_segment() {
  if (rows_.first_segment + segment_ >= rows_.end_segment) corrupt("has more calls than its segments hold");
  current_ = reader_->segment(rows_.first_segment + segment_);
  segment_++;
  if (current_.process != rows_.process || current_.first_call != rows_.first_call + row_ ||
      current_.calls == 0 || current_.calls > rows_.calls() - row_)
    corrupt("has segments that do not follow each other");
  segment_end_ = row_ + current_.calls;
  table_ = reader_->table(current_);
  table_changed_ = true;
}

void CallStream::corrupt(const char* problem) const {
  throw Error({.file = reader_->path(),
               .process = rows_.process,
               .problem = problem,
               .remedy = "the file is damaged or was made by another program"});
}

}  // namespace simreplay::simtrace
