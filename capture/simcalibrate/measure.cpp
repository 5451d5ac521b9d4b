#include "capture/simcalibrate/measure.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

extern char** environ;

namespace simreplay::calibrate {
namespace {

using Clock = std::chrono::steady_clock;
double now_ns() { return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count(); }

/// A long wait leaves the processor to other ranks that may share it; its end is exact.
void wait_until(double time_ns) {
  constexpr double worth_sleeping_ns = 1e6, woken_before_ns = 2e5;
  const double left = time_ns - now_ns();
  if (left > worth_sleeping_ns)
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(left - woken_before_ns)));
  while (now_ns() < time_ns) {
  }
}

/// What reading the clock twice adds to what stands between.
double clock_overhead_ns() {
  std::vector<double> samples;
  for (int i = 0; i < 1001; i++) {
    const double start = now_ns();
    samples.push_back(now_ns() - start);
  }
  return summarise(samples).ns;
}

enum Tag { data_tag, ready_tag };
constexpr int client = 0, server = 1;
constexpr int most_in_stream = 32, most_large = 6;    // messages; the receives are in different places
constexpr std::int64_t small = 4096, medium = 65536;  // bytes

/// The experiments, each entered by both sides of a pair with the same arguments. Results on the client.
class Pair {
 public:
  Pair(MPI_Comm comm, std::int64_t most_bytes)
      : comm_(comm),
        clock_ns_(clock_overhead_ns()),
        out_(static_cast<std::size_t>(most_bytes), 1),
        in_(static_cast<std::size_t>(most_bytes) * most_large + most_in_stream / 2 * medium, 2) {
    MPI_Comm_rank(comm, &side_);
  }
  bool is_client() const { return side_ == client; }

