#pragma once
// Who is in a communicator, asked often.

#include <cstdint>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::simtrace {

class Membership {
 public:
  explicit Membership(const std::vector<trace::Members>& communicators)
      : communicators_(communicators), sorted_(communicators.size()) {}

  /// `process` asks whether `rank` is in its communicator.
  bool holds(std::int32_t communicator, std::int32_t process, std::int32_t rank);
  std::int64_t size(std::int32_t communicator) const {
    return communicator == trace::self_id ? 1 : communicators_[static_cast<std::size_t>(communicator)].size();
  }
  bool exists(std::int64_t communicator) const {
    return communicator >= 0 && static_cast<std::uint64_t>(communicator) < communicators_.size();
  }

 private:
  const std::vector<trace::Members>& communicators_;
  std::vector<std::vector<std::int32_t>>
      sorted_;  // of communicators with many runs, made when first asked for
};

}  // namespace simreplay::simtrace
