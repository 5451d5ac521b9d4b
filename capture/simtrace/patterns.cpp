#include "capture/simtrace/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/simtrace/hash.hpp"
#include "capture/simtrace/random_pattern.hpp"

namespace simreplay::simtrace {
namespace {

using trace::Signature;

// Recorded times only need to be plausible: a replay computes its own.
constexpr std::int64_t small_gap_ns = 10;
constexpr std::int64_t post_ns = 100;
constexpr std::int64_t call_ns = 1'000;
constexpr std::int64_t bytes_per_ns = 10;
constexpr std::int64_t start_ns = 1'000'000;

std::int64_t duration_of(const Signature& s) {
  switch (info(s.op).verb) {
    case Verb::start:
    case Verb::finish:
      return start_ns;
    case Verb::post_send:
    case Verb::post_receive:
    case Verb::prepare:
    case Verb::launch:
      return post_ns;
    default:
      return call_ns + s.bytes / bytes_per_ns;
  }
}

// ---- patterns ----

void pingpong(const Job& job, Script& script) {
  const std::int32_t partner = script.process() ^ 1;
  if (partner >= job.processes) return;  // the last one of an odd number has nobody to play with
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    if (script.process() < partner) script.send(partner, 0, job.bytes);
    script.receive(partner, 0, job.bytes);
    if (script.process() > partner) script.send(partner, 0, job.bytes);
  }
}

void ring(const Job& job, Script& script) {
  const std::int32_t right = script.process() + 1 == job.processes ? 0 : script.process() + 1;
  const std::int32_t left = script.process() == 0 ? job.processes - 1 : script.process() - 1;
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    script.exchange(right, job.bytes, left, job.bytes, 0);
  }
}

/// The neighbours of a process in the periodic grid, whose last dimension varies fastest: down and up in
/// each dimension.
std::array<std::array<std::int32_t, 2>, 3> neighbours(const Job& job, std::int32_t process) {
  std::array<std::array<std::int32_t, 2>, 3> found{};
  std::int32_t stride = 1;
  for (std::size_t d = job.grid.size(); d-- > 0;) {
    const std::int32_t side = job.grid[d], at = process / stride % side;
    found[d][0] = process + ((at == 0 ? side : at) - 1 - at) * stride;
    found[d][1] = process + ((at + 1 == side ? 0 : at + 1) - at) * stride;
    stride *= side;
  }
  return found;
}

/// The tag is the direction in which a message travels: it keeps apart the two messages between neighbours
/// that meet on both sides, where a dimension has one or two processes.
std::int32_t direction(std::size_t dimension, std::size_t up) {
  return static_cast<std::int32_t>(2 * dimension + up);
}

void halo_step(const Job& job, Script& script) {
  const auto dimensions = static_cast<std::size_t>(job.pattern->dimensions);
  const auto around = neighbours(job, script.process());
  for (std::size_t d = 0; d < dimensions; d++)
    for (const std::size_t up : {0U, 1U}) script.post_receive(around[d][1 - up], direction(d, up), job.bytes);
  for (std::size_t d = 0; d < dimensions; d++)
    for (const std::size_t up : {0U, 1U}) script.post_send(around[d][up], direction(d, up), job.bytes);
  script.complete_all();
}

void halo(const Job& job, Script& script) {
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    halo_step(job, script);
  }
}

constexpr std::int64_t number_bytes = 8;

void sum_of_number(Script& script) {
  script.collective(Op::Allreduce, trace::world_id, trace::nobody, number_bytes);
}

/// As solvers do that watch a norm.
void halo_allreduce(const Job& job, Script& script) {
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    halo_step(job, script);
    sum_of_number(script);
  }
}

/// One message in each direction after another: what came in one may have to go on in the next.
void swaps(const Job& job, Script& script) {
  const auto around = neighbours(job, script.process());
  for (std::size_t d = 0; d < around.size(); d++)
    for (const std::size_t up : {0U, 1U}) {
      script.post_receive(around[d][1 - up], direction(d, up), job.bytes);
      script.send(around[d][up], direction(d, up), job.bytes);
      script.complete(Op::Wait, 1);
    }
}

