#pragma once
// What was measured: times in nanoseconds, by size of the message.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace simreplay::calibrate {

/// Many repetitions of one measurement. The value is a low quantile: disturbances only ever add time, and a
/// minimum would be the luck of one. Where they belong to the machine, as on processors that ranks share, it
/// is the median.
struct Statistic {
  double ns = 0;
  double spread =
      0;  // (upper - value) / value; upper is the median, or a quarter of the samples above the value
};
constexpr double low_quantile = 0.1;
Statistic summarise(std::vector<double> samples_ns, double quantile = low_quantile);

/// One size. What ends at the sender while its receiver is late (eager) and what does not (rendezvous) leave
/// different traces, so some fields belong to one protocol.
struct SizePoint {
  std::int64_t bytes = 0;
  Statistic half_round_trip{};
  Statistic send{};      // in MPI_Isend, alone or in a stream, whichever is less
  Statistic receive{};   // eager: in MPI_Recv when the message is there already
  Statistic gap{};       // between the messages of a stream
  Statistic release{};   // rendezvous: in MPI_Send when the receiver waits already
  Statistic exchange{};  // both sides send and receive at the same time: from one exchange to the next
};

/// One way: between two ranks of different nodes, or of one.
struct Way {
  std::string hosts;                        // "a to b"
  std::optional<std::int64_t> eager_limit;  // none: no send waited for its receiver
  /// Larger messages return to their sender only while the receiver is in the MPI library, though eager.
  std::optional<std::int64_t> unattended_limit;
  std::vector<SizePoint> points;  // ascending
  int rounds = 0;

  bool is_rendezvous(std::int64_t bytes) const { return eager_limit && bytes > *eager_limit; }
};

struct Measurement {
  std::string date, mpi_library, settings;  // settings: of the MPI library in the environment
  int ranks = 0, nodes = 0;
  double quantile = low_quantile;
  bool all_pairs = false;  // at the same time
  Statistic barrier{};
  std::optional<Way> between, within;
};

constexpr double noisy_spread = 0.05;

/// "half round trip of 4096 bytes between nodes: 8 %", for each that spreads more than noisy_spread.
std::vector<std::string> noisy_results(const Measurement& measurement);

}  // namespace simreplay::calibrate
