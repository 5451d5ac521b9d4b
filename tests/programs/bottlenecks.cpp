// Programs with one bottleneck each, for whoever looks for it. Computation is sleep, so that it takes as long
// on a computer that is busy.
//
//   mpirun -np 4 bottlenecks MODE [STEPS]      MODE: slow-consumer, slow-producer, balanced, late-sender,
//                                              slow-process; 2 processes or more, 100 steps
//
// Each process prints what it has summed up of what it got from others.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "capture/include/simcapture.h"
#include "tests/programs/report.hpp"

namespace {

using namespace std::chrono_literals;
using Time = std::chrono::milliseconds;

enum Tag { item_tag, receipt_tag, rightward_tag, leftward_tag, answer_tag };

struct Place {
  int rank = 0, size = 1;
};

void compute(Time time) { std::this_thread::sleep_for(time); }

/// A part of the program as the recorder sees it.
class Region {
 public:
  explicit Region(const char* name) : name_(name) { simcapture_region_begin(name_); }
  ~Region() { simcapture_region_end(name_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  const char* name_;
};

void send(long value, int to, Tag tag) { MPI_Send(&value, 1, MPI_LONG, to, tag, MPI_COMM_WORLD); }

long receive(int from, Tag tag) {
  long value = 0;
  MPI_Recv(&value, 1, MPI_LONG, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

/// To the right in the ring and from the left, or the other way round.
long shift(long value, int to, int from, Tag tag) {
  long in = 0;
  MPI_Sendrecv(&value, 1, MPI_LONG, to, tag, &in, 1, MPI_LONG, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return in;
}

long sum_of_all(long value) {
  long sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Even processes make items for the odd ones beside them, which give a receipt for each. No more than so
/// many are under way: those wait in the queue of the consumer, unless it is the faster one. One without a
/// partner computes alone.
long pipeline(const Place& me, int steps, Time to_produce, Time to_consume) {
  constexpr int window = 32;
  const int partner = me.rank ^ 1;
  const bool produces = me.rank < partner, is_alone = partner == me.size;
  std::array<long, 100> item{};
  long sum = 0;
  for (int i = 0; i < steps; i++) {
    if (produces) {
      const Region region("produce");
      compute(to_produce);
      if (is_alone) continue;
      if (i >= window) sum += receive(partner, receipt_tag);
      item[0] = i;
      MPI_Send(item.data(), static_cast<int>(item.size()), MPI_LONG, partner, item_tag, MPI_COMM_WORLD);
    } else {
      const Region region("consume");
      MPI_Recv(item.data(), static_cast<int>(item.size()), MPI_LONG, partner, item_tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      compute(to_consume);
      send(item[0], partner, receipt_tag);
      sum += item[0];
    }
  }
  if (produces && !is_alone)
    for (int open = std::min(steps, window); open > 0; open--) sum += receive(partner, receipt_tag);
  return sum;
}

/// The producer is five times as fast as the consumer: a queue grows until the window is full, and then the
/// producer waits for receipts.
long slow_consumer(const Place& me, int steps) { return pipeline(me, steps, 1ms, 5ms); }

/// The consumer is five times as fast as the producer: it waits for each item, and nothing queues.
long slow_producer(const Place& me, int steps) { return pipeline(me, steps, 5ms, 1ms); }

/// All compute as long as the others, exchange with both neighbours in a ring, and agree now and then: nearly
/// all of the time is computation.
long balanced(const Place& me, int steps) {
  const int right = (me.rank + 1) % me.size, left = (me.rank + me.size - 1) % me.size;
  long sum = 0;
  for (int i = 0; i < steps; i++) {
    const Region region("step");
    compute(5ms);
    sum += shift(me.rank + i, right, left, rightward_tag);
    sum += shift(me.rank + i, left, right, leftward_tag);
    if (i % 10 == 9) sum_of_all(sum);
  }
  return sum;
}

/// Pairs in which one computes while the other waits for it in MPI_Recv: first the even process, then the odd
/// one. All compute the same, and still wait half of the time. One without a partner computes alone.
long late_sender(const Place& me, int steps) {
  const int partner = me.rank ^ 1;
  long sum = 0;
  for (int i = 0; i < steps; i++) {
    const Region region("step");
    const bool is_first = me.rank < partner;
    if (!is_first) sum += receive(partner, item_tag);
    compute(4ms);
    if (partner == me.size) continue;
    send(i, partner, is_first ? item_tag : answer_tag);
    if (is_first) sum += receive(partner, answer_tag);
  }
  return sum;
}

/// The last process computes three times as long as the others, which wait for it in MPI_Allreduce.
long slow_process(const Place& me, int steps) {
  long sum = 0;
  for (int i = 0; i < steps; i++) {
    const Region region("step");
    compute(me.rank == me.size - 1 ? 6ms : 2ms);
    sum += sum_of_all(me.rank + i);
  }
  return sum;
}

struct Mode {
  std::string_view name;
  long (*run)(const Place&, int steps);
};
constexpr Mode modes[] = {{"slow-consumer", slow_consumer},
                          {"slow-producer", slow_producer},
                          {"balanced", balanced},
                          {"late-sender", late_sender},
                          {"slow-process", slow_process}};

const Mode* find_mode(std::string_view name) {
  for (const Mode& mode : modes)
    if (mode.name == name) return &mode;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Mode* mode = argc > 1 ? find_mode(argv[1]) : nullptr;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  Place me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &me.size);
  const bool usable = mode != nullptr && steps > 0 && me.size > 1;
  if (usable) report("%ld", mode->run(me, steps));
  MPI_Finalize();
  if (!usable && me.rank == 0) {
    std::fprintf(stderr, "usage: mpirun -np N bottlenecks MODE [STEPS], N > 1; modes:");
    for (const Mode& m : modes) std::fprintf(stderr, " %s", m.name.data());
    std::fprintf(stderr, "\n");
  }
  return usable ? 0 : 2;
}
