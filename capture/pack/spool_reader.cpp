#include "capture/pack/spool_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.hpp"
#include "common/mpi_ops.hpp"

namespace simreplay::pack {
namespace {

using spool::Record;

// Beyond these, numbers are damage.
constexpr std::int64_t latest_ns = std::int64_t{1} << 60;
constexpr std::int32_t most_processes = 1 << 24;

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (descriptor_ < 0)
      throw Error({.file = path, .problem = std::string("cannot be opened: ") + std::strerror(errno)});
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  std::size_t size() const {
    struct stat s {};
    return fstat(descriptor_, &s) == 0 ? static_cast<std::size_t>(s.st_size) : 0;
  }

 private:
  int descriptor_;
};

bool is_plausible(const Record& record, std::size_t words_left) {
  const bool known = record.kind < static_cast<std::uint16_t>(Op::count) ||
                     record.kind == spool::communicator_kind || record.kind == spool::own_time_kind ||
                     record.kind == spool::thread_kind || record.kind == spool::skipped_kind ||
                     record.kind == spool::metric_kind;
  return known && record.items <= words_left && record.enter >= 0 && record.leave >= record.enter &&
         record.leave <= latest_ns;
}

template <std::size_t N>
bool ends(const char (&text)[N]) {
  return std::memchr(text, 0, N) != nullptr;
}

bool is_sound(const spool::Header& h) {
  return h.rank >= 0 && h.rank < h.size && h.size <= most_processes && h.loaded_ns >= 0 &&
         h.loaded_ns <= latest_ns && h.clock <= spool::process_clock && h.exited_ns >= 0 &&
         h.exited_ns <= latest_ns && ends(h.run) && ends(h.world) && ends(h.host) && ends(h.mpi_library);
}

}  // namespace

SpoolReader::SpoolReader(std::string path) : path_(std::move(path)) {
  const File file(path_);
  bytes_ = file.size();
  if (bytes_ < spool::data_offset)
    throw Error({.file = path_, .expected = "a spool", .found = std::to_string(bytes_) + " bytes"});
  void* map = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (map == MAP_FAILED)
    throw Error({.file = path_, .problem = std::string("cannot be mapped: ") + std::strerror(errno)});
  map_ = map;
  const spool::Header& h = header();
  std::string problem;
  if (std::memcmp(h.magic, spool::magic, sizeof h.magic) != 0)
    problem = "is no spool";
  else if (h.version != spool::format_version)
    problem = "is a spool of version " + std::to_string(h.version) + ", written by another simcapture";
  else if (!is_sound(h))
    problem = "has a damaged header";
  if (problem.empty()) return;
  munmap(map_, bytes_);
  throw Error({.file = path_, .problem = problem});
}

SpoolReader::~SpoolReader() {
  if (map_ != nullptr) munmap(map_, bytes_);
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept
    : path_(std::move(other.path_)), map_(std::exchange(other.map_, nullptr)), bytes_(other.bytes_) {}

bool SpoolReader::each(const Visitor& visit) {
  const std::uint64_t window_start = header().window_start.load(), end = header().end.load();
  const std::span<std::byte> file(static_cast<std::byte*>(map_), bytes_);
  const std::span<std::byte> put_out = file.subspan(spool::data_offset);
  if (window_start > put_out.size()) {  // the file was cut, and what the window holds would follow a gap
    each_in(put_out, visit);
    return false;
  }
  if (!each_in(put_out.first(window_start), visit)) return false;
  if (window_start >= end) return true;
  const std::uint64_t in_window = std::min(end - window_start, spool::window_bytes);
  return each_in(file.subspan(spool::header_bytes, in_window), visit) &&
         end - window_start <= spool::window_bytes;
}

bool SpoolReader::each_in(std::span<std::byte> data, const Visitor& visit) const {
  while (data.size() >= sizeof(Record)) {
    auto& record = *reinterpret_cast<Record*>(data.data());
    const std::size_t words_left = (data.size() - sizeof(Record)) / sizeof(std::int64_t);
    if (!is_plausible(record, words_left)) return false;
    auto* items = reinterpret_cast<std::int64_t*>(data.data() + sizeof(Record));
    visit(record, {items, record.items});
    data = data.subspan(sizeof(Record) + record.items * sizeof(std::int64_t));
  }
  return data.empty();
}

}  // namespace simreplay::pack
