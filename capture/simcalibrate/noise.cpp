#include "capture/simcalibrate/noise.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "common/mpi_lists.hpp"

namespace simreplay::calibrate {
namespace {

constexpr std::size_t most_detours = std::size_t{1} << 20;  // of a rank, which then ends before its time
constexpr int turns_of_a_trial = 1'000'000;

std::int64_t now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count();
}

Duration from_ns(std::int64_t ns) { return std::chrono::nanoseconds(ns); }

/// Of those that the clock can tell from none.
std::int64_t shortest_turn_ns() {
  std::int64_t shortest = 1'000'000, last = now_ns();  // no clock is coarser
  for (int i = 0; i < turns_of_a_trial; i++) {
    const std::int64_t now = now_ns();
    if (now > last) shortest = std::min(shortest, now - last);
    last = now;
  }
  return shortest;
}

/// What one rank found.
struct Series {
  NoiseProfile profile;
  std::int64_t shortest_ns = 0;
};

Series run(double seconds) {
  Series s;
  auto& detours = s.profile.detours;
  detours.resize(most_detours);  // touched before, so that the memory makes no noise of its own
  s.shortest_ns = shortest_turn_ns();
  const std::int64_t limit = detour_factor * s.shortest_ns;
  const std::int64_t start = now_ns(), end = start + static_cast<std::int64_t>(seconds * 1e9);
  std::size_t count = 0;
  std::int64_t last = start;
  while (last < end && count < most_detours) {
    const std::int64_t now = now_ns(), turn = now - last;
    if (turn > limit) detours[count++] = {from_ns(last - start), from_ns(turn - s.shortest_ns)};
    last = now;
  }
  detours.resize(count);
  s.profile.length = from_ns(last - start);
  return s;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string describe(int rank, const Series& s) {
  Duration sum{}, longest{};
  for (const Detour& d : s.profile.detours) {
    sum += d.duration;
    longest = std::max(longest, d.duration);
  }
  return fmt::format("rank {} on {}: {} detours, {:.3f} % of the time, the longest {}; shortest turn {} ns\n",
                     rank, host_name(), format_count(std::ssize(s.profile.detours)),
                     100.0 * static_cast<double>(sum.count()) / static_cast<double>(s.profile.length.count()),
                     format_duration(longest), s.shortest_ns);
}

}  // namespace

RecordedNoise record_noise(MPI_Comm comm, double seconds) {
  MPI_Barrier(comm);
  const Series own = run(seconds);
  const std::string line = describe(rank_in(comm), own);
  const auto lines = gather<char>(comm, line);
  const Duration length[] = {own.profile.length};
  const std::int64_t count[] = {std::ssize(own.profile.detours)};
  const auto lengths = gather<Duration>(comm, length);
  const auto counts = gather<std::int64_t>(comm, count);
  const auto detours = gather<Detour>(comm, own.profile.detours);
  RecordedNoise all;
  if (rank_in(comm) != 0) return all;
  const std::time_t now = std::time(nullptr);
  all.comment = fmt::format(
      "Detours, {:%Y-%m-%d %H:%M} UTC: turns of a loop that reads the clock, if longer than {} times the "
      "shortest.\n"
      "{}",
      fmt::gmtime(now), detour_factor, std::string_view(lines.data(), lines.size()));
  auto next = detours.begin();
  for (std::size_t rank = 0; rank < lengths.size(); rank++) {
    for (std::int64_t i = 0; i < counts[rank]; i++, ++next)
      all.profile.detours.push_back({all.profile.length + next->begin, next->duration});
    all.profile.length += lengths[rank];
  }
  return all;
}

}  // namespace simreplay::calibrate
