#pragma once
// Patterns of communication from which `simtrace generate` makes traces. What a process does follows from
// the job and its own number alone, so that any rank can make any process.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/trace/encoder.hpp"
#include "common/trace/format.hpp"
#include "common/units.hpp"

namespace simreplay::simtrace {

struct Pattern;

/// What to generate.
struct Job {
  const Pattern* pattern = nullptr;
  std::int32_t processes = 1;
  std::int64_t steps = 1;
  std::int64_t bytes = 8192;
  Duration compute = std::chrono::microseconds(100);  // computation of each step
  double imbalance = 0.05;                            // its greatest deviation, relative
  std::uint64_t seed = 1;
  std::array<std::int32_t, 3> grid{1, 1, 1};  // of the patterns with a grid; set by prepare()
};

/// Writes down what one process does. Times are nanoseconds, the tick of generated traces.
class Script {
 public:
  Script(const Job& job, trace::Encoder& encoder, std::int32_t process);

  std::int32_t process() const { return process_; }
  /// The next call comes after the computation of this step.
  void compute(std::int64_t step);
  void call(const trace::Signature& s);

  void send(std::int32_t peer, std::int32_t tag, std::int64_t bytes);
  void receive(std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::uint16_t flags = 0);
  void exchange(std::int32_t to, std::int64_t sent, std::int32_t from, std::int64_t received,
                std::int32_t tag);
  void collective(Op op, std::int32_t communicator, std::int32_t root, std::int64_t bytes,
                  std::span<const std::int64_t> items = {});

  // Non-blocking calls take the slots 0, 1, 2, ...; all are free again once every open one is completed.
  void post_send(std::int32_t peer, std::int32_t tag, std::int64_t bytes,
                 std::int32_t communicator = trace::world_id);
  void post_receive(std::int32_t peer, std::int32_t tag, std::int64_t bytes,
                    std::int32_t communicator = trace::world_id, std::uint16_t flags = 0);
  /// The same by a persistent request, which is made for this message alone. `mode`: a send or a receive.
  void start(StartMode mode, std::int32_t peer, std::int32_t tag, std::int64_t bytes,
             std::int32_t communicator, std::uint16_t flags = 0);
  /// Completes the next `count` of the open requests, in the order in which they were posted.
  void complete(Op op, std::int32_t count);
  void complete_all() { complete(Op::Waitall, open()); }
  std::int32_t open() const { return posted_ - completed_; }

 private:
  void post(Op op, std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::int32_t communicator,
            std::uint16_t flags);

  const Job& job_;
  trace::Encoder& encoder_;
  std::int32_t process_;
  std::int64_t gap_;
  std::int32_t posted_ = 0, completed_ = 0;
  std::vector<std::int64_t> slots_;
};

struct Pattern {
  std::string_view name;
  std::string_view help;
  std::int32_t least_processes;
  int dimensions;                    // of the grid of processes, 0 = none
  void (*run)(const Job&, Script&);  // all steps of one process, between MPI_Init and MPI_Finalize
  void (*communicators)(const Job&,
                        std::vector<trace::Members>&);  // adds those beyond world and self; or null
};

std::span<const Pattern> patterns();
/// Null if there is none of this name.
const Pattern* find_pattern(std::string_view name);

/// Sizes of a grid with as equal sides as possible, largest first.
std::array<std::int32_t, 3> balanced_grid(std::int32_t processes, int dimensions);

/// Computation of one process before one step, in nanoseconds.
std::int64_t computation_of(const Job& job, std::int32_t process, std::int64_t step);

/// Fills in what follows from the rest.
void prepare(Job& job);
void run_process(const Job& job, trace::Encoder& encoder, std::int32_t process);
std::vector<trace::Members> communicators_of(const Job& job);

}  // namespace simreplay::simtrace
