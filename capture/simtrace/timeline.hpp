#pragma once
// When the calls of a process begin and end (docs/trace-format.md). Values stop at the ends of their range.

#include <cstdint>
#include <vector>

#include "common/trace/signature_table.hpp"

namespace simreplay::simtrace {

/// Calls of one process, added in their order.
class Timeline {
 public:
  /// The calls that follow have their signatures in this table, which stays where it is.
  void use(const trace::SignatureTable& table);

  struct Times {
    std::int64_t enter, leave;
  };
  Times add(std::uint16_t signature, std::int64_t computation, std::int64_t duration);
  /// End of all calls so far.
  std::int64_t latest() const { return latest_; }

 private:
  Times add_of_thread(std::uint16_t signature, std::int64_t computation, std::int64_t duration);

  struct Thread {
    std::int64_t leave = 0;
    bool has_begun = false;
  };
  const trace::SignatureTable* table_ = nullptr;
  std::int64_t latest_ = 0;
  std::uint64_t calls_ = 0;
  // Of a process with several threads.
  std::vector<Thread> threads_;
  std::vector<std::int64_t> latest_leaves_;  // after each of the last calls
};

}  // namespace simreplay::simtrace
