#include "capture/recorder/recorder.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string_view>
#include <vector>

#include "capture/recorder/overhead.hpp"
#include "capture/recorder/world_name.hpp"

namespace simreplay::recorder {
namespace {

/// Polls with gaps below this belong to one stretch of waiting.
constexpr std::int64_t longest_gap_between_polls_ns = 10'000;

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  std::snprintf(to, N, "%s", from);
}

/// Where the spool is to be made; nullptr where nothing is to be recorded.
const char* spool_folder() {
  const char* folder = std::getenv("SIMCAPTURE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : nullptr;
}

spool::Clock chosen_clock() {
  const char* name = std::getenv("SIMCAPTURE_CLOCK");
  const std::string_view clock = name != nullptr ? name : "wall";
  return clock == "cpu"           ? spool::thread_clock
         : clock == "process-cpu" ? spool::process_clock
                                  : spool::wall_clock;
}

void add_runs(std::vector<std::int64_t>& items, const std::vector<std::int64_t>& world_ranks) {
  const trace::Members m =
      trace::Members::of(std::vector<std::int32_t>(world_ranks.begin(), world_ranks.end()));
  items.push_back(static_cast<std::int64_t>(m.runs.size()));
  for (const trace::Members::Run& run : m.runs) items.insert(items.end(), {run.first, run.stride, run.count});
}

}  // namespace

constinit OnlyRecorder only_recorder;

void Recorder::load() {
  if (spool_folder() == nullptr) return stop();  // linked into a program that is not recorded
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  started_ = std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  loaded_ = now();
}

void Recorder::start(Record* init, const void* thread) {
  if (state_.exchange(State::off) != State::waiting) return;  // another thread is at it
  const std::int64_t since = now();
  if (!library_fits()) return;
  find_predefined();
  int own_rank = 0;
  mpi::comm_rank(predefined.world, &own_rank);
  if (!Selection::includes(own_rank) || !make_spool()) return;
  process_ = getpid();
  pthread_atfork(nullptr, nullptr, [] { recorder().forget_in_child(); });

  int level = MPI_THREAD_SINGLE, rank = 0, size = 1;
  mpi::query_thread(&level);
  threads_ = level == MPI_THREAD_MULTIPLE || level == MPI_THREAD_SERIALIZED;
  only_thread_ = threads_ ? nullptr : thread;
  threads_seen_ = last_thread_ = calling_thread_ = 1;
  mpi::comm_rank(predefined.world, &rank);
  mpi::comm_size(predefined.world, &size);
  communicators_.push(predefined.world, {trace::world_id, rank, size, size});
  communicators_.push(predefined.self, {trace::self_id, 0, 1, 1});

  clock_ = chosen_clock();
  spool_.header().clock = clock_;
  spool_.header().overhead_ps = measure_overheads(*this, clock_ != spool::wall_clock);
  spool_.header().mark_overhead_ps = measure_mark_overhead(*this);
  state_.store(State::on, std::memory_order_relaxed);
  marks_.put_out_kept(*this);
  if (init != nullptr) append(*init);
  append_own_time(since);
  selection_ = Selection::from_environment(now());
}

bool Recorder::make_spool() {
  const char* folder = spool_folder();
  if (folder == nullptr) return false;
  int rank = 0, size = 1, length = 0;
  mpi::comm_rank(predefined.world, &rank);
  mpi::comm_size(predefined.world, &size);
  mkdir(folder, 0777);  // it may be local to each host, and is there already where simcapture runs
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%06d-%d-%" PRIx64 "%s", folder, rank, static_cast<int>(getpid()),
                static_cast<std::uint64_t>(loaded_), spool::extension);
  if (!spool_.create(path)) return false;

  spool::Header& header = spool_.header();
  header.rank = rank;
  header.size = size;
  header.pid = getpid();
  header.started_ns = started_;
  header.chosen = Selection::chooses_processes() ? 1 : 0;
  header.loaded_ns = loaded_;
  const char* run = std::getenv("SIMCAPTURE_RUN");
  copy_text(header.run, run != nullptr ? run : "");
  name_world(header.world, size);
  gethostname(header.host, sizeof header.host - 1);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  mpi::get_library_version(version, &length);
  copy_text(header.mpi_library, version);
  return true;
}

