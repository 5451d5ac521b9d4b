#pragma once
// Writes the spool of one process. Never throws and never ends the program: what fails is said once on
// stderr, and recording stops.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/recorder/spool_format.hpp"

namespace simreplay::recorder {

/// CLOCK_MONOTONIC in ns.
std::int64_t now();

/// One line on stderr.
void warn(const char* format, ...) __attribute__((format(printf, 1, 2)));

class SpoolWriter {
 public:
  constexpr SpoolWriter() = default;
  ~SpoolWriter() { close(); }
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  /// Makes the file with an empty header; false if that failed.
  bool create(const char* path);
  void close();
  bool is_open() const { return header_ != nullptr; }
  spool::Header& header() { return *header_; }

  /// Room for a record of `bytes`; nullptr if output has failed. The record counts once it is published.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > spool::window_bytes - used_) [[unlikely]]
      return make_room(bytes);
    return window_ + used_;
  }
  void publish(std::size_t bytes) {
    if (large_ != nullptr) [[unlikely]]
      return put_out_large(bytes);
    used_ += bytes;
    header_->end.store(window_start_ + used_, std::memory_order_release);
  }

  /// Bytes of the window in use, and back to them: takes back what was published since.
  std::size_t position() const { return used_; }
  void rewind(std::size_t position) {
    used_ = position;
    header_->end.store(window_start_ + used_, std::memory_order_release);
  }

 private:
  std::byte* make_room(std::size_t bytes);
  bool has_file();
  bool put_out_window();
  void put_out_large(std::size_t bytes);
  bool write_at(std::uint64_t position, const std::byte* data, std::size_t bytes);
  void stop(const char* what, int error);
  void give_up();

  int file_ = -1;
  std::uint64_t inode_ = 0;
  spool::Header* header_ = nullptr;
  std::byte* window_ = nullptr;
  std::size_t used_ = spool::window_bytes;  // full: a writer without a file has no room
  std::uint64_t window_start_ = 0;
  std::uint64_t limit_ = UINT64_MAX;  // SIMCAPTURE_LIMIT: bytes that may be put out
  std::byte* large_ = nullptr;        // a record that is larger than the window
};

}  // namespace simreplay::recorder
