#include "capture/simcapture/mpi_kind.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "capture/simcapture/shell.hpp"
#include "common/error.hpp"

namespace simreplay::simcapture {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string_view>;

struct Traits {
  std::string_view name;
  Texts launcher_says;
  Texts libraries;  // beginnings of the names of those that its programs load
};

/// The first that fits counts: programs of Open MPI 1.10 load a libmpi.so.12 as well.
const std::array<Traits, 2> kinds = {{
    {"openmpi", {"Open MPI", "OpenRTE"}, {"libopen-pal.so", "libmpi.so.40", "libmpi.so.20"}},
    {"mpich",
     {"HYDRA", "MPICH", "Intel(R) MPI", "mvapich"},
     {"libmpich.so", "libmpi.so.12", "libmpi_cray", "libmpi_gnu", "libmpi_intel"}},
}};

MpiKind first_kind(auto fits) {
  const auto found = std::ranges::find_if(kinds, fits);
  return found == kinds.end() ? MpiKind() : MpiKind(found->name);
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "re"), pclose);
  std::string text;
  std::array<char, 256> line{};
  while (pipe && std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr)
    text += line.data();
  return text;
}

/// The file that a shell would run; empty if there is none.
std::string executable(const std::string& word) {
  if (word.empty() || word.front() == '-') return "";
  const auto runs = [](const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return runs(word) ? word : "";
  const char* folders = std::getenv("PATH");
  std::istringstream path(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (std::string file = fmt::format("{}/{}", folder, word); runs(file)) return file;
  return "";
}

bool is_elf(const std::string& path) {
  std::array<char, 4> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "\177ELF";
}

/// Names of the libraries that a program loads, as `ldd` lists them.
std::vector<std::string> libraries_of(const std::string& program) {
  std::istringstream lines(output_of("ldd " + quoted(program)));
  std::vector<std::string> names;
  for (std::string line, name; std::getline(lines, line);)
    if (std::istringstream(line) >> name) names.push_back(fs::path(name).filename().string());
  return names;
}

MpiKind kind_of(const std::vector<std::string>& libraries) {
  return first_kind([&](const Traits& kind) {
    return std::ranges::any_of(libraries, [&](const std::string& library) {
      return std::ranges::any_of(kind.libraries,
                                 [&](auto beginning) { return library.starts_with(beginning); });
    });
  });
}

}  // namespace

bool is_mpi_kind(const std::string& name) {
  return std::ranges::find(kinds, name, &Traits::name) != kinds.end();
}

MpiKind kind_of_launcher(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  const Texts launchers = {"mpirun", "mpiexec", "orterun", "prterun"};
  if (std::ranges::none_of(launchers, [&](auto launcher) { return name.starts_with(launcher); })) return "";
  const std::string version = output_of(quoted(program) + " --version");
  return first_kind([&](const Traits& kind) {
    return std::ranges::any_of(kind.launcher_says,
                               [&](auto text) { return version.find(text) != std::string::npos; });
  });
}

MpiKind kind_of_program(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    const std::string program = executable(word);
    if (program.empty() || !is_elf(program)) continue;
    if (MpiKind kind = kind_of(libraries_of(program)); !kind.empty()) return kind;
  }
  return "";
}

std::string find_recorder(const MpiKind& kind) {
  if (const char* named = std::getenv("SIMCAPTURE_LIBRARY"); named != nullptr && *named != '\0') {
    if (!fs::exists(named))
      throw Error(
          {.file = named, .problem = "does not exist", .remedy = "it is named by SIMCAPTURE_LIBRARY"});
    return fs::absolute(named).string();
  }
  const bool is_ours = kind.empty() || kind == SIMCAPTURE_MPI_KIND;
  const std::string name = is_ours ? "libsimcapture.so" : fmt::format("libsimcapture-{}.so", kind);
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path library = bin / SIMCAPTURE_LIBRARY_FROM_BIN / name, in_build_tree = bin / "../lib" / name;
  for (const fs::path& path : {library, in_build_tree})
    if (fs::exists(path)) return fs::canonical(path).string();
  throw Error(
      {.file = library.lexically_normal().string(),
       .problem = is_ours ? "does not exist" : fmt::format("does not exist; it records programs of {}", kind),
       .remedy = is_ours ? "SIMCAPTURE_LIBRARY may name the recorder"
                         : "build simreplay with -DSIMREPLAY_SECOND_MPI_COMPILER=/path/to/its/mpicc"});
}

}  // namespace simreplay::simcapture
