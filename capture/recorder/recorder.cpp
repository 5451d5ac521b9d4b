#include "capture/recorder/recorder.hpp"

#include <pthread.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace simreplay::recorder {
namespace {

/// Polls with gaps below this belong to one stretch of waiting.
constexpr std::int64_t longest_gap_between_polls_ns = 10'000;

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  std::snprintf(to, N, "%s", from);
}

/// What tells this MPI program from others that the same command starts: the name that the launcher gave it.
void name_world(char (&world)[128]) {
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_KVSNAME", "SLURM_STEP_ID"})
    if (const char* value = std::getenv(name)) {
      std::snprintf(world, sizeof world, "%s=%s", name, value);
      return;
    }
}

std::vector<std::int32_t> members(MPI_Group group, MPI_Group world_group) {
  int size = 0;
  mpi::group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), world_ranks(ranks.size());
  for (int i = 0; i < size; i++) ranks[static_cast<std::size_t>(i)] = i;
  mpi::group_translate_ranks(group, size, ranks.data(), world_group, world_ranks.data());
  for (int& rank : world_ranks)
    if (rank < 0) rank = spool::no_rank;  // a process of another world
  return world_ranks;
}

void add_runs(std::vector<std::int64_t>& items, const std::vector<std::int32_t>& world_ranks) {
  const trace::Members m = trace::Members::of(world_ranks);
  items.push_back(static_cast<std::int64_t>(m.runs.size()));
  for (const trace::Members::Run& run : m.runs) items.insert(items.end(), {run.first, run.stride, run.count});
}

}  // namespace

constinit OnlyRecorder only_recorder;

void Recorder::load() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  started_ = std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  loaded_ = now();
}

void Recorder::start(void (*call_that_does_nothing)(), Record* init) {
  if (state_.exchange(State::off) != State::waiting) return;  // another thread is at it
  const std::int64_t since = now();
  find_predefined();
  if (!make_spool()) return;
  process_ = getpid();
  pthread_atfork(nullptr, nullptr, [] { recorder().forget_in_child(); });

  int level = MPI_THREAD_SINGLE, rank = 0, size = 1;
  mpi::query_thread(&level);
  threads_ = level == MPI_THREAD_MULTIPLE;
  mpi::comm_rank(predefined.world, &rank);
  mpi::comm_size(predefined.world, &size);
  communicators_.push(predefined.world, {trace::world_id, rank, size});
  communicators_.push(predefined.self, {trace::self_id, 0, 1});

  measure_overhead(call_that_does_nothing);
  state_.store(State::on, std::memory_order_relaxed);
  if (init != nullptr) append(*init);
  append_own_time(since);
}

bool Recorder::make_spool() {
  const char* folder = std::getenv("SIMCAPTURE_DIR");
  if (folder == nullptr) {
    warn("SIMCAPTURE_DIR is not set; nothing is recorded");
    return false;
  }
  int rank = 0, size = 1, length = 0;
  mpi::comm_rank(predefined.world, &rank);
  mpi::comm_size(predefined.world, &size);
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%06d-%d-%" PRIx64 "%s", folder, rank, static_cast<int>(getpid()),
                static_cast<std::uint64_t>(loaded_), spool::extension);
  if (!spool_.create(path)) return false;

  spool::Header& header = spool_.header();
  header.rank = rank;
  header.size = size;
  header.pid = getpid();
  header.started_ns = started_;
  header.loaded_ns = loaded_;
  const char* run = std::getenv("SIMCAPTURE_RUN");
  copy_text(header.run, run != nullptr ? run : "");
  std::snprintf(header.world, sizeof header.world, "pid=%d", static_cast<int>(getpid()));
  name_world(header.world);
  gethostname(header.host, sizeof header.host - 1);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  mpi::get_library_version(version, &length);
  copy_text(header.mpi_library, version);
  return true;
}

/// The gap that lies between the records of calls which do nothing is our doing. Their records are dropped.
void Recorder::measure_overhead(void (*call_that_does_nothing)()) {
  constexpr std::size_t calls = 1000;
  static_assert((calls + 1) * sizeof(Record) < spool::window_bytes);
  const std::size_t begin = spool_.position();
  const auto* records = reinterpret_cast<const Record*>(spool_.reserve(calls * sizeof(Record)));
  for (std::size_t i = 0; i < calls; i++) call_that_does_nothing();
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < calls; i++) gaps.push_back(records[i].enter - records[i - 1].leave);
  spool_.rewind(begin);
  std::nth_element(gaps.begin(), gaps.begin() + calls / 2, gaps.end());
  spool_.header().overhead_ps = std::max<std::int64_t>(gaps[calls / 2], 0) * 1000;
}

void Recorder::finalize() {
  spool_.header().finalized = 1;
  stop();
}

void Recorder::leave() {
  if (spool_.is_open() && process_ == getpid()) spool_.header().exited_ns = now();
}

void Recorder::forget_in_child() {
  stop();
  process_ = 0;
}

void Recorder::append_own_time(std::int64_t since) {
  Record record;
  record.kind = spool::own_time_kind;
  record.enter = since;
  record.leave = now();
  append(record);
}

void Recorder::append_poll(Record& record) {
  if (last_poll_ != nullptr && record.enter - last_poll_->leave < longest_gap_between_polls_ns) {
    last_poll_->leave = record.leave;
    last_poll_->bytes++;
    return;
  }
  record.flags |= trace::nothing_found;
  record.bytes = 1;
  append(record);
  if (is_on()) last_poll_ = reinterpret_cast<Record*>(spool_.reserve(0) - sizeof record);
}

Communicator Recorder::find_communicator(MPI_Comm handle) {
  if (const Communicator* known = communicators_.find(handle)) return *known;
  learn(handle, Op::count);  // made by a call that is not recorded
  return *communicators_.find(handle);
}

std::int32_t Recorder::learn(MPI_Comm handle, Op creator) {
  const std::int64_t since = now();
  Communicator c;
  int inter = 0;
  MPI_Group group, world_group;
  mpi::comm_rank(handle, &c.rank);
  mpi::comm_test_inter(handle, &inter);
  mpi::comm_group(predefined.world, &world_group);
  mpi::comm_group(handle, &group);
  const std::vector<std::int32_t> local = members(group, world_group);
  mpi::group_free(&group);
  std::vector<std::int32_t> remote;
  if (inter != 0) {
    mpi::comm_remote_group(handle, &group);
    remote = members(group, world_group);
    mpi::group_free(&group);
  }
  mpi::group_free(&world_group);

  c.id = next_communicator_++;
  c.peers = static_cast<int>(inter != 0 ? remote.size() : local.size());
  communicators_.push(handle, c);
  last_handle_ = MPI_Comm{};

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

void Recorder::forget(MPI_Comm handle) {
  communicators_.pop(handle);
  last_handle_ = MPI_Comm{};
}

}  // namespace simreplay::recorder

namespace {

[[gnu::constructor]] void on_load() { simreplay::recorder::recorder().load(); }
[[gnu::destructor]] void on_exit_of_process() { simreplay::recorder::recorder().leave(); }

}  // namespace