/// As in LAMMPS: positions forth, forces back, and every tenth step a question to all, whether atoms have
/// moved so far that neighbours must be found anew.
void molecular_dynamics(const Job& job, Script& script) {
  for (std::int64_t step = 0; step < job.steps; step++) {
    swaps(job, script);
    script.compute(step);
    swaps(job, script);
    if (step % 10 == 9) sum_of_number(script);
  }
}

template <Op op>
void collective(const Job& job, Script& script) {
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    script.collective(op, trace::world_id, trace::nobody, job.bytes);
  }
}

void worker(const Job& job, Script& script) {
  for (std::int64_t step = 0; step < job.steps; step++) {
    script.compute(step);
    script.send(0, 0, job.bytes);
    script.receive(0, 1, job.bytes);
  }
}

/// Answers the workers in the order in which their computations of the step end.
void master(const Job& job, Script& script) {
  std::vector<std::pair<std::int64_t, std::int32_t>> arrivals(static_cast<std::size_t>(job.processes - 1));
  for (std::int64_t step = 0; step < job.steps; step++) {
    for (std::int32_t w = 1; w < job.processes; w++)
      arrivals[static_cast<std::size_t>(w - 1)] = {computation_of(job, w, step), w};
    std::ranges::sort(arrivals);
    for (const auto& [time, w] : arrivals) {
      script.receive(w, 0, job.bytes, trace::any_source);
      script.send(w, 1, job.bytes);
    }
  }
}

void master_worker(const Job& job, Script& script) {
  if (script.process() == 0)
    master(job, script);
  else
    worker(job, script);
}

constexpr Pattern table[] = {
    {"pingpong", "MPI_Send and MPI_Recv between processes 2k and 2k+1", 2, 0, pingpong, nullptr},
    {"ring", "MPI_Sendrecv to the right", 1, 0, ring, nullptr},
    {"halo2d", "non-blocking exchange with 4 neighbours in a periodic grid", 1, 2, halo, nullptr},
    {"halo3d", "non-blocking exchange with 6 neighbours in a periodic grid", 1, 3, halo, nullptr},
    {"halo3d-allreduce", "the same, and MPI_Allreduce of 8 bytes in each step", 1, 3, halo_allreduce,
     nullptr},
    {"molecular", "as molecular dynamics: 12 messages in turn, and every tenth step MPI_Allreduce of 8 bytes",
     1, 3, molecular_dynamics, nullptr},
    {"alltoall", "MPI_Alltoall", 1, 0, collective<Op::Alltoall>, nullptr},
    {"allreduce", "MPI_Allreduce", 1, 0, collective<Op::Allreduce>, nullptr},
    {"master-worker", "process 0 answers the others, receiving from MPI_ANY_SOURCE", 2, 0, master_worker,
     nullptr},
    {"random", "random messages, collectives and communicators", 1, 0, random_steps, random_communicators},
};

}  // namespace

Script::Script(const Job& job, trace::Encoder& encoder, std::int32_t process)
    : job_(job), encoder_(encoder), process_(process), gap_(small_gap_ns) {}

void Script::compute(std::int64_t step) { gap_ = computation_of(job_, process_, step); }

void Script::call(const Signature& s) {
  encoder_.add(s, gap_, duration_of(s));
  gap_ = small_gap_ns;
}

void Script::send(std::int32_t peer, std::int32_t tag, std::int64_t bytes) {
  call({.op = Op::Send, .peer = peer, .tag = tag, .bytes = bytes});
}

void Script::receive(std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::uint16_t flags) {
  call({.op = Op::Recv, .flags = flags, .peer = peer, .tag = tag, .bytes = bytes});
}

void Script::exchange(std::int32_t to, std::int64_t sent, std::int32_t from, std::int64_t received,
                      std::int32_t tag) {
  const std::array<std::int64_t, 3> receive_half{from, tag, received};
  call({.op = Op::Sendrecv, .peer = to, .tag = tag, .bytes = sent, .items = receive_half});
}

