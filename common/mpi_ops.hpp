#pragma once
// The table of MPI operations: one row each, from which capture, trace, replay and reports draw.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace simreplay {

/// What an operation means to the simulator. Every MPI function is one of these few.
enum class Verb : std::uint8_t {
  start,            // MPI_Init: the process enters the parallel run
  finish,           // MPI_Finalize, MPI_Abort: it leaves
  send,             // blocking send
  receive,          // blocking receive
  exchange,         // MPI_Sendrecv: a send and a receive in one call
  post_send,        // starts a send, opens a request
  post_receive,     // starts a receive, opens a request
  complete,         // closes requests (waits and successful tests); a failed test closes none
  release,          // MPI_Request_free
  cancel,           // MPI_Cancel
  probe,            // looks for a message without taking it
  prepare,          // MPI_Send_init: makes a persistent request
  launch,           // MPI_Start: starts the messages of persistent requests
  collective,       // involves a whole communicator
  post_collective,  // starts one, opens a request
  neighbors,        // a collective among the neighbours of a topology
  post_neighbors,   // starts one, opens a request
  create,           // makes communicators or windows (collective on the parent)
  put,              // writes into a window; may open a request
  get,              // reads from one
  update,           // reads and writes
  fence,            // ends the accesses to a window; all its members wait for each other
  expose,           // MPI_Win_post: lets some members access the own window
  access,           // MPI_Win_start: waits for that
  conclude,         // MPI_Win_complete: ends the own accesses
  retract,          // MPI_Win_wait: waits for the end of those of others
  lock,             // MPI_Win_lock: accesses without the target's help begin
  flush,            // MPI_Win_flush, MPI_Win_unlock: the own accesses are done at the target
  flush_local,      // they are done at the origin
  io,               // of a file; may open a request
  connect,          // meets processes of another MPI_COMM_WORLD
  mark,             // not of MPI: a region, counter or timer of the program (docs/metrics.md)
  local,            // no communication; `bytes` says how many in a row were folded into one
};

