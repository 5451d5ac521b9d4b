#pragma once
// Traces written out by hand, for tests: SmallTrace t(2); t[0].compute(100ns).send(1, 8); t.write(path);

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/format.hpp"

namespace simreplay::test {

/// The calls of one process, in order. Times are picoseconds; each call takes `duration` as recorded.
class ProcessScript {
 public:
  explicit ProcessScript(std::int32_t process) : process_(process) {}

  ProcessScript& compute(std::int64_t ps) {
    gap_ += ps;
    return *this;
  }
  ProcessScript& lasts(std::int64_t ps) {
    calls_.back().duration = ps;
    return *this;
  }
  ProcessScript& call(Op op, trace::Signature s = {}, std::vector<std::int64_t> items = {});

  ProcessScript& init() { return call(Op::Init); }
  ProcessScript& finalize() { return call(Op::Finalize); }
  ProcessScript& send(int to, std::int64_t bytes, int tag = 0, std::int32_t communicator = 0);
  ProcessScript& receive(int from, std::int64_t bytes, int tag = 0, std::int32_t communicator = 0);
  ProcessScript& isend(int to, std::int64_t bytes, int request, int tag = 0);
  ProcessScript& irecv(int from, std::int64_t bytes, int request, int tag = 0);
  ProcessScript& wait(std::vector<std::int64_t> requests) {
    return call(Op::Waitall, {}, std::move(requests));
  }
  ProcessScript& collective(Op op, std::int64_t bytes, int root = -1, std::vector<std::int64_t> items = {},
                            std::int32_t communicator = 0);
  /// A region, counter or timer, by the number that SmallTrace::metric() gave it.
  ProcessScript& mark(Op op, std::int32_t metric, std::vector<std::int64_t> items = {},
                      std::uint16_t thread = 0) {
    return call(op, {.thread = thread, .tag = metric}, std::move(items));
  }
  ProcessScript& begin(std::int32_t region) { return mark(Op::Region_begin, region); }
  ProcessScript& end(std::int32_t region) { return mark(Op::Region_end, region); }
  ProcessScript& cut_short() {
    record_ = trace::Record::cut;
    return *this;
  }
  ProcessScript& left_out() {
    record_ = trace::Record::left_out;
    return *this;
  }

 private:
  friend class SmallTrace;
  struct Call {
    trace::Signature signature;
    std::vector<std::int64_t> items;
    std::int64_t gap, duration;
  };
  std::int32_t process_;
  std::int64_t gap_ = 0;
  trace::Record record_ = trace::Record::complete;
  trace::Overheads overhead_ps_{};
  std::vector<Call> calls_;
};

class SmallTrace {
 public:
  explicit SmallTrace(int processes);
  ProcessScript& operator[](int process) { return processes_[static_cast<std::size_t>(process)]; }
  /// Adds a communicator or window; returns its id (2, 3, ...). `first_group`: members of the first group of
  /// an intercommunicator.
  std::int32_t communicator(std::vector<std::int32_t> world_ranks, std::int32_t first_group = 0);
  /// Adds a region, counter or timer; returns its number.
  std::int32_t metric(trace::MetricKind kind, const std::string& name) {
    metrics_.push_back({kind, name});
    return static_cast<std::int32_t>(metrics_.size()) - 1;
  }
  std::int32_t region(const std::string& name) { return metric(trace::MetricKind::region, name); }
  std::int32_t counter(const std::string& name) { return metric(trace::MetricKind::counter, name); }
  std::int32_t timer(const std::string& name) { return metric(trace::MetricKind::timer, name); }
  void overhead(std::int64_t ps);
  void skipped(const trace::Skipped& messages) { skipped_.push_back(messages); }
  /// Every process gets MPI_Init before and MPI_Finalize after its calls, unless it was cut short.
  void write(const std::string& path) const;

 private:
  std::vector<ProcessScript> processes_;
  std::vector<trace::Members> communicators_;
  std::vector<trace::Skipped> skipped_;
  std::vector<trace::Metric> metrics_;
};

}  // namespace simreplay::test