  /// The client's value on both sides.
  double agree(double value) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, client, comm_);
    return value;
  }

  /// PRTT(1, 0, s) / 2, mean of some round trips.
  double half_round_trip(std::int64_t bytes, int repetitions) {
    synchronise();
    const double start = now_ns();
    for (int i = 0; i < repetitions; i++) {
      if (is_client()) {
        send(bytes);
        receive(bytes);
      } else {
        receive(bytes);
        send(bytes);
      }
    }
    return (now_ns() - start - clock_ns_) / (2.0 * repetitions);
  }

  /// Both send and receive at the same time, some times over: mean time of one exchange.
  double exchange(std::int64_t bytes, int repetitions) {
    synchronise();
    const double start = now_ns();
    for (int i = 0; i < repetitions; i++) {
      MPI_Request requests[2];
      MPI_Irecv(in_.data(), static_cast<int>(bytes), MPI_BYTE, 1 - side_, data_tag, comm_, &requests[0]);
      MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, 1 - side_, data_tag, comm_, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return (now_ns() - start - clock_ns_) / repetitions;
  }

  /// Of one round trip: what the client's send takes when the server waits in its receive.
  double release(std::int64_t bytes) {
    synchronise();
    double sending = 0;
    if (is_client()) {
      const double start = now_ns();
      send(bytes);
      sending = now_ns() - start - clock_ns_;
      receive(bytes);
    } else {
      receive(bytes);
      send(bytes);
    }
    return sending;
  }

  struct Stream {
    double total_ns = 0;  // until the answer of one byte is there
    double send_ns = 0;   // of one MPI_Isend
  };
  /// PRTT(n, 0, s): the receives are posted, then n messages come, then one byte goes back.
  Stream stream(std::int64_t bytes, int messages) {
    MPI_Request requests[most_in_stream];
    Stream result;
    if (is_client()) {
      MPI_Recv(in_.data(), 1, MPI_BYTE, server, ready_tag, comm_, MPI_STATUS_IGNORE);
      const double start = now_ns();
      for (int i = 0; i < messages; i++)
        MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, server, data_tag, comm_, &requests[i]);
      result.send_ns = (now_ns() - start - clock_ns_) / messages;
      MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(in_.data(), 1, MPI_BYTE, server, data_tag, comm_, MPI_STATUS_IGNORE);
      result.total_ns = now_ns() - start - clock_ns_;
    } else {
      for (int i = 0; i < messages; i++)
        MPI_Irecv(in_.data() + i * bytes, static_cast<int>(bytes), MPI_BYTE, client, data_tag, comm_,
                  &requests[i]);
      MPI_Send(out_.data(), 1, MPI_BYTE, client, ready_tag, comm_);
      MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
      MPI_Send(out_.data(), 1, MPI_BYTE, client, data_tag, comm_);
    }
    return result;
  }

  /// PRTT(n, d, s), d before each MPI_Isend: what that call takes when the way is free.
  double delayed_sends(std::int64_t bytes, int messages, double delay_ns) {
    synchronise();
    double inside = 0;
    for (int i = 0; i < messages; i++) {
      if (is_client()) {
        MPI_Request request;
        wait_until(now_ns() + delay_ns);
        const double start = now_ns();
        MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, server, data_tag, comm_, &request);
        inside += now_ns() - start - clock_ns_;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        receive(bytes);
      }
    }
    return std::max(inside, 0.0) / messages;
  }

  /// PRTT(n, d, s), d before each receive on the server: what a receive takes when its message is there.
  double delayed_receives(std::int64_t bytes, int messages, double delay_ns) {
    synchronise();
    double inside = 0;
    if (is_client()) {
      MPI_Request requests[most_in_stream];
      double next = now_ns();
      for (int i = 0; i < messages; i++, wait_until(next += delay_ns))
        MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, server, data_tag, comm_, &requests[i]);
      MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(&inside, 1, MPI_DOUBLE, server, ready_tag, comm_, MPI_STATUS_IGNORE);
    } else {
      double next = now_ns() + delay_ns;
      for (int i = 0; i < messages; i++) {
        wait_until(next += delay_ns);
        const double start = now_ns();
        receive(bytes);
        inside += now_ns() - start - clock_ns_;
      }
      inside = std::max(inside, 0.0) / messages;
      MPI_Send(&inside, 1, MPI_DOUBLE, client, ready_tag, comm_);
    }
    return inside;
  }

  /// What a send takes whose receive is posted only after the delay. Until then the receiver computes, or
  /// looks after its messages.
  double send_to_late_receiver(std::int64_t bytes, double delay_ns, bool receiver_computes) {
    synchronise();
    const double start = now_ns();
    if (is_client()) {
      send(bytes);
    } else {
      for (int found = 0; now_ns() < start + delay_ns;)
        if (!receiver_computes) MPI_Iprobe(client, ready_tag, comm_, &found, MPI_STATUS_IGNORE);
      receive(bytes);
    }
    const double taken = now_ns() - start;
    synchronise();
    return taken;
  }

 private:
  void send(std::int64_t bytes) {
    MPI_Send(out_.data(), static_cast<int>(bytes), MPI_BYTE, 1 - side_, data_tag, comm_);
  }
  void receive(std::int64_t bytes) {
    MPI_Recv(in_.data(), static_cast<int>(bytes), MPI_BYTE, 1 - side_, data_tag, comm_, MPI_STATUS_IGNORE);
  }
  /// Ends on the client when the server is about to go on.
  void synchronise() {
    if (is_client())
      MPI_Recv(in_.data(), 1, MPI_BYTE, server, ready_tag, comm_, MPI_STATUS_IGNORE);
    else
      MPI_Send(out_.data(), 1, MPI_BYTE, client, ready_tag, comm_);
  }

  MPI_Comm comm_;
  int side_ = 0;
  double clock_ns_;
  std::vector<char> out_, in_;
};

/// 1, 4, 16, 64, then octaves or half octaves.
std::vector<std::int64_t> sizes_up_to(std::int64_t most, bool half_octaves) {
  std::vector<std::int64_t> sizes{1, 4, 16};
  for (std::int64_t s = 64; s <= most; s *= 2) {
    sizes.push_back(s);
    if (half_octaves && s + s / 2 <= most) sizes.push_back(s + s / 2);
  }
  return sizes;
}

constexpr double ms = 1e6, second = 1e9;

