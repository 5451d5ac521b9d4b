#pragma once
// The few HDF5 calls the trace store needs, each checked: a failure becomes one Error that names the
// file, the object and the innermost reason HDF5 gives. Nothing outside common/trace includes this.

#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/handles.hpp"

namespace simreplay::hdf5 {

struct IdTraits {
  using Handle = hid_t;
  static constexpr hid_t null() { return -1; }
  static void free(hid_t id) { H5Idec_ref(id); }  // closes any kind of object
};
using Id = UniqueHandle<IdTraits>;

template <class T>
hid_t native_type();
template <>
inline hid_t native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}
template <>
inline hid_t native_type<std::uint16_t>() {
  return H5T_NATIVE_UINT16;
}
template <>
inline hid_t native_type<std::uint32_t>() {
  return H5T_NATIVE_UINT32;
}
template <>
inline hid_t native_type<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}
template <>
inline hid_t native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
inline hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}

struct DescriptorTraits {
  using Handle = int;
  static constexpr int null() { return -1; }
  static void free(int descriptor) { close(descriptor); }
};
using Descriptor = UniqueHandle<DescriptorTraits>;

/// Rows that lie in the file as they do in memory, one after the other. HDF5 takes some 10 us for each read,
/// the operating system a tenth.
struct PlainRows {
  int descriptor = -1;
  std::uint64_t offset = 0;
  explicit operator bool() const { return descriptor >= 0; }
};

/// A file in memory.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(int descriptor);
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  const std::byte* data() const { return data_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// How the rows of a dataset lie in the file.
struct Layout {
  enum class Kind { fixed, growing } kind = Kind::fixed;
  std::uint64_t rows = 0;  // fixed: contiguous, this long; growing: chunked, shuffled and deflated
};

class File {
 public:
  /// Opens for reading, without locks (parallel file systems often refuse them).
  static File open(const std::string& path);
  /// Creates or truncates; with a communicator all its ranks write one file through MPI-IO.
  static File create(const std::string& path, std::optional<MPI_Comm> comm);

  const std::string& path() const { return path_; }
  bool has(const std::string& name) const;
  void create_group(const std::string& name);
  Id create_dataset(const std::string& name, hid_t type, const Layout& layout);
  Id open_dataset(const std::string& name) const;
  /// Where a dataset lies, if it does so plainly. Valid as long as the file is open.
  PlainRows find_plain(hid_t dataset, hid_t type) const;
  /// The file in memory, as far as its pages are asked for; null where the file system is a network's, on
  /// which that is slow. Valid as long as the file is open, and not cut.
  const std::byte* map() const;
  void flush();

  void write_attribute(const std::string& name, const std::string& value);
  void write_attribute(const std::string& name, std::int64_t value);
  std::string read_string(const std::string& name) const;
  std::int64_t read_integer(const std::string& name) const;

 private:
  Id id_;
  Descriptor descriptor_;  // of a file that is read
  mutable Mapping mapping_;
  std::string path_;
};

/// One dataset of a fixed row type. One that is read must not outlive its file.
template <class T>
class Column {
 public:
  Column() = default;
  Column(File& file, const std::string& name, const Layout& layout)
      : growing_(layout.kind == Layout::Kind::growing),
        rows_(growing_ ? 0 : layout.rows),
        name_(file.path() + ": " + name),
        id_(file.create_dataset(name, native_type<T>(), layout)) {}
  Column(const File& file, const std::string& name);

  std::uint64_t rows() const { return rows_; }
  void read(std::uint64_t first, std::span<T> values) const;
  std::vector<T> read(std::uint64_t first, std::uint64_t count) const {
    std::vector<T> values(count);
    read(first, std::span<T>(values));
    return values;
  }
  void write(std::uint64_t first, std::span<const T> values);
  /// All rows in memory, or null where they do not lie plainly in a file that can be mapped.
  const T* map(const File& file) const {
    const std::byte* const from = plain_ ? file.map() : nullptr;
    return from && plain_.offset % alignof(T) == 0 ? reinterpret_cast<const T*>(from + plain_.offset)
                                                   : nullptr;
  }

 private:
  void read_now(std::uint64_t first, std::span<T> values) const;
  const T* find_in_block(std::uint64_t first, std::size_t rows) const;

  bool growing_ = false;
  std::uint64_t rows_ = 0;
  std::string name_;
  Id id_;
  PlainRows plain_;
  // Small reads near each other are served from blocks of rows that are kept: processes with few calls are
  // read a few rows at a time, and a read costs far more than a copy. A block is read when it is asked for
  // twice in a row.
  struct Block {
    std::uint64_t number = ~std::uint64_t{0};
    std::vector<T> rows;
  };
  static constexpr std::size_t blocks = 4;
  std::uint64_t block_rows() const { return plain_ ? 2048 : 8192; }
  mutable std::array<Block, blocks> blocks_;
  mutable std::uint64_t last_block_ = ~std::uint64_t{0};
};

// The untyped work behind Column.
std::uint64_t dataset_rows(hid_t dataset, const std::string& name);
void read_rows(hid_t dataset, hid_t type, std::uint64_t first, std::uint64_t count, void* to,
               const std::string& name);
void read_plain(const PlainRows& rows, std::uint64_t first_byte, std::uint64_t bytes, void* to,
                const std::string& name);
void write_rows(hid_t dataset, hid_t type, std::uint64_t first, std::uint64_t count, const void* from,
                const std::string& name);
void grow(hid_t dataset, std::uint64_t rows, const std::string& name);

template <class T>
Column<T>::Column(const File& file, const std::string& name)
    : name_(file.path() + ": " + name), id_(file.open_dataset(name)) {
  rows_ = dataset_rows(id_.get(), name_);
  plain_ = file.find_plain(id_.get(), native_type<T>());
}

template <class T>
void Column<T>::read(std::uint64_t first, std::span<T> values) const {
  if (values.empty()) return;
  if (const T* rows = find_in_block(first, values.size()))
    std::copy_n(rows, values.size(), values.begin());
  else
    read_now(first, values);
}

/// These rows in memory, or null where they are better read by themselves.
template <class T>
const T* Column<T>::find_in_block(std::uint64_t first, std::size_t rows) const {
  const std::uint64_t size = block_rows(), number = first / size, offset = first % size;
  if (rows > size / 2 || offset + rows > size || first > rows_ || rows > rows_ - first) return nullptr;
  Block& block = blocks_[number % blocks];
  if (block.number != number) {
    if (std::exchange(last_block_, number) != number) return nullptr;
    block.number = ~std::uint64_t{0};
    block.rows.resize(std::min(size, rows_ - number * size));
    read_now(number * size, block.rows);
    block.number = number;
  }
  return block.rows.data() + offset;
}

template <class T>
void Column<T>::read_now(std::uint64_t first, std::span<T> values) const {
  if (plain_ && first <= rows_ && values.size() <= rows_ - first)
    read_plain(plain_, first * sizeof(T), values.size_bytes(), values.data(), name_);
  else
    read_rows(id_.get(), native_type<T>(), first, values.size(), values.data(), name_);
}

template <class T>
void Column<T>::write(std::uint64_t first, std::span<const T> values) {
  if (values.empty()) return;
  if (growing_ && first + values.size() > rows_) {
    rows_ = first + values.size();
    grow(id_.get(), rows_, name_);
  }
  write_rows(id_.get(), native_type<T>(), first, values.size(), values.data(), name_);
}

}  // namespace simreplay::hdf5
