#include "capture/simtrace/random_pattern.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "capture/simtrace/hash.hpp"

namespace simreplay::simtrace {
namespace {

// The communicators: a copy of MPI_COMM_WORLD, then one of each colour.
constexpr std::int32_t copy_id = 2;
constexpr std::int32_t first_colour_id = 3;
std::int32_t colours(const Job& job) { return std::clamp(job.processes / 3, 1, 4); }

/// What a random number is for, so that decisions are independent of each other.
enum Purpose : int {
  rounds,
  permutation,
  presence,
  size,
  tag,
  wildcard,
  persistence,
  completion,
  kind,
  operation,
  root,
  block
};

/// A random permutation of the processes, x -> (factor * x + shift) mod n, that every process can invert:
/// so each knows who sends to it without asking.
class Permutation {
 public:
  Permutation(std::uint64_t h, std::int32_t processes) : n_(processes) {
    factor_ = static_cast<std::int64_t>(h % static_cast<std::uint64_t>(n_));
    while (std::gcd(factor_, n_) != 1) factor_++;
    shift_ = static_cast<std::int64_t>(scramble(h) % static_cast<std::uint64_t>(n_));
  }
  std::int32_t to(std::int32_t from) const {
    return static_cast<std::int32_t>((factor_ * from + shift_) % n_);
  }
  std::int32_t from(std::int32_t to) const {
    return static_cast<std::int32_t>((to + n_ - shift_) % n_ * inverse(factor_ % n_) % n_);
  }

 private:
  std::int64_t inverse(std::int64_t a) const {  // extended Euclid
    std::int64_t r0 = n_, r1 = a, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const std::int64_t q = r0 / r1;
      r0 = std::exchange(r1, r0 - q * r1);
      t0 = std::exchange(t1, t0 - q * t1);
    }
    return (t0 % n_ + n_) % n_;
  }

  std::int64_t n_, factor_ = 1, shift_ = 0;
};

/// Random messages of one step of one process.
class Step {
 public:
  Step(const Job& job, Script& script, std::int64_t step) : job_(job), script_(script), step_(step) {}

  void messages() const;
  void complete() const;
  void together() const;

 private:
  template <class... Ids>
  std::uint64_t draw(Purpose purpose, Ids... ids) const {
    return hash(job_.seed, static_cast<int>(purpose), step_, ids...);
  }
  template <class... Ids>
  std::int64_t bytes(Purpose purpose, Ids... ids) const {
    return static_cast<std::int64_t>(draw(purpose, ids...) % static_cast<std::uint64_t>(2 * job_.bytes + 1));
  }
  Permutation along(int round) const { return {draw(permutation, round), job_.processes}; }
  bool sends(int round, std::int32_t process) const { return draw(presence, round, process) % 4 != 0; }
  std::int32_t tag_of(int round) const { return static_cast<std::int32_t>(draw(tag, round) % 3); }
  std::int32_t communicator_of(int round) const { return round % 2 == 0 ? trace::world_id : copy_id; }
  void receive(int round, std::int32_t source) const;
  void send(int round, std::int32_t destination) const;
  void exchange() const;
  void collective(std::int32_t communicator, std::int32_t first, std::int32_t stride) const;
  std::vector<std::int64_t> blocks(Items shape, std::int32_t members, std::int32_t own, bool is_root) const;

