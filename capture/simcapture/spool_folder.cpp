#include "capture/simcapture/spool_folder.hpp"

#include <filesystem>

#include "capture/pack/command_file.hpp"
#include "common/error.hpp"
#include "common/output.hpp"

namespace simreplay::simcapture {

namespace fs = std::filesystem;

SpoolFolder::SpoolFolder(const std::string& path, bool is_ours)
    : path_(fs::absolute(path).lexically_normal().string()), is_ours_(is_ours) {
  std::error_code failure;
  is_new_ = fs::create_directory(path_, failure);
  if (failure) throw Error({.file = path, .problem = "cannot be made: " + failure.message()});
}

SpoolFolder SpoolFolder::made_for(const std::string& output, const std::string& run) {
  return {output + ".spool-" + run, true};
}

SpoolFolder SpoolFolder::shared(const std::string& path) { return {path, false}; }

void SpoolFolder::note_command(const std::string& run, const std::string& command) {
  note_ = pack::command_file(path_, run);
  write_file(note_, command);
}

void SpoolFolder::clear(const std::vector<pack::World>& packed) const {
  std::error_code ignored;
  if (is_ours_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (const pack::World& world : packed)
    for (const std::string& spool : world.spools)
      if (!spool.empty()) fs::remove(spool, ignored);
  fs::remove(note_, ignored);
  if (is_new_) fs::remove(path_, ignored);  // fails if others have spools in it
}

}  // namespace simreplay::simcapture
