#include "common/trace/hdf5.hpp"

#include <H5FDmpio.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/error.hpp"

namespace simreplay::hdf5 {
namespace {

constexpr hsize_t chunk_rows = 4096;
constexpr unsigned deflate_level = 1;

/// HDF5 prints its error stack by default; we fold it into our own messages instead.
void be_silent() { [[maybe_unused]] static const herr_t once = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// For each chunk, deflating takes 300 KB and frees them; the C library would give them back to the system
/// and get them anew, which takes longer than all the rest of writing.
void keep_freed_memory() {
#ifdef __GLIBC__
  [[maybe_unused]] static const int once = mallopt(M_TRIM_THRESHOLD, 1 << 24);
#endif
}

std::string innermost_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
        if (e->desc && *e->desc) *static_cast<std::string*>(out) = e->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason;
}

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  const std::string reason = innermost_reason();
  throw Error({.file = where, .problem = reason.empty() ? what : fmt::format("{} ({})", what, reason)});
}

template <class Result>
Result check(Result result, const std::string& where, const std::string& what) {
  if (result < 0) fail(where, what);
  return result;
}

Id property_list(hid_t kind) { return Id(H5Pcreate(kind)); }

Id string_type(std::size_t length) {
  Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), length);
  return type;
}

Id file_space_of(hid_t dataset, std::uint64_t first, std::uint64_t count, const std::string& name) {
  Id space(check(H5Dget_space(dataset), name, "cannot read its size"));
  const hsize_t start = first, rows = count;
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &rows, nullptr), name,
        fmt::format("cannot select rows {} to {}", first, first + count));
  return space;
}

Id memory_space_of(std::uint64_t count) {
  const hsize_t rows = count;
  return Id(H5Screate_simple(1, &rows, nullptr));
}

}  // namespace

File File::open(const std::string& path) {
  be_silent();
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  File file;
  file.path_ = path;
  file.id_ = Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file.id_) fail(path, "cannot open as an HDF5 file");
  file.descriptor_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file;
}

