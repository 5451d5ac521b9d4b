#pragma once
// Fabrics made from a line of text: "fat-tree:levels=2,leaves=8,spines=4,hosts=8", "torus:4x4x4,hosts=2".
// docs/models/infiniband-fabrics.md lists the kinds and their settings.

#include <string>
#include <string_view>

#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

/// True if the text names a kind, as opposed to a file.
bool is_spec(std::string_view text);

/// Throws Error: unknown kinds and settings with the valid ones, values out of their domain.
Fabric generate(std::string_view spec);

/// One line per kind, for the help text.
std::string spec_help();

}  // namespace simreplay::infiniband