// clang-format off
// Functions that involve no other process. They are recorded by name and time.
#define SIMREPLAY_LOCAL_MPI_FUNCTIONS(X) \
  X(Add_error_class) X(Add_error_code) X(Add_error_string) X(Address) X(Alloc_mem) X(Attr_delete) \
  X(Attr_get) X(Attr_put) X(Buffer_attach) X(Buffer_detach) X(Cart_coords) X(Cart_get) X(Cart_map) \
  X(Cart_rank) X(Cart_shift) X(Cartdim_get) X(Close_port) X(Comm_call_errhandler) X(Comm_compare) \
  X(Comm_create_errhandler) X(Comm_create_keyval) X(Comm_delete_attr) X(Comm_free_keyval) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_get_info) X(Comm_get_name) X(Comm_get_parent) X(Comm_group) X(Comm_rank) \
  X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_set_info) \
  X(Comm_set_name) X(Comm_size) X(Comm_test_inter) X(Dims_create) X(Dist_graph_neighbors) \
  X(Dist_graph_neighbors_count) X(Errhandler_create) X(Errhandler_free) X(Errhandler_get) X(Errhandler_set) \
  X(Error_class) X(Error_string) X(File_call_errhandler) X(File_create_errhandler) X(File_get_amode) \
  X(File_get_atomicity) X(File_get_byte_offset) X(File_get_errhandler) X(File_get_group) X(File_get_info) \
  X(File_get_position) X(File_get_position_shared) X(File_get_type_extent) X(File_get_view) X(File_seek) \
  X(File_set_atomicity) X(File_set_errhandler) X(File_set_info) X(Finalized) X(Free_mem) X(Get_address) \
  X(Get_count) X(Get_elements) X(Get_elements_x) X(Get_library_version) X(Get_processor_name) \
  X(Get_version) X(Graph_get) X(Graph_map) X(Graph_neighbors) X(Graph_neighbors_count) X(Graphdims_get) \
  X(Grequest_complete) X(Grequest_start) X(Group_compare) X(Group_difference) X(Group_excl) X(Group_free) \
  X(Group_incl) X(Group_intersection) X(Group_range_excl) X(Group_range_incl) X(Group_rank) X(Group_size) \
  X(Group_translate_ranks) X(Group_union) X(Info_create) X(Info_delete) X(Info_dup) X(Info_free) \
  X(Info_get) X(Info_get_nkeys) X(Info_get_nthkey) X(Info_get_valuelen) X(Info_set) X(Initialized) \
  X(Is_thread_main) X(Keyval_create) X(Keyval_free) X(Lookup_name) X(Op_commutative) X(Op_create) \
  X(Op_free) X(Open_port) X(Pack) X(Pack_external) X(Pack_external_size) X(Pack_size) X(Publish_name) \
  X(Query_thread) X(Reduce_local) X(Register_datarep) X(Status_set_cancelled) X(Status_set_elements) \
  X(Status_set_elements_x) X(T_category_changed) X(T_category_get_categories) X(T_category_get_cvars) \
  X(T_category_get_index) X(T_category_get_info) X(T_category_get_num) X(T_category_get_pvars) \
  X(T_cvar_get_index) X(T_cvar_get_info) X(T_cvar_get_num) X(T_cvar_handle_alloc) X(T_cvar_handle_free) \
  X(T_cvar_read) X(T_cvar_write) X(T_enum_get_info) X(T_enum_get_item) X(T_finalize) X(T_init_thread) \
  X(T_pvar_get_index) X(T_pvar_get_info) X(T_pvar_get_num) X(T_pvar_handle_alloc) X(T_pvar_handle_free) \
  X(T_pvar_read) X(T_pvar_readreset) X(T_pvar_reset) X(T_pvar_session_create) X(T_pvar_session_free) \
  X(T_pvar_start) X(T_pvar_stop) X(T_pvar_write) X(Test_cancelled) X(Topo_test) X(Type_commit) \
  X(Type_contiguous) X(Type_create_darray) X(Type_create_f90_complex) X(Type_create_f90_integer) \
  X(Type_create_f90_real) X(Type_create_hindexed) X(Type_create_hindexed_block) X(Type_create_hvector) \
  X(Type_create_indexed_block) X(Type_create_keyval) X(Type_create_resized) X(Type_create_struct) \
  X(Type_create_subarray) X(Type_delete_attr) X(Type_dup) X(Type_extent) X(Type_free) X(Type_free_keyval) \
  X(Type_get_attr) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_extent_x) \
  X(Type_get_name) X(Type_get_true_extent) X(Type_get_true_extent_x) X(Type_hindexed) X(Type_hvector) \
  X(Type_indexed) X(Type_lb) X(Type_match_size) X(Type_set_attr) X(Type_set_name) X(Type_size) \
  X(Type_size_x) X(Type_struct) X(Type_ub) X(Type_vector) X(Unpack) X(Unpack_external) X(Unpublish_name) \
  X(Win_attach) X(Win_call_errhandler) X(Win_create_errhandler) X(Win_create_keyval) X(Win_delete_attr) \
  X(Win_detach) X(Win_free_keyval) X(Win_get_attr) X(Win_get_errhandler) X(Win_get_group) X(Win_get_info) \
  X(Win_get_name) X(Win_set_attr) X(Win_set_errhandler) X(Win_set_info) X(Win_set_name) X(Win_shared_query) \
  X(Win_sync) X(Wtick) X(Wtime)

