#pragma once
// Regions and timers that do not begin and end in pairs.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/simtrace/fault_log.hpp"
#include "common/region_stack.hpp"
#include "common/trace/format.hpp"

namespace simreplay::simtrace {

/// Of all processes, call by call. What it finds are remarks: a replay goes on all the same.
class Marks {
 public:
  Marks(std::string file, const std::vector<trace::Metric>& metrics)
      : file_(std::move(file)), metrics_(metrics) {}

  /// The next mark of its process.
  void add(const CallName& at, const trace::Signature& s);
  /// All calls of the process have been seen; `complete` if it made no others.
  void end_of(std::int32_t process, bool complete);

  /// The first of the remarks, in the order of processes, and how many there are.
  std::vector<std::string> remarks() const;

 private:
  struct Thread {
    RegionStack<CallName> regions;
    std::map<std::int32_t, std::vector<CallName>> timers;  // starts that were not stopped
  };
  void end_region(Thread& thread, const CallName& at, std::int32_t metric);
  void stop(Thread& thread, const CallName& at, std::int32_t metric);
  void say(const CallName& at, std::int32_t metric, Unpaired fault);

  std::string file_;
  const std::vector<trace::Metric>& metrics_;
  std::map<std::int32_t, std::map<std::uint16_t, Thread>> threads_;     // by process
  std::map<std::pair<std::int32_t, std::uint64_t>, std::string> said_;  // by process and call
  std::int64_t count_ = 0;
};

}  // namespace simreplay::simtrace