int messages_of_stream(std::int64_t bytes, double half_ns) {
  if (half_ns > 10 * ms) return 3;
  return bytes <= small ? most_in_stream : bytes <= medium ? most_in_stream / 2 : most_large;
}
int messages_delayed(double half_ns) { return half_ns > 1 * ms ? 1 : 4; }
double delay_of(double half_ns) { return 2 * half_ns + 3000; }
int samples_per_visit(double half_ns) { return half_ns > 0.1 * ms ? 1 : 5; }
int round_trips(double half_ns) { return std::clamp(static_cast<int>(20'000 / (2 * half_ns)), 1, 20); }

int exchanges(double half_ns) { return 2 * round_trips(half_ns); }

/// Time of one round of all experiments for this size.
double cost_ns(std::int64_t bytes, double half_ns) {
  return samples_per_visit(half_ns) *
         (half_ns * (2 * round_trips(half_ns) + exchanges(half_ns) + messages_of_stream(bytes, half_ns) + 4) +
          delay_of(half_ns) * (2 * messages_delayed(half_ns) + 1));
}

struct Rough {
  std::int64_t bytes;
  double half_ns;
};

/// A first look at every size, as many as the time allows three rounds of.
std::vector<Rough> survey(Pair& pair, const std::vector<std::int64_t>& sizes, double budget_ns) {
  std::vector<Rough> all;
  for (const std::int64_t bytes : sizes) {
    double least = second * 1000;
    const double start = now_ns();
    for (int i = 0; i < 20; i++) {
      least = std::min(least, pair.agree(pair.half_round_trip(bytes, 1)));
      if (pair.agree(now_ns() - start) > 50 * ms) break;
    }
    all.push_back({bytes, least});
    if (3 * cost_ns(bytes, least) > budget_ns / 2) break;
  }
  // A larger message takes no less: what is above was disturbed.
  for (std::size_t i = all.size(); i-- > 1;)
    all[i - 1].half_ns = std::min(all[i - 1].half_ns, all[i].half_ns);
  double round_ns = 0;
  const auto too_long = std::ranges::find_if(
      all, [&](const Rough& r) { return 3.5 * (round_ns += cost_ns(r.bytes, r.half_ns)) > budget_ns; });
  all.erase(std::max(too_long, std::min(all.begin() + 4, all.end())), all.end());
  return all;
}

/// The send of an eager message ends at once, that of a rendezvous not before the late receive is posted.
bool waits(Pair& pair, const Rough& size, bool receiver_computes) {
  const double delay = 2 * size.half_ns + 200'000;
  const int majority =
      size.half_ns > 1 * ms ? 2 : 5;  // something else on the computer may hold up either side
  int late = 0, at_once = 0;
  while (late < majority && at_once < majority)
    (pair.agree(pair.send_to_late_receiver(size.bytes, delay, receiver_computes)) > delay / 2 ? late
                                                                                              : at_once)++;
  return late == majority;
}

/// The largest message that does not wait; none if all of these do not.
std::optional<std::int64_t> find_limit(Pair& pair, const std::vector<Rough>& sizes, bool receiver_computes) {
  std::vector<bool> waiting;
  while (waiting.size() < sizes.size() &&
         !(waiting.size() > 2 && waiting.end()[-1] && waiting.end()[-2] && waiting.end()[-3]))
    waiting.push_back(waits(pair, sizes[waiting.size()], receiver_computes));
  // The cut that contradicts the fewest of them: one may have been disturbed all the same.
  std::size_t first = waiting.size();
  std::ptrdiff_t contradictions = std::ranges::count(waiting, true), least = contradictions;
  for (std::size_t cut = waiting.size(); cut-- > 0;) {
    contradictions += waiting[cut] ? -1 : 1;
    if (contradictions < least) {
      least = contradictions;
      first = cut;
    }
  }
  if (first == waiting.size()) return std::nullopt;
  std::int64_t passes = first == 0 ? 0 : sizes[first - 1].bytes, waits_from = sizes[first].bytes;
  while (waits_from - passes > 1) {
    const std::int64_t middle = passes + (waits_from - passes) / 2;
    (waits(pair, {middle, sizes[first].half_ns}, receiver_computes) ? waits_from : passes) = middle;
  }
  return passes;
}

struct Samples {
  std::vector<double> half_round_trip, send, receive, stream, release, exchange;
};

/// One sample of everything.
void sample(Pair& pair, const Rough& size, bool rendezvous, Samples& to) {
  to.half_round_trip.push_back(pair.half_round_trip(size.bytes, round_trips(size.half_ns)));
  to.exchange.push_back(pair.exchange(size.bytes, exchanges(size.half_ns)));
  const Pair::Stream stream = pair.stream(size.bytes, messages_of_stream(size.bytes, size.half_ns));
  to.stream.push_back(stream.total_ns);
  const int few = messages_delayed(size.half_ns);
  to.send.push_back(std::min(pair.delayed_sends(size.bytes, few, delay_of(size.half_ns)), stream.send_ns));
  if (rendezvous)
    to.release.push_back(pair.release(size.bytes));
  else
    to.receive.push_back(pair.delayed_receives(size.bytes, few, delay_of(size.half_ns)));
}

/// Gap = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1); of the latter one half is of s bytes, one of the
/// answer's.
SizePoint point_of(const Rough& size, const Samples& s, double answer_ns, double quantile) {
  const auto of = [quantile](const std::vector<double>& samples) { return summarise(samples, quantile); };
  SizePoint p{size.bytes, of(s.half_round_trip), of(s.send),    of(s.receive),
              {},         of(s.release),         of(s.exchange)};
  const Statistic stream = of(s.stream);
  const double gaps = messages_of_stream(size.bytes, size.half_ns) - 1;
  p.gap = {std::max(stream.ns - p.half_round_trip.ns - answer_ns, gaps) / gaps, stream.spread};
  return p;
}

/// All sizes in rounds, up and down in turn: what changes while measuring meets every size.
Way measure_way(MPI_Comm comm, const Effort& effort, double seconds) {
  Pair pair(comm, effort.most_bytes);
  const double budget = 0.7 * seconds * second;  // of the rounds; the rest is for finding the limits
  Way way;
  std::vector<Rough> sizes = survey(pair, sizes_up_to(effort.most_bytes, effort.every_half_octave), budget);
  way.eager_limit = find_limit(pair, sizes, false);
  way.unattended_limit = find_limit(pair, sizes, true);
  for (const auto& limit : {way.eager_limit, way.unattended_limit})
    for (const std::int64_t edge : {limit.value_or(0), limit.value_or(-1) + 1}) {
      const auto at = std::ranges::lower_bound(sizes, edge, {}, &Rough::bytes);
      if (edge > 0 && at != sizes.end() && at->bytes != edge) sizes.insert(at, {edge, at->half_ns});
    }
  std::vector<Samples> samples(sizes.size());
  const double start = now_ns();
  while (way.rounds < effort.most_rounds) {
    for (std::size_t k = 0; k < sizes.size(); k++) {
      const std::size_t i = way.rounds % 2 == 0 ? k : sizes.size() - 1 - k;
      for (int visit = 0; visit < samples_per_visit(sizes[i].half_ns); visit++)
        sample(pair, sizes[i], way.is_rendezvous(sizes[i].bytes), samples[i]);
    }
    way.rounds++;
    if (pair.agree((now_ns() - start) * (1 + 1.0 / way.rounds)) > budget) break;
  }
  const double answer_ns = summarise(samples[0].half_round_trip, effort.quantile).ns;
  for (std::size_t i = 0; i < sizes.size(); i++)
    way.points.push_back(point_of(sizes[i], samples[i], answer_ns, effort.quantile));
  return way;
}

Statistic measure_barrier(MPI_Comm comm, double seconds, double quantile) {
  constexpr int batch = 10, most = 300;
  std::vector<double> samples;
  double left = seconds * second;
  for (int i = 0; i < most && left > 0; i++) {
    MPI_Barrier(comm);
    const double start = now_ns();
    for (int k = 0; k < batch; k++) MPI_Barrier(comm);
    const double taken = now_ns() - start;
    samples.push_back(taken / batch);
    left -= taken * (1 + 1.0 / batch);
    MPI_Bcast(&left, 1, MPI_DOUBLE, 0, comm);
  }
  return summarise(samples, quantile);
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text);
  return line.substr(0, std::min(line.find('\n'), line.find(", package:")));
}

/// Parameters of Open MPI and MPICH in the environment that change how messages go.
std::string library_settings() {
  std::vector<std::string> all;
  for (char** e = environ; *e; e++) {
    const std::string_view entry(*e);
    if (entry.starts_with("OMPI_MCA_btl") || entry.starts_with("OMPI_MCA_pml") ||
        entry.starts_with("OMPI_MCA_mpi_") || entry.starts_with("MPIR_CVAR_") || entry.starts_with("UCX_"))
      all.emplace_back(entry);
  }
  std::ranges::sort(all);
  return fmt::format("{}", fmt::join(all, " "));
}

/// The node of each rank: the lowest rank on it.
std::vector<int> nodes_of(MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm on_node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &on_node);
  int lowest = rank;
  MPI_Bcast(&lowest, 1, MPI_INT, 0, on_node);
  MPI_Comm_free(&on_node);
  std::vector<int> nodes(static_cast<std::size_t>(size));
  MPI_Allgather(&lowest, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  return nodes;
}

constexpr int alone = -1;

/// Who measures with whom: rank 0 with the first that is, or is not, of its node; if all pairs measure at the
/// same time, each further rank with the first that is left.
std::vector<int> partners(const std::vector<int>& nodes, bool within, bool all_pairs) {
  std::vector<int> partner(nodes.size(), alone);
  for (std::size_t a = 0; a < (all_pairs ? nodes.size() : 1); a++)
    for (std::size_t b = a + 1; b < nodes.size() && partner[a] == alone; b++)
      if (partner[b] == alone && (nodes[a] == nodes[b]) == within) {
        partner[a] = static_cast<int>(b);
        partner[b] = static_cast<int>(a);
      }
  return partner;
}

/// What rank 0 finds with its partner. Those that are alone wait.
Way measure_with(MPI_Comm comm, const std::vector<int>& partner, const Effort& effort, double seconds) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int other_rank = partner[static_cast<std::size_t>(rank)];
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(comm, other_rank == alone ? MPI_UNDEFINED : std::min(rank, other_rank), rank, &pair);
  Way way;
  if (pair != MPI_COMM_NULL) {
    way = measure_way(pair, effort, seconds);
    const std::string own = host_name();
    char other[256] = "";
    std::memcpy(other, own.c_str(), std::min(own.size() + 1, sizeof other));
    MPI_Bcast(other, sizeof other, MPI_CHAR, server, pair);
    way.hosts = own == other ? own : own + " to " + other;
    MPI_Comm_free(&pair);
  }
  MPI_Barrier(comm);
  return way;
}

}  // namespace

