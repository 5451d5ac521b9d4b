#include "replay/collectives/inter.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

namespace simreplay::collectives {
namespace {

constexpr std::int64_t count_bytes = sizeof(int);  // v forms tell each other their counts

std::int64_t sum(std::span<const std::int64_t> blocks) { return std::reduce(blocks.begin(), blocks.end()); }

/// The steps of which the operations are made.
class Steps {
 public:
  Steps(const InterCall& c, const WithinGroup& within, Rounds& out) : c_(c), within_(within), out_(out) {}

  bool is_leader() const { return c_.rank == 0; }
  void local(Op op, std::int64_t bytes, std::span<const std::int64_t> blocks = {}) {
    if (c_.size > 1) within_(op, {c_.rank, c_.size, 0, bytes, blocks, c_.commutative}, out_);
  }
  void leaders_exchange(std::int64_t sent, std::int64_t received) {
    if (is_leader()) out_.exchange(opposite(0), sent, opposite(0), received);
  }
  void to_remote(int rank, std::int64_t bytes) { out_.send(opposite(rank), bytes); }
  void from_remote(int rank, std::int64_t bytes) { out_.receive(opposite(rank), bytes); }
  int opposite(int rank) const { return c_.size + rank; }

 private:
  const InterCall& c_;
  const WithinGroup& within_;
  Rounds& out_;
};

using Role = InterCall::Role;

void allreduce(const InterCall& c, Steps& s, Rounds&) {
  s.local(Op::Reduce, c.bytes);
  s.leaders_exchange(c.bytes, c.bytes);
  s.local(Op::Bcast, c.bytes);
}

void barrier(const InterCall& c, Steps& s, Rounds& out) {
  InterCall one = c;
  one.bytes = count_bytes;
  allreduce(one, s, out);
}

void bcast(const InterCall& c, Steps& s, Rounds&) {
  if (c.role == Role::root) return s.to_remote(0, c.bytes);
  if (c.role == Role::beside_root) return;
  if (s.is_leader()) s.from_remote(c.root, c.bytes);
  s.local(Op::Bcast, c.bytes);
}

/// What the root gets or gives comes and goes through the leader opposite.
std::int64_t all_blocks(const InterCall& c) {
  const int members = c.role == Role::root ? c.remote_size : c.size;
  return c.blocks.empty() ? c.bytes * members : sum(c.blocks);
}

void gather(const InterCall& c, Steps& s, Rounds&) {
  if (c.role == Role::root) return s.from_remote(0, all_blocks(c));
  if (c.role == Role::beside_root) return;
  s.local(Op::Gather, c.bytes);
  if (s.is_leader()) s.to_remote(c.root, all_blocks(c));
}

void scatter(const InterCall& c, Steps& s, Rounds&) {
  if (c.role == Role::root) return s.to_remote(0, all_blocks(c));
  if (c.role == Role::beside_root) return;
  if (s.is_leader()) s.from_remote(c.root, all_blocks(c));
  s.local(Op::Scatter, c.bytes);
}

void gatherv(const InterCall& c, Steps& s, Rounds& out) {
  if (c.role == Role::remote) s.local(Op::Gather, count_bytes);
  gather(c, s, out);
}

void scatterv(const InterCall& c, Steps& s, Rounds& out) {
  if (c.role == Role::root) s.to_remote(0, count_bytes * c.remote_size);
  if (c.role == Role::remote && s.is_leader()) s.from_remote(c.root, count_bytes * c.size);
  scatter(c, s, out);
}

void reduce(const InterCall& c, Steps& s, Rounds&) {
  if (c.role == Role::root) return s.from_remote(0, c.bytes);
  if (c.role == Role::beside_root) return;
  s.local(Op::Reduce, c.bytes);
  if (s.is_leader()) s.to_remote(c.root, c.bytes);
}

void allgather(const InterCall& c, Steps& s, Rounds&) {
  const std::int64_t remote = c.blocks.empty() ? c.bytes * c.remote_size : sum(c.blocks);
  s.local(Op::Gather, c.bytes);
  s.leaders_exchange(c.bytes * c.size, remote);
  s.local(Op::Bcast, remote);
}

void reduce_scatter(const InterCall& c, Steps& s, Rounds&) {
  const std::int64_t all = all_blocks(c);
  s.local(Op::Reduce, all);
  s.leaders_exchange(all, all);
  s.local(Op::Scatter, c.bytes);
}

/// Blocks of the v forms are those sent to each, then those received from each.
void alltoall(const InterCall& c, Steps& s, Rounds& out) {
  const auto n = static_cast<std::size_t>(c.remote_size);
  const auto sent = [&](std::size_t i) { return c.blocks.empty() ? c.bytes : c.blocks[i]; };
  const auto received = [&](std::size_t i) { return c.blocks.empty() ? c.bytes : c.blocks[n + i]; };
  for (std::size_t i = 0; i < n; i++) out.start_receive(s.opposite(static_cast<int>(i)), received(i));
  for (std::size_t i = 0; i < n; i++) out.start_send(s.opposite(static_cast<int>(i)), sent(i));
  out.finish();
}

struct Row {
  Op op;
  void (*make)(const InterCall&, Steps&, Rounds&);
};
constexpr Row rows[] = {
    {Op::Barrier, barrier},
    {Op::Bcast, bcast},
    {Op::Gather, gather},
    {Op::Gatherv, gatherv},
    {Op::Scatter, scatter},
    {Op::Scatterv, scatterv},
    {Op::Allgather, allgather},
    {Op::Allgatherv, allgather},
    {Op::Alltoall, alltoall},
    {Op::Alltoallv, alltoall},
    {Op::Alltoallw, alltoall},
    {Op::Reduce, reduce},
    {Op::Allreduce, allreduce},
    {Op::Reduce_scatter, reduce_scatter},
    {Op::Reduce_scatter_block, reduce_scatter},
};

}  // namespace

void between_groups(Op op, const InterCall& call, const WithinGroup& within, Rounds& out) {
  for (const Row& row : rows)
    if (row.op == op) {
      Steps steps(call, within, out);
      return row.make(call, steps, out);
    }
  throw std::invalid_argument(fmt::format("{} is not allowed on an intercommunicator", info(op).name));
}

}  // namespace simreplay::collectives
