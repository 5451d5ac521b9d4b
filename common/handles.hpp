#pragma once
// Ownership of C handles: MPI communicators, HDF5 ids, file descriptors.

#include <utility>

namespace simreplay {

/// Owns one handle. Traits give the handle type, its null value and the function that frees it.
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;

  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, Traits::null())) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Traits::null());
    }
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Traits::null(); }
  void reset() {
    if (handle_ != Traits::null()) Traits::free(std::exchange(handle_, Traits::null()));
  }

 private:
  Handle handle_ = Traits::null();
};

}  // namespace simreplay
