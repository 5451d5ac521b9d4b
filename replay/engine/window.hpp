#pragma once
// The calls read ahead, for all virtual processors of a rank in one piece of memory.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "common/huge_pages.hpp"

namespace simreplay::engine {

/// The calls at hand of one virtual processor: in the file, or in a WindowPool.
struct Window {
  const std::uint16_t* signature = nullptr;
  const std::int64_t* computation = nullptr;
  const std::int64_t* duration = nullptr;
  std::uint32_t rows = 0;
  bool has_durations = false;   // that are checked
  std::uint64_t first_row = 0;  // in /calls

  std::span<const std::uint16_t> signatures() const { return {signature, rows}; }
  std::span<const std::int64_t> computations() const { return {computation, rows}; }
  std::span<const std::int64_t> durations() const { return {duration, rows}; }
};

/// Room for `rows` calls for each of `windows`. One block on huge pages where the system has them: touching
/// new 4 KiB pages costs more than reading the trace. Column by column, so that durations take no memory
/// until they are read.
class WindowPool {
 public:
  WindowPool() = default;
  WindowPool(std::size_t windows, std::size_t rows) : rows_(rows), all_rows_(windows * rows) {
    const std::size_t bytes = (all_rows_ * row_bytes(true) + huge_page) / huge_page * huge_page;
    block_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, bytes)));
    if (!block_) throw std::bad_alloc();
    madvise(block_.get(), bytes, MADV_HUGEPAGE);
  }

  std::size_t rows() const { return rows_; }
  /// Of one virtual processor.
  struct Room {
    std::uint16_t* signature;
    std::int64_t* computation;
    std::int64_t* duration;
  };
  Room room(std::size_t i) const {
    const auto column = [this](std::size_t bytes_before) { return block_.get() + all_rows_ * bytes_before; };
    Room r{};
    r.computation = reinterpret_cast<std::int64_t*>(column(0)) + i * rows_;
    r.signature = reinterpret_cast<std::uint16_t*>(column(sizeof(std::int64_t))) + i * rows_;
    r.duration = reinterpret_cast<std::int64_t*>(column(row_bytes(false))) + i * rows_;
    return r;
  }
  static constexpr std::size_t row_bytes(bool with_durations) {
    return sizeof(std::uint16_t) + (with_durations ? 2 : 1) * sizeof(std::int64_t);
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t rows_ = 0, all_rows_ = 0;  // multiples of 4, so that every column stays aligned
  std::unique_ptr<std::byte, Free> block_;
};

}  // namespace simreplay::engine
