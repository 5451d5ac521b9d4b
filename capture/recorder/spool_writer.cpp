#include "capture/recorder/spool_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace simreplay::recorder {

using namespace spool;

std::int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void warn(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  dprintf(STDERR_FILENO, "simcapture: %s\n", text);
}

namespace {

/// Not as one of the standard streams, where the program may have closed them.
int create_file(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int other = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return other;
}

std::uint64_t inode_of(int file) {
  struct stat s {};
  return fstat(file, &s) == 0 ? s.st_ino : 0;
}

}  // namespace

bool SpoolWriter::create(const char* path) {
  file_ = create_file(path);
  if (file_ < 0) {
    warn("cannot make %s: %s; nothing is recorded here", path, std::strerror(errno));
    return false;
  }
  // The disk space behind the mapping must exist: touching a hole on a full disk is SIGBUS.
  const int full = posix_fallocate(file_, 0, data_offset);
  void* map =
      full != 0 ? MAP_FAILED : mmap(nullptr, data_offset, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (map == MAP_FAILED) {
    warn("cannot use %s: %s; nothing is recorded here", path, std::strerror(full != 0 ? full : errno));
    ::close(file_);
    unlink(path);
    file_ = -1;
    return false;
  }
  inode_ = inode_of(file_);
  header_ = new (map) Header{};
  window_ = static_cast<std::byte*>(map) + header_bytes;
  std::memset(window_, 0, window_bytes);  // page faults now, not between calls
  used_ = 0;
  std::memcpy(header_->magic, magic, sizeof magic);
  header_->version = format_version;
  if (const char* limit = std::getenv("SIMCAPTURE_LIMIT")) limit_ = std::strtoull(limit, nullptr, 10);
  return true;
}

void SpoolWriter::close() {
  if (header_ != nullptr) munmap(header_, data_offset);
  if (file_ >= 0) ::close(file_);
  std::free(large_);
  header_ = nullptr;
  large_ = nullptr;
  file_ = -1;
  used_ = window_bytes;
}

/// The slow path. The time it takes is recorded as our own, so that it does not count as computation.
std::byte* SpoolWriter::make_room(std::size_t bytes) {
  if (file_ < 0) return nullptr;
  Record own_time;
  own_time.kind = own_time_kind;
  own_time.enter = now();
  if (!put_out_window()) return nullptr;
  own_time.leave = now();
  std::memcpy(window_, &own_time, sizeof own_time);
  publish(sizeof own_time);
  if (bytes <= window_bytes - used_) return window_ + used_;

  if (!put_out_window()) return nullptr;
  large_ = static_cast<std::byte*>(std::malloc(bytes));
  if (large_ == nullptr) stop("no memory for a record", ENOMEM);
  return large_;
}

/// Programs that close all files close ours, and its number may now be that of a file of theirs.
bool SpoolWriter::has_file() {
  if (inode_of(file_) == inode_) return true;
  file_ = -1;
  stop("the program closed the spool", EBADF);
  return false;
}

bool SpoolWriter::put_out_window() {
  if (window_start_ + used_ > limit_) {
    warn("process %d: the spool has reached the size that was allowed; recording stops here", header_->rank);
    header_->stopped = size_reached;
    give_up();
    return false;
  }
  if (!write_at(window_start_, window_, used_)) return false;
  window_start_ += used_;
  used_ = 0;
  header_->window_start.store(window_start_, std::memory_order_release);
  return true;
}

/// Past the empty window. Readers take a `window_start` beyond `end` as an empty window, so a process that
/// dies between the two stores leaves a valid spool.
void SpoolWriter::put_out_large(std::size_t bytes) {
  const bool written = write_at(window_start_, large_, bytes);
  std::free(large_);
  large_ = nullptr;
  if (!written) return;
  window_start_ += bytes;
  header_->window_start.store(window_start_, std::memory_order_release);
  header_->end.store(window_start_, std::memory_order_release);
}

bool SpoolWriter::write_at(std::uint64_t position, const std::byte* data, std::size_t bytes) {
  if (!has_file()) return false;
  while (bytes > 0) {
    const ssize_t n = pwrite(file_, data, bytes, static_cast<off_t>(data_offset + position));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      stop("cannot write the spool", n < 0 ? errno : ENOSPC);
      return false;
    }
    data += n;
    position += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// What is in the window stays readable; no more is added.
void SpoolWriter::stop(const char* what, int error) {
  warn("process %d: %s: %s; recording stops here", header_->rank, what, std::strerror(error));
  header_->stopped = output_failed;
  give_up();
}

void SpoolWriter::give_up() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  used_ = window_bytes;
}

}  // namespace simreplay::recorder
