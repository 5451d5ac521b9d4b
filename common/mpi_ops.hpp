#pragma once
// The table of MPI operations: one row each, from which capture, trace, replay and reports draw.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace simreplay {

/// What an operation means to the simulator. Every MPI function is one of these few.
enum class Verb : std::uint8_t {
  start,         // MPI_Init: the process enters the parallel run
  finish,        // MPI_Finalize, MPI_Abort: it leaves
  send,          // blocking send
  receive,       // blocking receive
  exchange,      // MPI_Sendrecv: a send and a receive in one call
  post_send,     // starts a send, opens a request
  post_receive,  // starts a receive, opens a request
  complete,      // closes requests (waits and successful tests); a failed test closes none
  release,       // MPI_Request_free
  cancel,        // MPI_Cancel
  probe,         // looks for a message without taking it
  collective,    // involves a whole communicator
  create,        // makes communicators (collective on the parent)
  local,         // no communication
};

enum class Op : std::uint16_t {
  Init, Init_thread, Finalize, Abort,
  Send, Bsend, Ssend, Rsend, Recv, Sendrecv, Sendrecv_replace,
  Isend, Ibsend, Issend, Irsend, Irecv,
  Wait, Waitany, Waitsome, Waitall, Test, Testany, Testsome, Testall,
  Request_free, Cancel,
  Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv,
  Barrier, Bcast, Gather, Gatherv, Scatter, Scatterv, Allgather, Allgatherv,
  Alltoall, Alltoallv, Alltoallw, Reduce, Allreduce, Reduce_scatter, Reduce_scatter_block, Scan, Exscan,
  Comm_dup, Comm_dup_with_info, Comm_split, Comm_split_type, Comm_create, Comm_create_group,
  Cart_create, Cart_sub, Graph_create, Dist_graph_create, Dist_graph_create_adjacent,
  Intercomm_create, Intercomm_merge, Comm_free,
  Exit,
  count
};

/// What the `items` list of a call holds (docs/trace-format.md).
enum class Items : std::uint8_t {
  none,
  requests,        // request slots closed by the call, in the order of completion
  receive_half,    // source (world rank), tag, bytes of the receive of an exchange
  blocks_at_root,  // bytes per member, at the root only
  blocks,          // bytes per member, at every member
  blocks_twice,    // bytes sent to each member, then bytes received from each
  communicator,    // the new communicator, if this process is in it
};

struct OpInfo {
  Op op;
  std::string_view name;
  Verb verb;
  bool rooted;       // `peer` is the root of a collective
  bool reduces;      // combines values
  bool synchronous;  // the send ends when the receive has started
  Items items;
};

