#pragma once
// Which switch stands where in a mesh or torus that was read from a file, by OpenSM's torus-2QoS.conf.

#include <string>

#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

/// The file names the sizes and, at one switch, the neighbors in each direction: `torus 3 4 5`, `xp_link GUID
/// GUID`, `xm_link`, ..., `x_dateline N`. All other switches follow from the cables. Throws Error: lines
/// without meaning, cables that do not fit.
Grid read_torus_config(const std::string& path, const Fabric& fabric);

}  // namespace simreplay::infiniband
