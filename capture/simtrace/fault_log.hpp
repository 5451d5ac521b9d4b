#pragma once
// Collects faults: the first few as text, all of them as a number.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/mpi_ops.hpp"

namespace simreplay::simtrace {

class FaultLog {
 public:
  FaultLog(std::string file, std::size_t shown) : file_(std::move(file)), most_shown_(shown) {}

  void add(Fault fault) {
    count_++;
    if (shown_.size() == most_shown_) return;
    fault.file = file_;
    shown_.push_back(to_string(fault));
  }
  std::int64_t count() const { return count_; }
  const std::vector<std::string>& shown() const { return shown_; }

 private:
  std::string file_;
  std::size_t most_shown_;
  std::int64_t count_ = 0;
  std::vector<std::string> shown_;
};

/// A call, for messages.
struct CallName {
  std::int32_t process = 0;
  std::uint64_t call = 0;
  Op op = Op::count;
};

inline Fault fault_at(const CallName& at, std::string expected, std::string found, std::string remedy = {}) {
  return {.process = at.process,
          .call = static_cast<std::int64_t>(at.call),
          .operation = std::string(info(at.op).name),
          .expected = std::move(expected),
          .found = std::move(found),
          .remedy = std::move(remedy)};
}

}  // namespace simreplay::simtrace