void Script::collective(Op op, std::int32_t communicator, std::int32_t root, std::int64_t bytes,
                        std::span<const std::int64_t> items) {
  call({.op = op, .communicator = communicator, .peer = root, .bytes = bytes, .items = items});
}

void Script::post(Op op, std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::int32_t communicator,
                  std::uint16_t flags) {
  call({.op = op,
        .flags = flags,
        .communicator = communicator,
        .peer = peer,
        .tag = tag,
        .request = posted_,
        .bytes = bytes});
  posted_++;
}

void Script::post_send(std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::int32_t communicator) {
  post(Op::Isend, peer, tag, bytes, communicator, 0);
}

void Script::post_receive(std::int32_t peer, std::int32_t tag, std::int64_t bytes, std::int32_t communicator,
                          std::uint16_t flags) {
  post(Op::Irecv, peer, tag, bytes, communicator, flags);
}

void Script::start(StartMode mode, std::int32_t peer, std::int32_t tag, std::int64_t bytes,
                   std::int32_t communicator, std::uint16_t flags) {
  constexpr Op makes[] = {Op::Recv_init, Op::Send_init, Op::Ssend_init};
  call({.op = makes[mode],
        .flags = flags,
        .communicator = communicator,
        .peer = (flags & trace::any_source) != 0 ? trace::anybody : peer,
        .tag = tag,
        .bytes = bytes});
  const std::array<std::int64_t, start_words> words{mode, communicator, peer, tag, bytes, posted_, flags};
  call({.op = Op::Start, .items = words});
  posted_++;
}

void Script::complete(Op op, std::int32_t count) {
  slots_.resize(static_cast<std::size_t>(count));
  std::iota(slots_.begin(), slots_.end(), std::int64_t{completed_});
  call({.op = op, .items = slots_});
  completed_ += count;
  if (open() == 0) posted_ = completed_ = 0;
}

std::span<const Pattern> patterns() { return table; }

const Pattern* find_pattern(std::string_view name) {
  const auto it = std::ranges::find(table, name, &Pattern::name);
  return it == std::end(table) ? nullptr : it;
}

std::array<std::int32_t, 3> balanced_grid(std::int32_t processes, int dimensions) {
  std::array<std::int32_t, 3> best{processes, 1, 1};
  const auto shape = [](const std::array<std::int32_t, 3>& g) {
    return std::pair(std::int64_t{g[0]} + g[1] + g[2], g[0]);
  };
  const std::int32_t most_layers = dimensions < 3 ? 1 : processes;
  for (std::int32_t c = 1; c <= most_layers && std::int64_t{c} * c * c <= processes; c++) {
    if (processes % c != 0) continue;
    const std::int32_t layer = processes / c;
    for (std::int32_t b = c; std::int64_t{b} * b <= layer; b++)
      if (const std::array<std::int32_t, 3> g{layer / b, b, c}; layer % b == 0 && shape(g) < shape(best))
        best = g;
  }
  return best;
}

std::int64_t computation_of(const Job& job, std::int32_t process, std::int64_t step) {
  const std::uint64_t h = hash(job.seed, process, step);
  const double deviation = static_cast<double>(h >> 11) * 0x1p-52 - 1;  // -1 to 1
  const auto ns = static_cast<double>(job.compute.count()) / 1000;
  return std::max<std::int64_t>(0, std::llround(ns * (1 + job.imbalance * deviation)));
}

void prepare(Job& job) {
  if (job.pattern->dimensions > 0) job.grid = balanced_grid(job.processes, job.pattern->dimensions);
}

void run_process(const Job& job, trace::Encoder& encoder, std::int32_t process) {
  encoder.begin(process);
  Script script(job, encoder, process);
  script.call({.op = Op::Init});
  job.pattern->run(job, script);
  script.call({.op = Op::Finalize});
  encoder.end();
}

std::vector<trace::Members> communicators_of(const Job& job) {
  std::vector<trace::Members> all{trace::Members::world(job.processes), {}};
  if (job.pattern->communicators) job.pattern->communicators(job, all);
  return all;
}

}  // namespace simreplay::simtrace
