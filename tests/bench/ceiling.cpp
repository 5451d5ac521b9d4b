// The ceiling: the least work in which a halo exchange can be replayed. One core, one model, everything in
// memory; no file, no MPI, no request slots, no channel that could ever hold more than 16 messages. The rate
// of simreplay is given as a share of the rate of this, measured in the same run.
//
//   ceiling X Y Z STEPS      a periodic grid of X*Y*Z processes; a step is 6 Irecv, 6 Isend and a Waitall
//
// Prints calls, seconds and picoseconds of simulated time, as "name value" lines.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

namespace {

constexpr std::uint32_t faces = 6;   // a message that leaves by face f comes in by face f ^ 1
constexpr std::uint32_t depth = 16;  // messages under way on one channel: neighbours part by few steps
constexpr std::uint32_t nothing = ~std::uint32_t{0};

// Picoseconds.
constexpr std::int64_t send_prolog = 500, send_epilog = 100, latency = 1'000;
constexpr std::int64_t receive_prolog = 100, receive_epilog = 200;
constexpr std::uint32_t bytes_per_ps = 8;

enum class Verb : std::uint16_t { post_send, post_receive, wait_all };

/// A recorded call, 16 bytes.
struct Call {
  Verb verb;
  std::uint16_t face;
  std::uint32_t bytes;
  std::int64_t computation;
};

struct Grid {
  std::uint32_t x, y, z;
  std::uint32_t processes() const { return x * y * z; }
  std::array<std::uint32_t, faces> around(std::uint32_t process) const {
    const std::uint32_t i = process % x, j = process / x % y, k = process / x / y;
    const auto at = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      return (c % z * y + b % y) * x + a % x;
    };
    return {at(i + x - 1, j, k), at(i + 1, j, k),     at(i, j + y - 1, k),
            at(i, j + 1, k),     at(i, j, k + z - 1), at(i, j, k + 1)};
  }
};

struct Process {
  std::int64_t now = 0;
  std::uint32_t next = 0;          // call
  std::uint32_t awaits = nothing;  // channel
};

class Replay {
 public:
  Replay(const Grid& grid, std::uint32_t steps);
  void run();
  std::int64_t calls() const { return calls_; }
  std::int64_t end() const { return std::ranges::max(processes_, {}, &Process::now).now; }

 private:
  void advance(std::uint32_t p);
  std::int64_t send(std::uint32_t p, const Call& call, std::int64_t now);
  std::uint32_t missing(std::uint32_t p) const;
  std::int64_t receive_all(std::uint32_t p, std::int64_t now) const;

  std::vector<std::vector<Call>> traces_;
  std::vector<std::uint32_t> neighbours_;  // by process and face
  std::vector<Process> processes_;
  std::vector<std::uint32_t> arrived_, awaited_;  // by channel: the process and face where it ends
  std::vector<std::int64_t> arrivals_;            // of each channel the last few
  std::deque<std::uint32_t> ready_;
  std::int64_t calls_ = 0;
};

Replay::Replay(const Grid& grid, std::uint32_t steps)
    : traces_(grid.processes()),
      processes_(grid.processes()),
      arrived_(grid.processes() * faces),
      awaited_(grid.processes() * faces),
      arrivals_(std::size_t{grid.processes()} * faces * depth) {
  for (std::uint32_t p = 0; p < grid.processes(); p++) {
    for (const std::uint32_t neighbour : grid.around(p)) neighbours_.push_back(neighbour);
    traces_[p].reserve(std::size_t{2 * faces + 1} * steps);
    for (std::uint32_t s = 0; s < steps; s++) {
      const std::int64_t uneven = (std::int64_t{p} * 7'919 + std::int64_t{s} * 104'729) % 5'000;
      for (std::uint16_t f = 0; f < faces; f++)
        traces_[p].push_back({Verb::post_receive, f, 4'096, f == 0 ? 100'000 + uneven : 10});
      for (std::uint16_t f = 0; f < faces; f++) traces_[p].push_back({Verb::post_send, f, 4'096, 10});
      traces_[p].push_back({Verb::wait_all, 0, 0, 5'000});
    }
    ready_.push_back(p);
  }
}

void Replay::run() {
  while (!ready_.empty()) {
    const std::uint32_t p = ready_.front();
    ready_.pop_front();
    advance(p);
  }
}

/// Until a message is missing, or to the end.
void Replay::advance(std::uint32_t p) {
  Process& process = processes_[p];
  const Call* const calls = traces_[p].data();
  const auto end = static_cast<std::uint32_t>(traces_[p].size()), first = process.next;
  std::int64_t now = process.now;
  std::uint32_t k = first;
  for (; k < end; k++) {
    const Call& call = calls[k];
    if (call.verb == Verb::post_send) {
      now = send(p, call, now + call.computation);
    } else if (call.verb == Verb::post_receive) {
      now += call.computation + receive_prolog;
      awaited_[p * faces + call.face]++;
    } else {
      process.awaits = missing(p);
      if (process.awaits != nothing) break;
      now = receive_all(p, now + call.computation);
    }
  }
  calls_ += k - first;
  process.next = k;
  process.now = now;
}

inline std::int64_t Replay::send(std::uint32_t p, const Call& call, std::int64_t now) {
  const std::uint32_t to = neighbours_[p * faces + call.face], channel = to * faces + (call.face ^ 1);
  now += send_prolog + call.bytes / bytes_per_ps;
  arrivals_[std::size_t{channel} * depth + arrived_[channel]++ % depth] = now + latency;
  if (processes_[to].awaits == channel) {
    processes_[to].awaits = nothing;
    ready_.push_back(to);
  }
  return now + send_epilog;
}

inline std::uint32_t Replay::missing(std::uint32_t p) const {
  for (std::uint32_t channel = p * faces; channel < (p + 1) * faces; channel++)
    if (arrived_[channel] < awaited_[channel]) return channel;
  return nothing;
}

inline std::int64_t Replay::receive_all(std::uint32_t p, std::int64_t now) const {
  for (std::uint32_t channel = p * faces; channel < (p + 1) * faces; channel++) {
    const std::int64_t arrival = arrivals_[std::size_t{channel} * depth + (awaited_[channel] - 1) % depth];
    now = std::max(now, arrival) + receive_epilog;
  }
  return now;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: ceiling X Y Z STEPS\n");
    return 2;
  }
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i]))); };
  Replay replay({number(1), number(2), number(3)}, number(4));
  const auto start = std::chrono::steady_clock::now();
  replay.run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("calls %lld\nseconds %.6f\nend_ps %lld\n", static_cast<long long>(replay.calls()),
              elapsed.count(), static_cast<long long>(replay.end()));
}
