// competing_senders: messages of given sizes that leave at given times, and how long each of them takes.
//
//   mpirun -np N competing_senders START_MS:SOURCE:DESTINATION:BYTES ...
//
// Process 0 prints a line for each message: microseconds from its start to the end of its receive. The
// computers must share a clock: network namespaces of one computer do.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Transfer {
  double start_ms = 0;
  int source = 0, destination = 0, bytes = 0;
};

std::vector<Transfer> read(int argc, char** argv, int processes) {
  std::vector<Transfer> list;
  for (int i = 1; i < argc; i++) {
    Transfer t;
    const bool whole =
        std::sscanf(argv[i], "%lf:%d:%d:%d", &t.start_ms, &t.source, &t.destination, &t.bytes) == 4;
    if (!whole || std::min({t.source, t.destination, t.bytes}) < 0 || t.source == t.destination ||
        std::max(t.source, t.destination) >= processes) {
      std::fprintf(stderr, "expected START_MS:SOURCE:DESTINATION:BYTES of %d processes, found %s\n",
                   processes, argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    list.push_back(t);
  }
  return list;
}

/// The same moment on all processes, a little later than now.
Clock::time_point common_start() {
  long long start = (Clock::now() + std::chrono::milliseconds(300)).time_since_epoch().count();
  MPI_Bcast(&start, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return Clock::time_point(Clock::duration(start));
}

std::chrono::duration<double, std::milli> after(const Transfer& t) {
  return std::chrono::duration<double, std::milli>(t.start_ms);
}

/// One process: starts what is due, and notes what has come. It never sleeps long, so that MPI moves on.
class Process {
 public:
  Process(const std::vector<Transfer>& list, int rank)
      : list_(list),
        buffers_(list.size()),
        sends_(list.size(), MPI_REQUEST_NULL),
        receives_(list.size(), MPI_REQUEST_NULL),
        taken_us_(list.size(), std::numeric_limits<double>::max()) {
    for (std::size_t i = 0; i < list.size(); i++) {
      if (rank != list[i].source && rank != list[i].destination) continue;
      buffers_[i].resize(static_cast<std::size_t>(list[i].bytes));
      if (rank == list[i].source) to_send_.push_back(i);
      if (rank != list[i].destination) continue;
      to_receive_++;
      MPI_Irecv(buffers_[i].data(), list[i].bytes, MPI_BYTE, list[i].source, static_cast<int>(i),
                MPI_COMM_WORLD, &receives_[i]);
    }
  }

  void run(Clock::time_point start) {
    while (!to_send_.empty() || to_receive_ > 0) {
      send_due(start);
      note_received(start);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  }
  const std::vector<double>& microseconds() const { return taken_us_; }

 private:
  void send_due(Clock::time_point start) {
    std::erase_if(to_send_, [&](std::size_t i) {
      if (Clock::now() < start + after(list_[i])) return false;
      MPI_Isend(buffers_[i].data(), list_[i].bytes, MPI_BYTE, list_[i].destination, static_cast<int>(i),
                MPI_COMM_WORLD, &sends_[i]);
      return true;
    });
    int all = 0;
    MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &all, MPI_STATUSES_IGNORE);
  }

  void note_received(Clock::time_point start) {
    int i = MPI_UNDEFINED, there = 0;
    MPI_Testany(static_cast<int>(receives_.size()), receives_.data(), &i, &there, MPI_STATUS_IGNORE);
    if (!there || i == MPI_UNDEFINED) return;
    const auto which = static_cast<std::size_t>(i);
    taken_us_[which] =
        std::chrono::duration<double, std::micro>(Clock::now() - start - after(list_[which])).count();
    to_receive_--;
  }

  const std::vector<Transfer>& list_;
  int to_receive_ = 0;
  std::vector<std::vector<char>> buffers_;
  std::vector<MPI_Request> sends_, receives_;
  std::vector<std::size_t> to_send_;
  std::vector<double> taken_us_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, processes = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const std::vector<Transfer> list = read(argc, argv, processes);
  Process process(list, rank);
  process.run(common_start());
  std::vector<double> all(list.size());
  MPI_Reduce(process.microseconds().data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MIN, 0,
             MPI_COMM_WORLD);
  if (rank == 0)
    for (const double us : all) std::printf("%.1f\n", us);
  MPI_Finalize();
  return 0;
}
