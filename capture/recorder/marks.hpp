#pragma once
// Regions, counters and timers that the program tells about: the functions behind simcapture.h.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recorder/spool_format.hpp"
#include "common/mpi_ops.hpp"
#include "common/trace/format.hpp"

namespace simreplay::recorder {

class Recorder;

/// The names of metrics, and the marks that were made before there was a spool. Any thread may call.
class Marks {
 public:
  constexpr Marks() = default;

  /// The number of the metric of this kind and name, which is new if it has not been asked for.
  std::int32_t find(trace::MetricKind kind, const char* name);

  /// Puts the names of all metrics up to this one into the spool; false if there is no such metric.
  bool introduce(Recorder& recorder, std::int32_t metric) {
    return metric < introduced_ || introduce_all(recorder, metric);
  }
  /// Those of metrics that no mark named.
  void introduce_rest(Recorder& recorder) { introduce_all(recorder, 0); }

  /// A mark from before MPI_Init.
  void keep(const spool::Record& mark);
  /// There is a spool now.
  void put_out_kept(Recorder& recorder);

 private:
  bool introduce_all(Recorder& recorder, std::int32_t metric);
  std::uint32_t& slot_of(trace::MetricKind kind, std::string_view name);
  void grow();

  class Lock {
   public:
    explicit Lock(Marks& marks) : busy_(marks.busy_) {
      while (busy_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { busy_.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag& busy_;
  };

  std::atomic_flag busy_;
  std::int32_t introduced_ = 0;  // only of threads that may write the spool
  std::vector<trace::Metric> metrics_;
  std::vector<std::uint32_t> slots_;  // by name, open addressing: metric + 1, 0 = free
  std::vector<spool::Record> kept_;
};

/// Records a mark. The metric of a trial is -1.
void record_mark(Op op, std::int32_t metric, std::int64_t value);

}  // namespace simreplay::recorder