Effort quick_effort() {
  Effort e;
  e.seconds = 6;
  e.most_bytes = 1 << 20;
  e.every_half_octave = false;
  e.most_rounds = 60;
  return e;
}

Measurement measure(MPI_Comm comm, const Effort& effort) {
  Measurement m;
  m.date = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  m.mpi_library = library_version();
  m.settings = library_settings();
  const std::vector<int> nodes = nodes_of(comm);
  m.ranks = static_cast<int>(nodes.size());
  for (int r = 0; r < m.ranks; r++) m.nodes += nodes[static_cast<std::size_t>(r)] == r ? 1 : 0;
  m.all_pairs = effort.all_pairs;
  const std::vector<int> far = partners(nodes, false, effort.all_pairs),
                         near = partners(nodes, true, effort.all_pairs);
  const int ways = (far[0] != alone ? 1 : 0) + (near[0] != alone ? 1 : 0);
  const double seconds = 0.9 * effort.seconds / std::max(ways, 1);
  if (far[0] != alone) m.between = measure_with(comm, far, effort, seconds);
  if (near[0] != alone) m.within = measure_with(comm, near, effort, seconds);
  m.barrier = measure_barrier(comm, 0.1 * effort.seconds, effort.quantile);
  m.quantile = effort.quantile;
  return m;
}

}  // namespace simreplay::calibrate
