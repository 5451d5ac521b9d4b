#pragma once
// What can be said against a call without looking at any other.

#include <optional>
#include <string>

#include "capture/simtrace/membership.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

struct Objection {
  std::string expected, found;
  bool usable = true;  // false: the call cannot be followed any further
};

std::optional<Objection> object_to(const trace::Signature& s, std::int32_t process, Membership& members);

}  // namespace simreplay::simtrace
