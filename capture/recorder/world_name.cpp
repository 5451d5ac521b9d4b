#include "capture/recorder/world_name.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace simreplay::recorder {
namespace {

/// A file of /proc as one text, which zeros may divide.
class ProcFile {
 public:
  ProcFile(int process, const char* file) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/%s", process, file);
    std::FILE* stream = std::fopen(path, "re");
    if (stream == nullptr) return;
    length_ = std::fread(text_, 1, sizeof text_ - 1, stream);
    std::fclose(stream);
  }

  const char* text() const { return text_; }

  /// The word after this one, or nullptr.
  const char* after(const char* word) const {
    for (std::size_t at = 0; at < length_; at += std::strlen(text_ + at) + 1) {
      const std::size_t next = at + std::strlen(text_ + at) + 1;
      if (std::strcmp(text_ + at, word) == 0 && next < length_) return text_ + next;
    }
    return nullptr;
  }

 private:
  char text_[4096] = {};
  std::size_t length_ = 0;
};

int parent_of(int process) {
  const ProcFile stat(process, "stat");
  const char* name_end = std::strrchr(stat.text(), ')');  // the name may hold anything
  int parent = 0;
  return name_end != nullptr && std::sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

bool name_by_variables(char (&name)[128]) {
  for (const char* variable : {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_KVSNAME", "SLURM_STEP_ID"})
    if (const char* value = std::getenv(variable)) {
      std::snprintf(name, sizeof name, "%s=%s", variable, value);
      return true;
    }
  return false;
}

/// Hydra, the launcher of MPICH, names programs on their PMI connection only. But its proxy on each host, an
/// ancestor of ours, was told where the launcher listens and which group of processes this is.
bool name_by_hydra(char (&name)[128]) {
  if (std::getenv("PMI_FD") == nullptr && std::getenv("PMI_PORT") == nullptr) return false;
  for (int process = getppid(); process > 1; process = parent_of(process)) {
    const ProcFile command(process, "cmdline");
    const char* launcher = command.after("--control-port");
    const char* group = command.after("--pgid");
    if (launcher == nullptr) continue;
    std::snprintf(name, sizeof name, "hydra=%s,%s", launcher, group != nullptr ? group : "");
    return true;
  }
  return false;
}

}  // namespace

void name_world(char (&name)[128], int size) {
  if (name_by_variables(name) || name_by_hydra(name)) return;
  if (size == 1)
    std::snprintf(name, sizeof name, "pid=%d", static_cast<int>(getpid()));
  else
    std::snprintf(name, sizeof name, "size=%d", size);
}

}  // namespace simreplay::recorder
