#pragma once
// Our own text form of a fabric (docs/models/infiniband-fabrics.md).

#include <string>

#include "replay/network/infiniband/fabric.hpp"
#include "replay/network/infiniband/lines.hpp"

namespace simreplay::infiniband {

Fabric read_text_form(Lines lines);
std::string write_text_form(const Fabric& fabric);

/// A file in any of the forms that we know, told apart by its first words; or a generated fabric, if the text
/// is a spec. Throws Error.
Fabric load_fabric(const std::string& spec_or_path);

}  // namespace simreplay::infiniband
