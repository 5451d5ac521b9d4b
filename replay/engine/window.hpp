#pragma once
// The calls read ahead, for all virtual processors of a rank in one piece of memory.

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace simreplay::engine {

/// The calls at hand of one virtual processor. Times are replaced by the predicted ones as calls finish.
struct Window {
  std::uint16_t* signature = nullptr;
  std::int64_t* computation = nullptr;
  std::int64_t* duration = nullptr;
  std::uint32_t rows = 0;
  std::uint64_t first_row = 0;  // in /calls

  std::span<std::uint16_t> signatures() const { return {signature, rows}; }
  std::span<std::int64_t> computations() const { return {computation, rows}; }
  std::span<std::int64_t> durations() const { return {duration, rows}; }
};

/// Room for `rows` calls for each of `windows`. One block on huge pages where the system has them: touching
/// new 4 KiB pages costs more than reading the trace.
class WindowPool {
 public:
  WindowPool() = default;
  WindowPool(std::size_t windows, std::size_t rows) : rows_(rows) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const std::size_t bytes = (windows * rows * row_bytes + huge_page) / huge_page * huge_page;
    block_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, bytes)));
    if (!block_) throw std::bad_alloc();
    madvise(block_.get(), bytes, MADV_HUGEPAGE);
  }

  std::size_t rows() const { return rows_; }
  Window window(std::size_t i) const {
    std::byte* const at = block_.get() + i * rows_ * row_bytes;
    return {reinterpret_cast<std::uint16_t*>(at + 16 * rows_), reinterpret_cast<std::int64_t*>(at),
            reinterpret_cast<std::int64_t*>(at + 8 * rows_), 0, 0};
  }
  static constexpr std::size_t row_bytes = sizeof(std::uint16_t) + 2 * sizeof(std::int64_t);

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t rows_ = 0;  // a multiple of 4, so that every column stays aligned
  std::unique_ptr<std::byte, Free> block_;
};

}  // namespace simreplay::engine