// clang-format off
inline constexpr std::array<OpInfo, static_cast<std::size_t>(Op::count)> mpi_ops{{
  // op                        name                              verb              root   reduce sync   items
  {Op::Init,                   "MPI_Init",                       Verb::start,      false, false, false, Items::none},
  {Op::Init_thread,            "MPI_Init_thread",                Verb::start,      false, false, false, Items::none},
  {Op::Finalize,               "MPI_Finalize",                   Verb::finish,     false, false, false, Items::none},
  {Op::Abort,                  "MPI_Abort",                      Verb::finish,     false, false, false, Items::none},
  {Op::Send,                   "MPI_Send",                       Verb::send,       false, false, false, Items::none},
  {Op::Bsend,                  "MPI_Bsend",                      Verb::send,       false, false, false, Items::none},
  {Op::Ssend,                  "MPI_Ssend",                      Verb::send,       false, false, true,  Items::none},
  {Op::Rsend,                  "MPI_Rsend",                      Verb::send,       false, false, false, Items::none},
  {Op::Recv,                   "MPI_Recv",                       Verb::receive,    false, false, false, Items::none},
  {Op::Sendrecv,               "MPI_Sendrecv",                   Verb::exchange,   false, false, false, Items::receive_half},
  {Op::Sendrecv_replace,       "MPI_Sendrecv_replace",           Verb::exchange,   false, false, false, Items::receive_half},
  {Op::Isend,                  "MPI_Isend",                      Verb::post_send,  false, false, false, Items::none},
  {Op::Ibsend,                 "MPI_Ibsend",                     Verb::post_send,  false, false, false, Items::none},
  {Op::Issend,                 "MPI_Issend",                     Verb::post_send,  false, false, true,  Items::none},
  {Op::Irsend,                 "MPI_Irsend",                     Verb::post_send,  false, false, false, Items::none},
  {Op::Irecv,                  "MPI_Irecv",                      Verb::post_receive, false, false, false, Items::none},
  {Op::Wait,                   "MPI_Wait",                       Verb::complete,   false, false, false, Items::requests},
  {Op::Waitany,                "MPI_Waitany",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Waitsome,               "MPI_Waitsome",                   Verb::complete,   false, false, false, Items::requests},
  {Op::Waitall,                "MPI_Waitall",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Test,                   "MPI_Test",                       Verb::complete,   false, false, false, Items::requests},
  {Op::Testany,                "MPI_Testany",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Testsome,               "MPI_Testsome",                   Verb::complete,   false, false, false, Items::requests},
  {Op::Testall,                "MPI_Testall",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Request_free,           "MPI_Request_free",               Verb::release,    false, false, false, Items::requests},
  {Op::Cancel,                 "MPI_Cancel",                     Verb::cancel,     false, false, false, Items::requests},
  {Op::Probe,                  "MPI_Probe",                      Verb::probe,      false, false, false, Items::none},
  {Op::Iprobe,                 "MPI_Iprobe",                     Verb::probe,      false, false, false, Items::none},
  {Op::Mprobe,                 "MPI_Mprobe",                     Verb::probe,      false, false, false, Items::none},
  {Op::Improbe,                "MPI_Improbe",                    Verb::probe,      false, false, false, Items::none},
  {Op::Mrecv,                  "MPI_Mrecv",                      Verb::receive,    false, false, false, Items::none},
  {Op::Imrecv,                 "MPI_Imrecv",                     Verb::post_receive, false, false, false, Items::none},
  {Op::Barrier,                "MPI_Barrier",                    Verb::collective, false, false, false, Items::none},
  {Op::Bcast,                  "MPI_Bcast",                      Verb::collective, true,  false, false, Items::none},
  {Op::Gather,                 "MPI_Gather",                     Verb::collective, true,  false, false, Items::none},
  {Op::Gatherv,                "MPI_Gatherv",                    Verb::collective, true,  false, false, Items::blocks_at_root},
  {Op::Scatter,                "MPI_Scatter",                    Verb::collective, true,  false, false, Items::none},
  {Op::Scatterv,               "MPI_Scatterv",                   Verb::collective, true,  false, false, Items::blocks_at_root},
  {Op::Allgather,              "MPI_Allgather",                  Verb::collective, false, false, false, Items::none},
  {Op::Allgatherv,             "MPI_Allgatherv",                 Verb::collective, false, false, false, Items::blocks},
  {Op::Alltoall,               "MPI_Alltoall",                   Verb::collective, false, false, false, Items::none},
  {Op::Alltoallv,              "MPI_Alltoallv",                  Verb::collective, false, false, false, Items::blocks_twice},
  {Op::Alltoallw,              "MPI_Alltoallw",                  Verb::collective, false, false, false, Items::blocks_twice},
  {Op::Reduce,                 "MPI_Reduce",                     Verb::collective, true,  true,  false, Items::none},
  {Op::Allreduce,              "MPI_Allreduce",                  Verb::collective, false, true,  false, Items::none},
  {Op::Reduce_scatter,         "MPI_Reduce_scatter",             Verb::collective, false, true,  false, Items::blocks},
  {Op::Reduce_scatter_block,   "MPI_Reduce_scatter_block",       Verb::collective, false, true,  false, Items::none},
  {Op::Scan,                   "MPI_Scan",                       Verb::collective, false, true,  false, Items::none},
  {Op::Exscan,                 "MPI_Exscan",                     Verb::collective, false, true,  false, Items::none},
  {Op::Comm_dup,               "MPI_Comm_dup",                   Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_dup_with_info,     "MPI_Comm_dup_with_info",         Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_split,             "MPI_Comm_split",                 Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_split_type,        "MPI_Comm_split_type",            Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_create,            "MPI_Comm_create",                Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_create_group,      "MPI_Comm_create_group",          Verb::create,     false, false, false, Items::communicator},
  {Op::Cart_create,            "MPI_Cart_create",                Verb::create,     false, false, false, Items::communicator},
  {Op::Cart_sub,               "MPI_Cart_sub",                   Verb::create,     false, false, false, Items::communicator},
  {Op::Graph_create,           "MPI_Graph_create",               Verb::create,     false, false, false, Items::communicator},
  {Op::Dist_graph_create,      "MPI_Dist_graph_create",          Verb::create,     false, false, false, Items::communicator},
  {Op::Dist_graph_create_adjacent, "MPI_Dist_graph_create_adjacent", Verb::create, false, false, false, Items::communicator},
  {Op::Intercomm_create,       "MPI_Intercomm_create",           Verb::create,     false, false, false, Items::communicator},
  {Op::Intercomm_merge,        "MPI_Intercomm_merge",            Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_free,              "MPI_Comm_free",                  Verb::local,      false, false, false, Items::none},
  // Not a call: the process leaves, some time after MPI_Finalize.
  {Op::Exit,                   "(exit)",                         Verb::finish,     false, false, false, Items::none},
}};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < mpi_ops.size(); i++)
    if (static_cast<std::size_t>(mpi_ops[i].op) != i) return false;
  return true;
}(), "the rows of mpi_ops stand in the order of Op");

constexpr const OpInfo& info(Op op) { return mpi_ops[static_cast<std::size_t>(op)]; }

constexpr std::optional<Op> find_op(std::string_view name) {
  for (const OpInfo& row : mpi_ops)
    if (row.name == name) return row.op;
  return std::nullopt;
}

}  // namespace simreplay
