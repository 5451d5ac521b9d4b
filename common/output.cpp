#include "common/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/error.hpp"

namespace simreplay {
namespace fs = std::filesystem;

void check_output(const std::string& path, bool force) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw Error({.file = path, .expected = "a file name", .found = "a directory"});
  if (!force && fs::exists(path, ignored))
    throw Error({.file = path, .problem = "exists already", .remedy = "--force overwrites it"});
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    throw Error({.file = path, .problem = "cannot be written: there is no folder " + folder.string()});
  if (access(folder.c_str(), W_OK) != 0)
    throw Error({.file = path, .problem = "cannot be written: no permission in folder " + folder.string()});
}

void check_space(const std::string& path, std::uint64_t bytes) {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  if (unknown || space.available >= bytes) return;
  throw Error({.file = path,
               .expected = fmt::format("room for {} bytes", bytes),
               .found = fmt::format("{} bytes free", space.available)});
}

void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".part";
  std::ofstream out(temporary, std::ios::binary);
  out << content;
  out.close();
  std::error_code failure;
  if (out) fs::rename(temporary, path, failure);
  if (!out || failure) {
    std::remove(temporary.c_str());
    throw Error({.file = path,
                 .problem = "cannot be written" + (failure ? ": " + failure.message() : std::string())});
  }
}

bool stderr_is_watched() {
  if (isatty(STDERR_FILENO)) return true;
  if (!std::getenv("OMPI_COMM_WORLD_RANK") && !std::getenv("PMI_RANK")) return false;
  std::error_code failure;
  const fs::path target = fs::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), failure);
  return !failure && (target.string().starts_with("/dev/pts/") || target.string().starts_with("/dev/tty"));
}

}  // namespace simreplay
