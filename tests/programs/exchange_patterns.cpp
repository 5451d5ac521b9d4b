// exchange_patterns: one way of exchanging messages, repeated and timed between two barriers.
//
//   mpirun -np N exchange_patterns PATTERN [--bytes B] [--repetitions R]
//
//   pingpong    processes in pairs: there and back
//   halo        both neighbours on a ring: two receives and two sends at a time
//   ring        to the next, from the previous, in one call
//   alltoall, allreduce, gather    the collective, B bytes per process (and partner)
//
// Process 0 prints one line of JSON.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Job {
  int bytes = 1024, repetitions = 100;
  int rank = 0, processes = 1;
  std::vector<char> out{}, in{};

  int next() const { return (rank + 1) % processes; }
  int previous() const { return (rank + processes - 1) % processes; }
};

void pingpong(Job& j) {
  const int partner = j.rank ^ 1;
  if (partner >= j.processes) return;
  for (const bool sends : {j.rank<partner, j.rank> partner})
    if (sends)
      MPI_Send(j.out.data(), j.bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(j.in.data(), j.bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void halo(Job& j) {
  enum Tag { upward, downward };
  MPI_Request requests[4];
  MPI_Irecv(j.in.data(), j.bytes, MPI_BYTE, j.previous(), upward, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(j.in.data() + j.bytes, j.bytes, MPI_BYTE, j.next(), downward, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(j.out.data(), j.bytes, MPI_BYTE, j.next(), upward, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(j.out.data() + j.bytes, j.bytes, MPI_BYTE, j.previous(), downward, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

void ring(Job& j) {
  MPI_Sendrecv(j.out.data(), j.bytes, MPI_BYTE, j.next(), 0, j.in.data(), j.bytes, MPI_BYTE, j.previous(), 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void alltoall(Job& j) {
  MPI_Alltoall(j.out.data(), j.bytes, MPI_BYTE, j.in.data(), j.bytes, MPI_BYTE, MPI_COMM_WORLD);
}

void allreduce(Job& j) {
  MPI_Allreduce(j.out.data(), j.in.data(), j.bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

void gather(Job& j) {
  MPI_Gather(j.out.data(), j.bytes, MPI_BYTE, j.in.data(), j.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

struct Pattern {
  const char* name;
  void (*once)(Job&);
};
constexpr Pattern patterns[] = {{"pingpong", pingpong}, {"halo", halo},           {"ring", ring},
                                {"alltoall", alltoall}, {"allreduce", allreduce}, {"gather", gather}};

/// Null if the arguments cannot be used.
const Pattern* parse(int argc, char** argv, Job& job) {
  if (argc < 2) return nullptr;
  const auto found = std::find_if(std::begin(patterns), std::end(patterns),
                                  [&](const Pattern& p) { return std::strcmp(p.name, argv[1]) == 0; });
  for (int i = 2; i < argc; i += 2) {
    int* value = std::strcmp(argv[i], "--bytes") == 0         ? &job.bytes
                 : std::strcmp(argv[i], "--repetitions") == 0 ? &job.repetitions
                                                              : nullptr;
    if (value == nullptr || i + 1 == argc || (*value = std::atoi(argv[i + 1])) <= 0) return nullptr;
  }
  return found == std::end(patterns) ? nullptr : found;
}

void run(const Pattern& pattern, Job& job) {
  const auto most =
      static_cast<std::size_t>(job.bytes) * static_cast<std::size_t>(std::max(job.processes, 2));
  job.out.assign(most, 1);
  job.in.assign(most, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < job.repetitions; i++) pattern.once(job);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank == 0)
    std::printf(
        "{\"pattern\": \"%s\", \"processes\": %d, \"bytes\": %d, \"repetitions\": %d, \"seconds\": %.9f}\n",
        pattern.name, job.processes, job.bytes, job.repetitions, MPI_Wtime() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.processes);
  const Pattern* pattern = parse(argc, argv, job);
  if (pattern) run(*pattern, job);
  MPI_Finalize();
  if (!pattern)
    std::fprintf(stderr,
                 "usage: exchange_patterns pingpong|halo|ring|alltoall|allreduce|gather [--bytes B] "
                 "[--repetitions R]\n");
  return pattern ? 0 : 2;
}
