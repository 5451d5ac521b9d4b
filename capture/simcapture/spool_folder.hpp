#pragma once
// Where the recorders of one run leave their spools.

#include <string>
#include <vector>

#include "capture/pack/worlds.hpp"

namespace simreplay::simcapture {

class SpoolFolder {
 public:
  /// A folder that is to be ours alone.
  static SpoolFolder made_for(const std::string& output, const std::string& run);
  /// One that others may use at the same time; made if it is not there.
  static SpoolFolder shared(const std::string& path);

  /// Absolute, for recorders may start elsewhere.
  const std::string& path() const { return path_; }

  /// Notes what was recorded for who packs the spools later. Throws Error.
  void note_command(const std::string& run, const std::string& command);

  /// Removes what the run left here.
  void clear(const std::vector<pack::World>& packed) const;

 private:
  SpoolFolder(const std::string& path, bool is_ours);

  std::string path_, note_;
  bool is_ours_ = false, is_new_ = false;
};

}  // namespace simreplay::simcapture