  const Job& job_;
  Script& script_;
  std::int64_t step_;
};

/// All receives are posted before any send: nothing can wait in a circle.
void Step::messages() const {
  const int n = 1 + static_cast<int>(draw(rounds) % 4);
  const std::int32_t self = script_.process();
  for (int round = 0; round < n; round++)
    if (const std::int32_t source = along(round).from(self); sends(round, source)) receive(round, source);
  for (int round = 0; round < n; round++)
    if (sends(round, self)) send(round, along(round).to(self));
}

void Step::receive(int round, std::int32_t source) const {
  const std::int32_t self = script_.process();
  const auto flags = static_cast<std::uint16_t>(draw(wildcard, round, self) % 8 == 0 ? trace::any_source : 0);
  const std::int64_t n = bytes(size, round, source);
  if (draw(persistence, round, self, 0) % 4 == 0)
    script_.start(starts_receive, source, tag_of(round), n, communicator_of(round), flags);
  else
    script_.post_receive(source, tag_of(round), n, communicator_of(round), flags);
}

void Step::send(int round, std::int32_t destination) const {
  const std::int32_t self = script_.process();
  const std::int64_t n = bytes(size, round, self);
  switch (draw(persistence, round, self, 1) % 8) {
    case 0:
      return script_.start(starts_send, destination, tag_of(round), n, communicator_of(round));
    case 1:
      return script_.start(starts_synchronous_send, destination, tag_of(round), n, communicator_of(round));
    default:
      return script_.post_send(destination, tag_of(round), n, communicator_of(round));
  }
}

void Step::complete() const {
  if (script_.open() == 0) return;
  switch (draw(completion, script_.process()) % 4) {
    case 0:
      while (script_.open() > 0) script_.complete(Op::Wait, 1);
      break;
    case 1:
      while (script_.open() > 0) script_.complete(Op::Waitany, 1);
      break;
    case 2:
      script_.complete(Op::Waitsome, (script_.open() + 1) / 2);
      [[fallthrough]];
    default:
      if (script_.open() > 0) script_.complete_all();
  }
}

void Step::exchange() const {
  constexpr int round = 1'000;  // a permutation of its own
  const std::int32_t self = script_.process(), from = along(round).from(self);
  script_.exchange(along(round).to(self), bytes(size, round, self), from, bytes(size, round, from),
                   tag_of(round));
}

constexpr Op operations[] = {Op::Barrier,
                             Op::Bcast,
                             Op::Reduce,
                             Op::Allreduce,
                             Op::Gather,
                             Op::Scatter,
                             Op::Allgather,
                             Op::Alltoall,
                             Op::Scan,
                             Op::Exscan,
                             Op::Reduce_scatter_block,
                             Op::Gatherv,
                             Op::Scatterv,
                             Op::Allgatherv,
                             Op::Alltoallv,
                             Op::Reduce_scatter};

/// The lists of bytes per member grow with the square of the members: only for small communicators.
constexpr std::int32_t most_members_of_lists = 64;

std::vector<std::int64_t> Step::blocks(Items shape, std::int32_t members, std::int32_t own,
                                       bool is_root) const {
  std::vector<std::int64_t> list;
  if (shape == Items::none || (shape == Items::blocks_at_root && !is_root)) return list;
  const bool twice = shape == Items::blocks_twice;
  for (std::int32_t m = 0; m < members; m++)
    list.push_back(twice ? bytes(block, own, m) : bytes(block, m, m));
  for (std::int32_t m = 0; twice && m < members; m++) list.push_back(bytes(block, m, own));
  return list;
}

/// Members are first, first + stride, ... below the number of processes.
void Step::collective(std::int32_t communicator, std::int32_t first, std::int32_t stride) const {
  const std::int32_t members = (job_.processes - first + stride - 1) / stride;
  Op op = operations[draw(operation, communicator) % std::size(operations)];
  if (info(op).items != Items::none && members > most_members_of_lists) op = Op::Allreduce;
  const OpInfo& row = info(op);
  const auto root_rank =
      static_cast<std::int32_t>(draw(root, communicator) % static_cast<std::uint64_t>(members));
  const std::int32_t own = (script_.process() - first) / stride;
  const std::vector<std::int64_t> items = blocks(row.items, members, own, own == root_rank);
  std::int64_t n = op == Op::Barrier ? 0 : bytes(size, communicator);
  if (row.items == Items::blocks_twice)
    n = std::accumulate(items.begin(), items.begin() + members, std::int64_t{0});
  else if (row.items != Items::none)
    n = bytes(block, own, own);
  script_.collective(op, communicator, row.rooted ? first + root_rank * stride : trace::nobody, n, items);
}

void Step::together() const {
  const std::int32_t colour = script_.process() % colours(job_);
  switch (draw(kind) % 4) {
    case 0:
      return exchange();
    case 1:
      return collective(trace::world_id, 0, 1);
    case 2:
      return collective(first_colour_id + colour, colour, colours(job_));
    default:
      return;
  }
}

void create(Script& script, Op op, std::int32_t id) {
  const std::int64_t made = id;
  script.collective(op, trace::world_id, trace::nobody, 0, std::span(&made, 1));
}

}  // namespace

void random_communicators(const Job& job, std::vector<trace::Members>& communicators) {
  communicators.push_back(trace::Members::world(job.processes));
  for (std::int32_t colour = 0; colour < colours(job); colour++) {
    const std::int32_t members = (job.processes - colour + colours(job) - 1) / colours(job);
    communicators.push_back({{{colour, members > 1 ? colours(job) : 1, members}}});
  }
}

void random_steps(const Job& job, Script& script) {
  create(script, Op::Comm_dup, copy_id);
  create(script, Op::Comm_split, first_colour_id + script.process() % colours(job));
  for (std::int64_t s = 0; s < job.steps; s++) {
    script.compute(s);
    const Step step(job, script, s);
    step.messages();
    step.complete();
    step.together();
  }
  script.call({.op = Op::Comm_free, .communicator = copy_id});
}

}  // namespace simreplay::simtrace
