// Regions, counters, timers and a predicate of simcapture.h, on 2 processes.

#include <mpi.h>

#include <chrono>

#include "capture/include/simcapture.h"
#include "tests/programs/report.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int steps = 4;

/// Computes for so long, without a call of MPI.
double work(std::chrono::milliseconds time) {
  double x = 1;
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
    for (int i = 0; i < 1000; i++) x = x * 0.999 + 1;
  return x;
}

/// Part of its messages counts for `f`: the timer of sends runs always, its predicate only here.
void f(int peer) {
  simcapture_counter_add("in f", 1);
  simcapture_timer_start("sends");
  MPI_Send(&peer, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
  simcapture_timer_stop("sends");
  int in = 0;
  MPI_Recv(&in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  simcapture_counter_sub("in f", 1);
}

void step(int solver, int queue, int rank, int number) {
  simcapture_begin(solver);
  work(2ms);
  simcapture_set(queue, number * (rank + 1));
  double sum = 0, own = rank;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  simcapture_end(solver);
  simcapture_region_begin("output");
  work(1ms);
  simcapture_region_end("output");
}

}  // namespace

int main(int argc, char** argv) {
  simcapture_region_begin("all");
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int solver = simcapture_region("solver"), queue = simcapture_counter("queue");
  simcapture_timer_while("sends", "in f");
  simcapture_timer_while("MPI_Send", "in f");
  for (int i = 0; i < steps; i++) {
    step(solver, queue, rank, i);
    f(1 - rank);
  }
  int out = rank, in = -1;
  simcapture_timer_start("sends");
  MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 2, &in, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  simcapture_timer_stop("sends");
  if (rank == 1) simcapture_region_begin("never ended");
  report("got %d", in);
  MPI_Finalize();
  simcapture_region_end("all");
}
