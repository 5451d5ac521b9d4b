#pragma once
// Fabrics as `ibnetdiscover` prints them, and the netlists of ibsim, which look alike.

#include "replay/network/infiniband/fabric.hpp"
#include "replay/network/infiniband/lines.hpp"

namespace simreplay::infiniband {

/// What is odd becomes a note of the fabric; what has no meaning, or two that differ, is an Error with its
/// line.
Fabric read_ibnetdiscover(Lines lines);

}  // namespace simreplay::infiniband