enum class Op : std::uint16_t {
  Init, Init_thread, Finalize, Abort,
  Send, Bsend, Ssend, Rsend, Recv, Sendrecv, Sendrecv_replace,
  Isend, Ibsend, Issend, Irsend, Irecv,
  Send_init, Bsend_init, Ssend_init, Rsend_init, Recv_init, Start, Startall,
  Wait, Waitany, Waitsome, Waitall, Test, Testany, Testsome, Testall,
  Request_get_status, Request_free, Cancel,
  Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv,
  Barrier, Bcast, Gather, Gatherv, Scatter, Scatterv, Allgather, Allgatherv,
  Alltoall, Alltoallv, Alltoallw, Reduce, Allreduce, Reduce_scatter, Reduce_scatter_block, Scan, Exscan,
  Ibarrier, Ibcast, Igather, Igatherv, Iscatter, Iscatterv, Iallgather, Iallgatherv,
  Ialltoall, Ialltoallv, Ialltoallw, Ireduce, Iallreduce, Ireduce_scatter, Ireduce_scatter_block, Iscan, Iexscan,
  Neighbor_allgather, Neighbor_allgatherv, Neighbor_alltoall, Neighbor_alltoallv, Neighbor_alltoallw,
  Ineighbor_allgather, Ineighbor_allgatherv, Ineighbor_alltoall, Ineighbor_alltoallv, Ineighbor_alltoallw,
  Comm_dup, Comm_dup_with_info, Comm_idup, Comm_split, Comm_split_type, Comm_create, Comm_create_group,
  Cart_create, Cart_sub, Graph_create, Dist_graph_create, Dist_graph_create_adjacent,
  Intercomm_create, Intercomm_merge, Comm_free, Comm_disconnect,
  Comm_accept, Comm_connect, Comm_join, Comm_spawn, Comm_spawn_multiple,
  Win_create, Win_allocate, Win_allocate_shared, Win_create_dynamic, Win_free, Put, Get, Accumulate,
  Get_accumulate, Fetch_and_op, Compare_and_swap, Rput, Rget, Raccumulate, Rget_accumulate, Win_fence,
  Win_post, Win_start, Win_complete, Win_wait, Win_test, Win_lock, Win_lock_all, Win_unlock, Win_unlock_all,
  Win_flush, Win_flush_all, Win_flush_local, Win_flush_local_all,
  File_close, File_delete, File_get_size, File_iread, File_iread_all, File_iread_at, File_iread_at_all,
  File_iread_shared, File_iwrite, File_iwrite_all, File_iwrite_at, File_iwrite_at_all, File_iwrite_shared,
  File_open, File_preallocate, File_read, File_read_all, File_read_all_begin, File_read_all_end, File_read_at,
  File_read_at_all, File_read_at_all_begin, File_read_at_all_end, File_read_ordered, File_read_ordered_begin,
  File_read_ordered_end, File_read_shared, File_seek_shared, File_set_size, File_set_view, File_sync,
  File_write, File_write_all, File_write_all_begin, File_write_all_end, File_write_at, File_write_at_all,
  File_write_at_all_begin, File_write_at_all_end, File_write_ordered, File_write_ordered_begin,
  File_write_ordered_end, File_write_shared,
#define X(name) name,
  SIMREPLAY_LOCAL_MPI_FUNCTIONS(X)
#undef X
  Other,
  Exit,
  // At the end: spools hold these numbers.
  Region_begin, Region_end, Counter_set, Counter_add, Timer_start, Timer_stop, Timer_while,
  count
};

// clang-format on

/// What the `items` list of a call holds (docs/trace-format.md).
enum class Items : std::uint8_t {
  none,
  requests,        // request slots closed by the call, in the order of completion
  receive_half,    // source (world rank), tag, bytes of the receive of an exchange
  blocks_at_root,  // bytes per member, at the root only
  blocks,          // bytes per member, at every member
  blocks_twice,    // bytes sent to each member, then bytes received from each
  communicator,    // the new communicator or window, if this process is in it
  starts,          // the messages that the call starts: 7 words each, see StartWord
  ranks,           // processes of an epoch of a window
  neighbors,       // number of destinations; destination, bytes of each; then source, bytes of each source
  value,           // of a counter, or how much it grows
  counter,         // metric: the timer runs while it is above 0
};

/// Words of one message in a list of starts.
enum StartWord : std::uint8_t {
  start_mode,
  start_communicator,
  start_peer,
  start_tag,
  start_bytes,
  start_request,
  start_flags,
  start_words
};
enum StartMode : std::uint8_t { starts_receive, starts_send, starts_synchronous_send };

