#pragma once
// Reads the spool of one process. Whatever its state, what is readable is given.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "capture/recorder/spool_format.hpp"

namespace simreplay::pack {

class SpoolReader {
 public:
  /// Throws Error if the file is no spool.
  explicit SpoolReader(std::string path);
  ~SpoolReader();
  SpoolReader(SpoolReader&& other) noexcept;
  SpoolReader& operator=(SpoolReader&&) = delete;
  SpoolReader(const SpoolReader&) = delete;

  const std::string& path() const { return path_; }
  const spool::Header& header() const { return *static_cast<const spool::Header*>(map_); }

  /// Records and items may be changed: corrections are kept in the file.
  using Visitor = std::function<void(spool::Record&, std::span<std::int64_t> items)>;

  /// All records in order. False if the spool is damaged: then some records at its end are missing.
  bool each(const Visitor& visit);

 private:
  bool each_in(std::span<std::byte> data, const Visitor& visit) const;

  std::string path_;
  void* map_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace simreplay::pack
