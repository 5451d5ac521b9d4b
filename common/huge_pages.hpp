#pragma once
// Memory on huge pages, where the system has them: thousands of virtual processors are met one after the
// other, and finding a page costs more than reading a line of it.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace simreplay {

constexpr std::size_t huge_page = std::size_t{1} << 21;

/// For vectors. What is smaller than a page comes from the heap.
template <class T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U>
  explicit HugePages(const HugePages<U>&) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T), alignment = bytes < huge_page ? 64 : huge_page;
    static_assert(alignof(T) <= 64);
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* const p = std::aligned_alloc(alignment, whole);
    if (!p) throw std::bad_alloc();
    if (alignment == huge_page) madvise(p, whole, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

template <class T>
using HugeVector = std::vector<T, HugePages<T>>;

/// Arrays that stay until the end, side by side.
class Arena {
 public:
  template <class T>
  std::span<T> take(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);
    constexpr std::size_t alignment = alignof(T) > 8 ? alignof(T) : 8;
    used_ = (used_ + alignment - 1) / alignment * alignment;
    const std::size_t bytes = n * sizeof(T);
    if (blocks_.empty() || used_ + bytes > blocks_.back().size()) {
      blocks_.emplace_back(std::max(bytes, huge_page));
      used_ = 0;
    }
    T* const at = reinterpret_cast<T*>(blocks_.back().data() + used_);
    used_ += bytes;
    std::uninitialized_value_construct_n(at, n);
    return {at, n};
  }

 private:
  class Block {
   public:
    explicit Block(std::size_t size) : size_(size), data_(HugePages<std::byte>().allocate(size)) {}
    std::byte* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

   private:
    struct Free {
      void operator()(std::byte* p) const { std::free(p); }
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Free> data_;
  };
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the last
};

/// An array in an arena that can be made longer. What it gives up then is lost: it grows by at least half.
template <class T>
class Growing {
 public:
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  /// Keeps what is there; the rest is T{}.
  void grow(Arena& arena, std::size_t size) {
    if (size <= size_) return;
    const std::span<T> larger =
        arena.take<T>(size_ == 0 ? size : std::max<std::size_t>(size, size_ + size_ / 2));
    std::copy_n(data_, size_, larger.data());
    data_ = larger.data();
    size_ = static_cast<std::uint32_t>(larger.size());
  }
  void assign(Arena& arena, std::span<const T> values) {
    grow(arena, values.size());
    std::copy_n(values.data(), values.size(), data_);
  }

 private:
  T* data_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace simreplay
