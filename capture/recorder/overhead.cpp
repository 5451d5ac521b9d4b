#include "capture/recorder/overhead.hpp"

#include <algorithm>
#include <bit>

#include "capture/recorder/handlers/collective.hpp"
#include "capture/recorder/handlers/completion.hpp"
#include "capture/recorder/handlers/point_to_point.hpp"

namespace simreplay::recorder {
namespace {

constexpr int times = 600;

// Calls that go through all of the recorder and then do nothing.

void message() {
  constexpr auto nothing = [](const void*, int, MPI_Datatype, int, int, MPI_Comm) { return MPI_SUCCESS; };
  static constinit Next<decltype(MPI_Send)> send{nothing};
  recorded<Op::Send>(send, nullptr, 1, predefined.byte, 0, 0, predefined.world);
}

void request_and_completion() {
  constexpr auto start = [](const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
    using Bits = std::conditional_t<sizeof(MPI_Request) == sizeof(int), int, std::intptr_t>;
    *request = std::bit_cast<MPI_Request>(Bits{1});  // a pointer or an integer
    return MPI_SUCCESS;
  };
  constexpr auto end = [](MPI_Request* request, MPI_Status*) {
    *request = predefined.null_request;
    return MPI_SUCCESS;
  };
  static constinit Next<decltype(MPI_Isend)> isend{start};
  static constinit Next<decltype(MPI_Wait)> wait{end};
  MPI_Request request;
  recorded<Op::Isend>(isend, nullptr, 1, predefined.byte, 0, 0, predefined.world, &request);
  recorded<Op::Wait>(wait, &request, MPI_STATUS_IGNORE);
}

void collective() {
  constexpr auto nothing = [](void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; };
  static constinit Next<decltype(MPI_Bcast)> bcast{nothing};
  recorded<Op::Bcast>(bcast, nullptr, 1, predefined.byte, 0, predefined.world);
}

void local() {
  constexpr auto nothing = [](MPI_Comm, int*) { return MPI_SUCCESS; };
  static constinit Next<decltype(MPI_Comm_rank)> comm_rank{nothing};
  recorded<Op::Comm_rank>(comm_rank, predefined.world, nullptr);
}

void mark() { record_mark(Op::Region_begin, -1, 0); }

/// The median of every `step`-th gap from the first, in ps.
std::int64_t median(const std::vector<std::int64_t>& gaps, std::size_t first, std::size_t step) {
  std::vector<std::int64_t> chosen;
  for (std::size_t i = first; i < gaps.size(); i += step) chosen.push_back(gaps[i]);
  if (chosen.empty()) return 0;
  const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(chosen.size() / 2);
  std::nth_element(chosen.begin(), middle, chosen.end());
  return std::max<std::int64_t>(*middle, 0) * 1000;
}

}  // namespace

trace::Overheads measure_overheads(Recorder& recorder, bool of_processor_time) {
  trace::Overheads overheads{};
  const auto of = [&](trace::Recording kind) -> std::int64_t& {
    return overheads[static_cast<std::size_t>(kind)];
  };
  of(trace::Recording::message) = median(recorder.trial(message, times).gaps, 0, 1);
  if (of_processor_time) {  // only reading the clock counts
    overheads.fill(of(trace::Recording::message));
    return overheads;
  }
  const Recorder::Trial pairs = recorder.trial(request_and_completion, times);
  of(trace::Recording::request) = median(pairs.gaps, 0, 2);
  of(trace::Recording::completion) = median(pairs.gaps, 1, 2);
  of(trace::Recording::collective) = median(recorder.trial(collective, times).gaps, 0, 1);
  // Calls that follow each other are one record.
  const Recorder::Trial folded = recorder.trial(local, times);
  of(trace::Recording::local) = std::max<std::int64_t>(folded.elapsed - folded.inside, 0) * 1000 / times;
  return overheads;
}

std::int64_t measure_mark_overhead(Recorder& recorder) {
  return median(recorder.trial(mark, times).gaps, 0, 1);
}

}  // namespace simreplay::recorder
