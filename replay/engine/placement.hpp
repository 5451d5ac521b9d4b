#pragma once
// Which node of the machine to predict hosts which process, how fast its processors are, and what parts of
// the program they run faster than the rest.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/machine.hpp"
#include "common/trace/format.hpp"
#include "common/units.hpp"

namespace simreplay::engine {

class Placement {
 public:
  /// Reads the files that the machine names. Throws Error: file, line, expected, found.
  Placement(const Machine& machine, std::int32_t processes, std::span<const trace::Metric> metrics = {});

  std::int32_t node(std::int32_t process) const;
  /// All nodes of these processes are below.
  std::int32_t nodes(std::int32_t processes) const;
  bool same_node(std::int32_t a, std::int32_t b) const {
    return a == b || (scheme_ != Scheme::one_per_node && node(a) == node(b));
  }
  /// Speed of its processor over the one that recorded.
  const Ratio& speedup(std::int32_t process) const;
  /// What the file says of a region (a metric of the trace), if it does: by how much computation in it is
  /// faster still.
  const Ratio* speedup_of_region(std::int32_t region) const;
  bool has_region_speedups() const { return !of_region_.empty(); }

 private:
  enum class Scheme : std::uint8_t { one_per_node, block, cyclic, listed };
  void read_nodes(const std::string& file, std::int32_t processes);
  void read_speedups(const std::string& file, std::int32_t processes, std::span<const trace::Metric> metrics);
  void check_products(const std::string& file) const;

  Scheme scheme_ = Scheme::one_per_node;
  std::int32_t per_node_ = 1, nodes_ = 1;
  std::vector<std::int32_t> listed_;
  Ratio speedup_;
  std::unordered_map<std::int32_t, Ratio> of_process_, of_node_, of_region_;
};

}  // namespace simreplay::engine