Recorder::Trial Recorder::trial(void (*calls)(), int times) {
  Trial trial;
  const std::size_t begin = spool_.position();
  const std::byte* const first = spool_.reserve(spool::window_bytes / 2);
  const std::int64_t since = now();
  for (int i = 0; i < times; i++) calls();
  trial.elapsed = now() - since;
  const Record* previous = nullptr;
  for (const std::byte* at = first; at < first + (spool_.position() - begin);) {
    const auto* record = reinterpret_cast<const Record*>(at);
    const auto* items = reinterpret_cast<const std::int64_t*>(record + 1);
    const bool timed = (record->flags & spool::has_processor_time) != 0;
    if (previous != nullptr)
      trial.gaps.push_back(timed ? items[record->items - 1] : record->enter - previous->leave);
    trial.inside += record->leave - record->enter;
    previous = record;
    at += sizeof *record + record->items * sizeof(std::int64_t);
  }
  spool_.rewind(begin);
  last_fold_ = nullptr;
  last_request_ = 0;
  return trial;
}

void Recorder::finalize() {
  spool_.header().finalized = 1;
  marks_.introduce_rest(*this);
  if (is_on()) state_.store(State::ended, std::memory_order_relaxed);
}

void Recorder::control(int level) {
  if (level != 0 && level != 1) return;
  const std::int64_t time = now();
  if (selection_ == nullptr) {
    if (level == 1) return;
    selection_ = new Selection(time, true);
  }
  last_fold_ = nullptr;
  if (level == 0)
    selection_->pause(time);
  else
    selection_->resume(*this, time);
}

void Recorder::end_selection() {
  spool_.header().stopped = spool::time_reached;
  stop();
}

void Recorder::leave() {
  if (spool_.is_open() && process_ == getpid()) spool_.header().exited_ns = now();
}

void Recorder::forget_in_child() {
  stop();
  process_ = 0;
}

int Recorder::thread_number() {
  if (calling_thread_ == 0) calling_thread_ = ++threads_seen_;
  return calling_thread_;
}

void Recorder::append_thread() {
  last_thread_ = thread_number();
  Record record;
  record.kind = spool::thread_kind;
  record.peer = calling_thread_ - 1;
  record.enter = record.leave = now();
  append(record);
}

