#pragma once
// Forwarding tables as OpenSM dumps them (opensm-lfts.dump) and reads them (-U).

#include <string>
#include <vector>

#include "replay/network/infiniband/tables.hpp"

namespace simreplay::infiniband {

/// Reads what `opensm`, `dump_fts` and `ibroute` print. Switches are those of the GUIDs; what is odd is
/// noted. Throws Error: lines without meaning, switches and LIDs that the fabric lacks, ports that a switch
/// lacks.
Tables read_lft_dump(const std::string& path, const Fabric& fabric, std::vector<std::string>& notes);

std::string write_lft_dump(const Tables& tables, const Fabric& fabric);

}  // namespace simreplay::infiniband