File File::create(const std::string& path, std::optional<MPI_Comm> comm) {
  be_silent();
  const Id access = property_list(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  if (!comm) keep_freed_memory();
  if (comm) check(H5Pset_fapl_mpio(access.get(), *comm, MPI_INFO_NULL), path, "cannot set up MPI-IO");
  const Id creation = property_list(H5P_FILE_CREATE);
  H5Pset_obj_track_times(creation.get(), false);  // no time of day in the root group: equal runs, equal bits
  File file;
  file.path_ = path;
  file.id_ = Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  if (!file.id_) fail(path, "cannot create");
  return file;
}

bool File::has(const std::string& name) const {
  const bool found = H5Lexists(id_.get(), name.c_str(), H5P_DEFAULT) > 0;
  if (!found) H5Eclear2(H5E_DEFAULT);
  return found;
}

void File::create_group(const std::string& name) {
  const Id properties = property_list(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(properties.get(), false);
  Id(check(H5Gcreate2(id_.get(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), path_,
           "cannot create group " + name));
}

Id File::create_dataset(const std::string& name, hid_t type, const Layout& layout) {
  const Id properties = property_list(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(properties.get(), false);
  hsize_t rows = layout.rows, limit = layout.rows;
  if (layout.kind == Layout::Kind::growing) {
    rows = 0;
    limit = H5S_UNLIMITED;
    H5Pset_chunk(properties.get(), 1, &chunk_rows);
    H5Pset_shuffle(properties.get());
    H5Pset_deflate(properties.get(), deflate_level);
  } else {
    H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // every row is written
  }
  const Id space(H5Screate_simple(1, &rows, &limit));
  return Id(check(
      H5Dcreate2(id_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      path_, "cannot create dataset " + name));
}

Id File::open_dataset(const std::string& name) const {
  return Id(check(H5Dopen2(id_.get(), name.c_str(), H5P_DEFAULT), path_,
                  "expected dataset " + name + ", found none"));
}

PlainRows File::find_plain(hid_t dataset, hid_t type) const {
  const Id properties(H5Dget_create_plist(dataset)), stored(H5Dget_type(dataset));
  const bool is_plain = H5Pget_layout(properties.get()) == H5D_CONTIGUOUS &&
                        H5Pget_external_count(properties.get()) == 0 && H5Tequal(stored.get(), type) > 0;
  const haddr_t offset = is_plain ? H5Dget_offset(dataset) : HADDR_UNDEF;
  return offset == HADDR_UNDEF ? PlainRows{} : PlainRows{descriptor_.get(), offset};
}

const std::byte* File::map() const {
  if (!mapping_.data() && descriptor_.get() >= 0) mapping_ = Mapping(descriptor_.get());
  return mapping_.data();
}

namespace {

/// Magic numbers of file systems that keep pages in this computer's memory (statfs(2)).
bool is_local(int descriptor) {
  struct statfs s {};
  if (fstatfs(descriptor, &s) != 0) return false;
  constexpr unsigned long local[] = {0xef53,       // ext2, 3, 4
                                     0x58465342,   // xfs
                                     0x9123683e,   // btrfs
                                     0x01021994,   // tmpfs
                                     0x2fc12fc1,   // zfs
                                     0x794c7630};  // overlayfs
  return std::ranges::find(local, static_cast<unsigned long>(s.f_type)) != std::end(local);
}

}  // namespace

Mapping::Mapping(int descriptor) {
  struct stat s {};
  if (!is_local(descriptor) || fstat(descriptor, &s) != 0 || s.st_size <= 0) return;
  const auto bytes = static_cast<std::size_t>(s.st_size);
  void* const p = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (p == MAP_FAILED) return;
  data_ = static_cast<const std::byte*>(p);
  bytes_ = bytes;
}

Mapping::~Mapping() {
  if (data_) munmap(const_cast<std::byte*>(data_), bytes_);
}

void File::flush() { check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL), path_, "cannot write"); }

void File::write_attribute(const std::string& name, const std::string& value) {
  const Id type = string_type(value.size() + 1);
  const Id space(H5Screate(H5S_SCALAR));
  const Id attribute(
      check(H5Acreate2(id_.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), path_,
            "cannot create attribute " + name));
  check(H5Awrite(attribute.get(), type.get(), value.c_str()), path_, "cannot write attribute " + name);
}

void File::write_attribute(const std::string& name, std::int64_t value) {
  const Id space(H5Screate(H5S_SCALAR));
  const Id attribute(
      check(H5Acreate2(id_.get(), name.c_str(), H5T_NATIVE_INT64, space.get(), H5P_DEFAULT, H5P_DEFAULT),
            path_, "cannot create attribute " + name));
  check(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value), path_, "cannot write attribute " + name);
}

std::string File::read_string(const std::string& name) const {
  const Id attribute(check(H5Aopen(id_.get(), name.c_str(), H5P_DEFAULT), path_,
                           "expected attribute '" + name + "', found none; is it a simreplay trace?"));
  const Id type(H5Aget_type(attribute.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0)
    fail(path_, "expected a fixed string in attribute " + name);
  std::string value(H5Tget_size(type.get()), '\0');
  check(H5Aread(attribute.get(), type.get(), value.data()), path_, "cannot read attribute " + name);
  value.resize(value.find('\0') == std::string::npos ? value.size() : value.find('\0'));
  return value;
}

std::int64_t File::read_integer(const std::string& name) const {
  const Id attribute(check(H5Aopen(id_.get(), name.c_str(), H5P_DEFAULT), path_,
                           "expected attribute '" + name + "', found none; is it a simreplay trace?"));
  std::int64_t value = 0;
  check(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), path_, "cannot read attribute " + name);
  return value;
}

std::uint64_t dataset_rows(hid_t dataset, const std::string& name) {
  const Id space(check(H5Dget_space(dataset), name, "cannot read its size"));
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1) fail(name, "expected a dataset of one dimension");
  H5Sget_simple_extent_dims(space.get(), &rows, nullptr);
  return rows;
}

void read_rows(hid_t dataset, hid_t type, std::uint64_t first, std::uint64_t count, void* to,
               const std::string& name) {
  const std::uint64_t rows = dataset_rows(dataset, name);
  if (first > rows || count > rows - first)
    throw Error({.file = name,
                 .expected = fmt::format("rows up to {}", first + count),
                 .found = fmt::format("{} rows", rows)});
  const Id file_space = file_space_of(dataset, first, count, name);
  const Id memory_space = memory_space_of(count);
  check(H5Dread(dataset, type, memory_space.get(), file_space.get(), H5P_DEFAULT, to), name, "cannot read");
}

void read_plain(const PlainRows& rows, std::uint64_t first_byte, std::uint64_t bytes, void* to,
                const std::string& name) {
  auto* place = static_cast<std::byte*>(to);
  auto offset = static_cast<off_t>(rows.offset + first_byte);
  while (bytes > 0) {
    const ssize_t n = pread(rows.descriptor, place, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error({.file = name, .problem = n < 0 ? std::strerror(errno) : "the file is cut short"});
    place += n;
    offset += n;
    bytes -= static_cast<std::uint64_t>(n);
  }
}

void write_rows(hid_t dataset, hid_t type, std::uint64_t first, std::uint64_t count, const void* from,
                const std::string& name) {
  const Id file_space = file_space_of(dataset, first, count, name);
  const Id memory_space = memory_space_of(count);
  check(H5Dwrite(dataset, type, memory_space.get(), file_space.get(), H5P_DEFAULT, from), name,
        "cannot write");
}

void grow(hid_t dataset, std::uint64_t rows, const std::string& name) {
  const hsize_t extent = rows;
  check(H5Dset_extent(dataset, &extent), name, "cannot grow");
}

}  // namespace simreplay::hdf5