std::int64_t Recorder::ProcessorTime::read(spool::Clock clock) {
  timespec t;
  clock_gettime(clock == spool::thread_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void Recorder::append_own_time(std::int64_t since) {
  Record record;
  record.kind = spool::own_time_kind;
  record.enter = since;
  record.leave = now();
  append(record);
}

void Recorder::append_mark(Record& record) {
  if (!marks_.introduce(*this, record.tag)) return;
  if (selection_ != nullptr && !selection_->records()) [[unlikely]] {
    last_fold_ = nullptr;
    return selection_->leave_out_mark(record, thread_number());
  }
  append(record);
}

void Recorder::append_mark_of(int thread, Record& record) {
  const int caller = std::exchange(calling_thread_, thread);
  append(record);
  calling_thread_ = caller;
}

void Recorder::append_poll(Record& record) {
  if (last_fold_ != nullptr && (last_fold_->flags & trace::nothing_found) != 0 &&
      record.enter - last_fold_->leave < longest_gap_between_polls_ns) {
    last_fold_->leave = record.leave;
    last_fold_->bytes++;
    return;
  }
  record.flags |= trace::nothing_found;
  record.bytes = 1;
  append_foldable(record);
}

Communicator Recorder::find_communicator(MPI_Comm handle) {
  if (const Communicator* known = communicators_.find(handle)) return *known;
  learn(handle, Op::count);  // made by a call that is not recorded
  return *communicators_.find(handle);
}

/// Says who the members are and gives the id.
std::int32_t Recorder::introduce(MPI_Comm members_of, Communicator& c, Op creator) {
  const std::int64_t since = now();
  int inter = 0;
  MPI_Group group;
  mpi::comm_rank(members_of, &c.rank);
  mpi::comm_test_inter(members_of, &inter);
  mpi::comm_group(members_of, &group);
  const std::vector<std::int64_t> local = world_ranks(group);
  mpi::group_free(&group);
  std::vector<std::int64_t> remote;
  if (inter != 0) {
    mpi::comm_remote_group(members_of, &group);
    remote = world_ranks(group);
    mpi::group_free(&group);
  }
  c.id = next_communicator_++;
  c.size = static_cast<int>(local.size());
  c.peers = static_cast<int>(inter != 0 ? remote.size() : local.size());

  std::vector<std::int64_t> items;
  add_runs(items, local);
  add_runs(items, remote);
  Record record;
  record.kind = spool::communicator_kind;
  record.communicator = c.id;
  record.tag = static_cast<std::int32_t>(creator);
  record.enter = since;
  record.leave = now();
  append(record, std::span<const std::int64_t>(items));
  return c.id;
}

std::int32_t Recorder::learn(MPI_Comm handle, Op creator) {
  Communicator c;
  introduce(handle, c, creator);
  communicators_.push(handle, c);
  last_handle_ = MPI_Comm{};
  return c.id;
}

/// Its id was given when it was begun, for only then do all members make communicators in one order.
std::int32_t Recorder::learn_duplicate(MPI_Comm original, Op creator) {
  Communicator c;
  introduce(original, c, creator);
  unbound_.push_back(c);
  return c.id;
}

void Recorder::bind(MPI_Comm handle, std::int32_t id) {
  const auto it = std::ranges::find(unbound_, id, &Communicator::id);
  if (it == unbound_.end()) return;
  communicators_.push(handle, *it);
  last_handle_ = MPI_Comm{};
  unbound_.erase(it);
}

void Recorder::forget(MPI_Comm handle) {
  communicators_.pop(handle);
  last_handle_ = MPI_Comm{};
}

std::int32_t Recorder::learn_window(MPI_Win handle, MPI_Comm comm, Op creator) {
  Window window;
  introduce(comm, window.communicator, creator);
  windows_.push(handle, window);
  return window.communicator.id;
}

std::vector<std::int64_t> Recorder::world_ranks(MPI_Group group) {
  MPI_Group world;
  mpi::comm_group(predefined.world, &world);
  int size = 0;
  mpi::group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  mpi::group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  mpi::group_free(&world);
  std::vector<std::int64_t> result(in_world.begin(), in_world.end());
  for (std::int64_t& rank : result)
    if (rank < 0) rank = spool::no_rank;  // a process of another world
  return result;
}

Recorder::Neighbors Recorder::neighbors(MPI_Comm comm) {
  Neighbors n;
  int kind = MPI_UNDEFINED, rank = 0, in = 0, out = 0, weighted = 0;
  mpi::topo_test(comm, &kind);
  if (kind == MPI_CART) {
    mpi::cartdim_get(comm, &in);
    for (int dimension = 0; dimension < in; dimension++) {
      int below = 0, above = 0;
      mpi::cart_shift(comm, dimension, 1, &below, &above);
      n.sources.insert(n.sources.end(), {below, above});
    }
    n.destinations = n.sources;
  } else if (kind == MPI_GRAPH) {
    mpi::comm_rank(comm, &rank);
    mpi::graph_neighbors_count(comm, rank, &in);
    n.sources.resize(static_cast<std::size_t>(in));
    mpi::graph_neighbors(comm, rank, in, n.sources.data());
    n.destinations = n.sources;
  } else if (kind == MPI_DIST_GRAPH) {
    mpi::dist_graph_neighbors_count(comm, &in, &out, &weighted);
    n.sources.resize(static_cast<std::size_t>(in));
    n.destinations.resize(static_cast<std::size_t>(out));
    std::vector<int> weights(static_cast<std::size_t>(std::max(in, out)) + 1), more(weights.size());
    mpi::dist_graph_neighbors(comm, in, n.sources.data(), weights.data(), out, n.destinations.data(),
                              more.data());
  }
  return n;
}

}  // namespace simreplay::recorder

namespace {

[[gnu::constructor]] void on_load() { simreplay::recorder::recorder().load(); }
[[gnu::destructor]] void on_exit_of_process() { simreplay::recorder::recorder().leave(); }

}  // namespace
