#pragma once
// Tables that OpenSM made of fabrics that ibsim simulated: SIMREPLAY_TEST_DATA/fabrics, not part of this
// repository.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace simreplay::test {

/// Empty: the data are not here.
inline std::string fabrics_folder() {
  const char* folder = std::getenv("SIMREPLAY_TEST_DATA");
  const std::string path = folder == nullptr ? "" : std::string(folder) + "/fabrics";
  return std::filesystem::exists(path + "/summary.tsv") ? path : "";
}

inline std::string unpacked(const std::string& path) {
  if (!std::filesystem::exists(path)) throw std::runtime_error(path + " is missing");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(("gzip -dc '" + path + "'").c_str(), "r"),
                                                             pclose);
  std::string content;
  std::array<char, 65536> block{};
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe.get()))
    content.append(block.data(), n);
  return content;
}

}  // namespace simreplay::test
