#pragma once
// Where a fabric and its tables come from, as command lines and machine files say it. One table names the
// keys.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/network/infiniband/check.hpp"

namespace simreplay::infiniband {

struct Source {
  std::string topology;             // a spec or a file
  std::string routing = "minhop";   // an engine or a file of tables
  std::string roots, torus_config;  // files; empty: none
  int max_lanes = 8;                // of lash
};

struct SourceRow {
  std::string_view key, value, help;
  void (*set)(Source&, std::string_view);  // throws std::invalid_argument: expected and found
};
std::span<const SourceRow> source_rows();

/// Both throw Error. What is odd is noted.
Fabric load_fabric(const Source& source);
Tables load_tables(const Source& source, const Fabric& fabric, std::vector<std::string>& notes);

/// What is wrong with tables: pairs that do not arrive, by name, channels that wait for each other in a
/// circle. Empty if nothing is.
std::string faults(const Fabric& fabric, const Check& check);

}  // namespace simreplay::infiniband