struct OpInfo {
  Op op;
  std::string_view name;
  Verb verb;
  bool rooted;       // `peer` is the root of a collective
  bool reduces;      // combines values
  bool synchronous;  // the send ends when the receive has started
  Items items;
  Op like = Op::count;  // the blocking operation of which this is a form
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
  {Op::Send_init,                "MPI_Send_init",                 Verb::prepare,    false, false, false, Items::none},
  {Op::Bsend_init,               "MPI_Bsend_init",                Verb::prepare,    false, false, false, Items::none},
  {Op::Ssend_init,               "MPI_Ssend_init",                Verb::prepare,    false, false, true,  Items::none},
  {Op::Rsend_init,               "MPI_Rsend_init",                Verb::prepare,    false, false, false, Items::none},
  {Op::Recv_init,                "MPI_Recv_init",                 Verb::prepare,    false, false, false, Items::none},
  {Op::Start,                    "MPI_Start",                     Verb::launch,     false, false, false, Items::starts},
  {Op::Startall,                 "MPI_Startall",                  Verb::launch,     false, false, false, Items::starts},
  {Op::Wait,                   "MPI_Wait",                       Verb::complete,   false, false, false, Items::requests},
  {Op::Waitany,                "MPI_Waitany",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Waitsome,               "MPI_Waitsome",                   Verb::complete,   false, false, false, Items::requests},
  {Op::Waitall,                "MPI_Waitall",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Test,                   "MPI_Test",                       Verb::complete,   false, false, false, Items::requests},
  {Op::Testany,                "MPI_Testany",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Testsome,               "MPI_Testsome",                   Verb::complete,   false, false, false, Items::requests},
  {Op::Testall,                "MPI_Testall",                    Verb::complete,   false, false, false, Items::requests},
  {Op::Request_get_status,       "MPI_Request_get_status",        Verb::local,      false, false, false, Items::none},
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
  {Op::Ibarrier,                 "MPI_Ibarrier",                  Verb::post_collective, false, false, false, Items::none, Op::Barrier},
  {Op::Ibcast,                   "MPI_Ibcast",                    Verb::post_collective, true,  false, false, Items::none, Op::Bcast},
  {Op::Igather,                  "MPI_Igather",                   Verb::post_collective, true,  false, false, Items::none, Op::Gather},
  {Op::Igatherv,                 "MPI_Igatherv",                  Verb::post_collective, true,  false, false, Items::blocks_at_root, Op::Gatherv},
  {Op::Iscatter,                 "MPI_Iscatter",                  Verb::post_collective, true,  false, false, Items::none, Op::Scatter},
  {Op::Iscatterv,                "MPI_Iscatterv",                 Verb::post_collective, true,  false, false, Items::blocks_at_root, Op::Scatterv},
  {Op::Iallgather,               "MPI_Iallgather",                Verb::post_collective, false, false, false, Items::none, Op::Allgather},
  {Op::Iallgatherv,              "MPI_Iallgatherv",               Verb::post_collective, false, false, false, Items::blocks, Op::Allgatherv},
  {Op::Ialltoall,                "MPI_Ialltoall",                 Verb::post_collective, false, false, false, Items::none, Op::Alltoall},
  {Op::Ialltoallv,               "MPI_Ialltoallv",                Verb::post_collective, false, false, false, Items::blocks_twice, Op::Alltoallv},
  {Op::Ialltoallw,               "MPI_Ialltoallw",                Verb::post_collective, false, false, false, Items::blocks_twice, Op::Alltoallw},
  {Op::Ireduce,                  "MPI_Ireduce",                   Verb::post_collective, true,  true,  false, Items::none, Op::Reduce},
  {Op::Iallreduce,               "MPI_Iallreduce",                Verb::post_collective, false, true,  false, Items::none, Op::Allreduce},
  {Op::Ireduce_scatter,          "MPI_Ireduce_scatter",           Verb::post_collective, false, true,  false, Items::blocks, Op::Reduce_scatter},
  {Op::Ireduce_scatter_block,    "MPI_Ireduce_scatter_block",     Verb::post_collective, false, true,  false, Items::none, Op::Reduce_scatter_block},
  {Op::Iscan,                    "MPI_Iscan",                     Verb::post_collective, false, true,  false, Items::none, Op::Scan},
  {Op::Iexscan,                  "MPI_Iexscan",                   Verb::post_collective, false, true,  false, Items::none, Op::Exscan},
  {Op::Neighbor_allgather,       "MPI_Neighbor_allgather",        Verb::neighbors,  false, false, false, Items::neighbors},
  {Op::Neighbor_allgatherv,      "MPI_Neighbor_allgatherv",       Verb::neighbors,  false, false, false, Items::neighbors},
  {Op::Neighbor_alltoall,        "MPI_Neighbor_alltoall",         Verb::neighbors,  false, false, false, Items::neighbors},
  {Op::Neighbor_alltoallv,       "MPI_Neighbor_alltoallv",        Verb::neighbors,  false, false, false, Items::neighbors},
  {Op::Neighbor_alltoallw,       "MPI_Neighbor_alltoallw",        Verb::neighbors,  false, false, false, Items::neighbors},
  {Op::Ineighbor_allgather,      "MPI_Ineighbor_allgather",       Verb::post_neighbors, false, false, false, Items::neighbors, Op::Neighbor_allgather},
  {Op::Ineighbor_allgatherv,     "MPI_Ineighbor_allgatherv",      Verb::post_neighbors, false, false, false, Items::neighbors, Op::Neighbor_allgatherv},
  {Op::Ineighbor_alltoall,       "MPI_Ineighbor_alltoall",        Verb::post_neighbors, false, false, false, Items::neighbors, Op::Neighbor_alltoall},
  {Op::Ineighbor_alltoallv,      "MPI_Ineighbor_alltoallv",       Verb::post_neighbors, false, false, false, Items::neighbors, Op::Neighbor_alltoallv},
  {Op::Ineighbor_alltoallw,      "MPI_Ineighbor_alltoallw",       Verb::post_neighbors, false, false, false, Items::neighbors, Op::Neighbor_alltoallw},
  {Op::Comm_dup,               "MPI_Comm_dup",                   Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_dup_with_info,     "MPI_Comm_dup_with_info",         Verb::create,     false, false, false, Items::communicator},
  {Op::Comm_idup,                "MPI_Comm_idup",                 Verb::create,     false, false, false, Items::communicator},
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
  {Op::Comm_disconnect,          "MPI_Comm_disconnect",           Verb::local,      false, false, false, Items::none},
  {Op::Comm_accept,              "MPI_Comm_accept",               Verb::connect,    false, false, false, Items::none},
  {Op::Comm_connect,             "MPI_Comm_connect",              Verb::connect,    false, false, false, Items::none},
  {Op::Comm_join,                "MPI_Comm_join",                 Verb::connect,    false, false, false, Items::none},
  {Op::Comm_spawn,               "MPI_Comm_spawn",                Verb::connect,    false, false, false, Items::none},
  {Op::Comm_spawn_multiple,      "MPI_Comm_spawn_multiple",       Verb::connect,    false, false, false, Items::none},
  {Op::Win_create,               "MPI_Win_create",                Verb::create,     false, false, false, Items::communicator},
  {Op::Win_allocate,             "MPI_Win_allocate",              Verb::create,     false, false, false, Items::communicator},
  {Op::Win_allocate_shared,      "MPI_Win_allocate_shared",       Verb::create,     false, false, false, Items::communicator},
  {Op::Win_create_dynamic,       "MPI_Win_create_dynamic",        Verb::create,     false, false, false, Items::communicator},
  {Op::Win_free,                 "MPI_Win_free",                  Verb::fence,      false, false, false, Items::none},
  {Op::Put,                      "MPI_Put",                       Verb::put,        false, false, false, Items::none},
  {Op::Get,                      "MPI_Get",                       Verb::get,        false, false, false, Items::none},
  {Op::Accumulate,               "MPI_Accumulate",                Verb::put,        false, false, false, Items::none},
  {Op::Get_accumulate,           "MPI_Get_accumulate",            Verb::update,     false, false, false, Items::none},
  {Op::Fetch_and_op,             "MPI_Fetch_and_op",              Verb::update,     false, false, false, Items::none},
  {Op::Compare_and_swap,         "MPI_Compare_and_swap",          Verb::update,     false, false, false, Items::none},
  {Op::Rput,                     "MPI_Rput",                      Verb::put,        false, false, false, Items::none},
  {Op::Rget,                     "MPI_Rget",                      Verb::get,        false, false, false, Items::none},
  {Op::Raccumulate,              "MPI_Raccumulate",               Verb::put,        false, false, false, Items::none},
  {Op::Rget_accumulate,          "MPI_Rget_accumulate",           Verb::update,     false, false, false, Items::none},
  {Op::Win_fence,                "MPI_Win_fence",                 Verb::fence,      false, false, false, Items::none},
  {Op::Win_post,                 "MPI_Win_post",                  Verb::expose,     false, false, false, Items::ranks},
  {Op::Win_start,                "MPI_Win_start",                 Verb::access,     false, false, false, Items::ranks},
  {Op::Win_complete,             "MPI_Win_complete",              Verb::conclude,   false, false, false, Items::ranks},
  {Op::Win_wait,                 "MPI_Win_wait",                  Verb::retract,    false, false, false, Items::ranks},
  {Op::Win_test,                 "MPI_Win_test",                  Verb::retract,    false, false, false, Items::ranks},
  {Op::Win_lock,                 "MPI_Win_lock",                  Verb::lock,       false, false, false, Items::none},
  {Op::Win_lock_all,             "MPI_Win_lock_all",              Verb::lock,       false, false, false, Items::none},
  {Op::Win_unlock,               "MPI_Win_unlock",                Verb::flush,      false, false, false, Items::none},
  {Op::Win_unlock_all,           "MPI_Win_unlock_all",            Verb::flush,      false, false, false, Items::none},
  {Op::Win_flush,                "MPI_Win_flush",                 Verb::flush,      false, false, false, Items::none},
  {Op::Win_flush_all,            "MPI_Win_flush_all",             Verb::flush,      false, false, false, Items::none},
  {Op::Win_flush_local,          "MPI_Win_flush_local",           Verb::flush_local, false, false, false, Items::none},
  {Op::Win_flush_local_all,      "MPI_Win_flush_local_all",       Verb::flush_local, false, false, false, Items::none},
  {Op::File_close,               "MPI_File_close",                Verb::io,         false, false, false, Items::none},
  {Op::File_delete,              "MPI_File_delete",               Verb::io,         false, false, false, Items::none},
  {Op::File_get_size,            "MPI_File_get_size",             Verb::io,         false, false, false, Items::none},
  {Op::File_iread,               "MPI_File_iread",                Verb::io,         false, false, false, Items::none},
  {Op::File_iread_all,           "MPI_File_iread_all",            Verb::io,         false, false, false, Items::none},
  {Op::File_iread_at,            "MPI_File_iread_at",             Verb::io,         false, false, false, Items::none},
  {Op::File_iread_at_all,        "MPI_File_iread_at_all",         Verb::io,         false, false, false, Items::none},
  {Op::File_iread_shared,        "MPI_File_iread_shared",         Verb::io,         false, false, false, Items::none},
  {Op::File_iwrite,              "MPI_File_iwrite",               Verb::io,         false, false, false, Items::none},
  {Op::File_iwrite_all,          "MPI_File_iwrite_all",           Verb::io,         false, false, false, Items::none},
  {Op::File_iwrite_at,           "MPI_File_iwrite_at",            Verb::io,         false, false, false, Items::none},
  {Op::File_iwrite_at_all,       "MPI_File_iwrite_at_all",        Verb::io,         false, false, false, Items::none},
  {Op::File_iwrite_shared,       "MPI_File_iwrite_shared",        Verb::io,         false, false, false, Items::none},
  {Op::File_open,                "MPI_File_open",                 Verb::io,         false, false, false, Items::none},
  {Op::File_preallocate,         "MPI_File_preallocate",          Verb::io,         false, false, false, Items::none},
  {Op::File_read,                "MPI_File_read",                 Verb::io,         false, false, false, Items::none},
  {Op::File_read_all,            "MPI_File_read_all",             Verb::io,         false, false, false, Items::none},
  {Op::File_read_all_begin,      "MPI_File_read_all_begin",       Verb::io,         false, false, false, Items::none},
  {Op::File_read_all_end,        "MPI_File_read_all_end",         Verb::io,         false, false, false, Items::none},
  {Op::File_read_at,             "MPI_File_read_at",              Verb::io,         false, false, false, Items::none},
  {Op::File_read_at_all,         "MPI_File_read_at_all",          Verb::io,         false, false, false, Items::none},
  {Op::File_read_at_all_begin,   "MPI_File_read_at_all_begin",    Verb::io,         false, false, false, Items::none},
  {Op::File_read_at_all_end,     "MPI_File_read_at_all_end",      Verb::io,         false, false, false, Items::none},
  {Op::File_read_ordered,        "MPI_File_read_ordered",         Verb::io,         false, false, false, Items::none},
  {Op::File_read_ordered_begin,  "MPI_File_read_ordered_begin",   Verb::io,         false, false, false, Items::none},
  {Op::File_read_ordered_end,    "MPI_File_read_ordered_end",     Verb::io,         false, false, false, Items::none},
  {Op::File_read_shared,         "MPI_File_read_shared",          Verb::io,         false, false, false, Items::none},
  {Op::File_seek_shared,         "MPI_File_seek_shared",          Verb::io,         false, false, false, Items::none},
  {Op::File_set_size,            "MPI_File_set_size",             Verb::io,         false, false, false, Items::none},
  {Op::File_set_view,            "MPI_File_set_view",             Verb::io,         false, false, false, Items::none},
  {Op::File_sync,                "MPI_File_sync",                 Verb::io,         false, false, false, Items::none},
  {Op::File_write,               "MPI_File_write",                Verb::io,         false, false, false, Items::none},
  {Op::File_write_all,           "MPI_File_write_all",            Verb::io,         false, false, false, Items::none},
  {Op::File_write_all_begin,     "MPI_File_write_all_begin",      Verb::io,         false, false, false, Items::none},
  {Op::File_write_all_end,       "MPI_File_write_all_end",        Verb::io,         false, false, false, Items::none},
  {Op::File_write_at,            "MPI_File_write_at",             Verb::io,         false, false, false, Items::none},
  {Op::File_write_at_all,        "MPI_File_write_at_all",         Verb::io,         false, false, false, Items::none},
  {Op::File_write_at_all_begin,  "MPI_File_write_at_all_begin",   Verb::io,         false, false, false, Items::none},
  {Op::File_write_at_all_end,    "MPI_File_write_at_all_end",     Verb::io,         false, false, false, Items::none},
  {Op::File_write_ordered,       "MPI_File_write_ordered",        Verb::io,         false, false, false, Items::none},
  {Op::File_write_ordered_begin, "MPI_File_write_ordered_begin",  Verb::io,         false, false, false, Items::none},
  {Op::File_write_ordered_end,   "MPI_File_write_ordered_end",    Verb::io,         false, false, false, Items::none},
  {Op::File_write_shared,        "MPI_File_write_shared",         Verb::io,         false, false, false, Items::none},
#define X(name) {Op::name, "MPI_" #name, Verb::local, false, false, false, Items::none},
  SIMREPLAY_LOCAL_MPI_FUNCTIONS(X)
#undef X
  // Any function that is not above.
  {Op::Other,                    "(other)",                       Verb::local,      false, false, false, Items::none},
  // Not a call: the process leaves, some time after MPI_Finalize.
  {Op::Exit,                   "(exit)",                         Verb::finish,     false, false, false, Items::none},
  // Calls of simcapture.h.
  {Op::Region_begin,           "simcapture_region_begin",        Verb::mark,       false, false, false, Items::none},
  {Op::Region_end,             "simcapture_region_end",          Verb::mark,       false, false, false, Items::none},
  {Op::Counter_set,            "simcapture_counter_set",         Verb::mark,       false, false, false, Items::value},
  {Op::Counter_add,            "simcapture_counter_add",         Verb::mark,       false, false, false, Items::value},
  {Op::Timer_start,            "simcapture_timer_start",         Verb::mark,       false, false, false, Items::none},
  {Op::Timer_stop,             "simcapture_timer_stop",          Verb::mark,       false, false, false, Items::none},
  {Op::Timer_while,            "simcapture_timer_while",         Verb::mark,       false, false, false, Items::counter},
}};
// clang-format on

static_assert(
    [] {
      for (std::size_t i = 0; i < mpi_ops.size(); i++)
        if (static_cast<std::size_t>(mpi_ops[i].op) != i) return false;
      return true;
    }(),
    "the rows of mpi_ops stand in the order of Op");

constexpr const OpInfo& info(Op op) { return mpi_ops[static_cast<std::size_t>(op)]; }

/// The blocking operation of which `op` is a form, or itself.
constexpr Op blocking(Op op) { return info(op).like == Op::count ? op : info(op).like; }

constexpr std::optional<Op> find_op(std::string_view name) {
  for (const OpInfo& row : mpi_ops)
    if (row.name == name) return row.op;
  return std::nullopt;
}

}  // namespace simreplay
