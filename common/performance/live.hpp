#pragma once
// What a run is doing while it lasts: samples that a token collects from all processors, as lines of JSON
// that others can follow and as a table on a terminal.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simreplay::performance {

/// What a processor did between two samples, and up to now.
struct LiveProcessor {
  std::int32_t processor = 0;
  double load = 0, communication = 0, idle = 0;  // shares of the time since the sample before
  std::int64_t queue = 0;                        // messages sent to it and not yet received
  std::int64_t calls = 0, messages_sent = 0, messages_received = 0, bytes_sent = 0,
               bytes_received = 0;  // so far
  std::int64_t memory = 0;          // resident bytes; 0: unknown
  std::int32_t to = -1;             // whom it sent most messages since the sample before; -1: nobody
  std::int64_t to_messages = 0;     // so many
  friend bool operator==(const LiveProcessor&, const LiveProcessor&) = default;
};

struct LiveSample {
  std::int64_t number = 0;
  double seconds = 0;                                                          // since the start of the run
  std::optional<double> progress{}, simulated_seconds{}, remaining_seconds{};  // progress: 0 to 1
  double calls_per_second = 0;
  double period_seconds = 0, round_trip_seconds = 0;  // of the token
  std::int64_t requests_sent = 0, requests_returned = 0;
  std::vector<LiveProcessor> processors{};
  friend bool operator==(const LiveSample&, const LiveSample&) = default;
};

/// One line of JSON without its end; what is not known is left out.
std::string to_json_line(const LiveSample& sample);
/// The same back. Throws Error.
LiveSample parse_json_line(std::string_view line);

/// For a terminal of so many lines and columns: what holds for the whole, then a line for each processor.
/// Where there is no room for all: the busiest, how many are left out, and the idlest.
std::string to_table(const LiveSample& sample, std::size_t rows, std::size_t columns);

/// In one line what a table tells in many.
std::string to_text_line(const LiveSample& sample);

/// The table of the latest sample, drawn over the one before; cleared at the end.
class LiveScreen {
 public:
  explicit LiveScreen(std::FILE* terminal) : terminal_(terminal) {}
  ~LiveScreen() { clear(); }
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  /// Draws, but not sooner than 100 ms after the last time.
  void show(const LiveSample& sample);
  void clear();

 private:
  void draw(const std::string& table);

  std::FILE* terminal_;
  std::size_t lines_ = 0;  // of the table that stands there
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace simreplay::performance
