// network_switch PORTS BITS_PER_S DELAY_NS MTU: an Ethernet switch in user space, for kernels without netem.
//
// Makes the TAP devices port1 ... portN in its network namespace; scripts/testbed/hosts.sh moves them into
// those of the hosts. A frame takes len / rate on the link of its sender, the delay, and waits for the link
// of its receiver; a frame that finds this link free is passed on as it comes (cut-through):
//   begun    = max(read, sender's link free);                sender's link free = begun + len / rate
//   handed   = max(begun + delay, receiver's link free) + len / rate;     receiver's link free = handed
// Frames take the receiver's link in the order in which their first bits reach it.
// Host I has the hardware address 02:53:52:00:00:I; frames for others (broadcasts) are dropped, as the hosts
// know each other's addresses. Prints "ready"; SIGTERM ends it with counts of frames and of late ones.

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace {

using Time = std::int64_t;  // nanoseconds of the monotonic clock

Time now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

volatile std::sig_atomic_t stopped = 0;

/// Where a frame is: its first bit has passed the delay, or its last the receiver's link.
enum class Stage { at_receiver_link, handed_over };

struct Frame {
  Time due;
  std::uint64_t number;  // of reading: frames of the same time keep their order
  Stage stage;
  std::size_t to;
  std::vector<unsigned char> bytes;
};
struct Later {
  bool operator()(const Frame& a, const Frame& b) const {
    return std::pair(a.due, a.number) > std::pair(b.due, b.number);
  }
};

struct Port {
  int tap = -1;
  Time sending_free = 0, receiving_free = 0;
};

class Switch {
 public:
  Switch(std::size_t ports, double bits_per_s, Time delay, std::size_t mtu)
      : ports_(ports), ns_per_byte_(8e9 / bits_per_s), delay_(delay), frame_size_(mtu + 64) {
    for (std::size_t i = 0; i < ports; i++) ports_[i].tap = open_tap("port" + std::to_string(i + 1));
  }

  void run() {
    while (!stopped) {
      forward(now());
      wait();
      for (std::size_t i = 0; i < ports_.size(); i++) read_from(i);
    }
    std::printf("%llu frames, %llu later than 100 us, at worst %.1f us\n", handed_, late_,
                static_cast<double>(latest_) / 1e3);
  }

 private:
  static constexpr Time early =
      60'000;  // woken by the kernel so much before a frame is due; the rest is polled

  static int open_tap(const std::string& name) {
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0) {
      std::perror("network_switch: cannot make a TAP device");
      std::exit(1);
    }
    return fd;
  }

  Time on_link(std::size_t bytes) const {
    return static_cast<Time>(static_cast<double>(bytes) * ns_per_byte_);
  }

  void read_from(std::size_t from) {
    for (int burst = 0; burst < 16; burst++) {
      std::vector<unsigned char> bytes(frame_size_);
      const ssize_t length = read(ports_[from].tap, bytes.data(), bytes.size());
      if (length < 14) return;
      bytes.resize(static_cast<std::size_t>(length));
      const std::size_t to = bytes[5];
      if ((bytes[0] & 1) != 0 || to < 1 || to > ports_.size()) continue;
      Time& free = ports_[from].sending_free;
      const Time begun = std::max(free, now());
      free = begun + on_link(bytes.size());
      frames_.push({begun + delay_, read_++, Stage::at_receiver_link, to - 1, std::move(bytes)});
    }
  }

  void forward(Time time) {
    while (!frames_.empty() && frames_.top().due <= time) {
      Frame frame = std::move(const_cast<Frame&>(frames_.top()));  // popped at once
      frames_.pop();
      if (frame.stage == Stage::handed_over) {
        hand_over(frame);
        continue;
      }
      Time& free = ports_[frame.to].receiving_free;
      free = frame.due = std::max(frame.due, free) + on_link(frame.bytes.size());
      frame.stage = Stage::handed_over;
      frames_.push(std::move(frame));
    }
  }

  void hand_over(const Frame& frame) {
    const Time late = now() - frame.due;
    handed_++;
    late_ += late > 100'000 ? 1 : 0;
    latest_ = std::max(latest_, late);
    if (write(ports_[frame.to].tap, frame.bytes.data(), frame.bytes.size()) < 0) dropped_++;
  }

  /// Until a frame comes or is nearly due.
  void wait() {
    std::vector<pollfd> taps;
    for (const Port& p : ports_) taps.push_back({p.tap, POLLIN, 0});
    timespec limit{0, 0};
    if (!frames_.empty()) {
      const Time left = std::max<Time>(frames_.top().due - now() - early, 0);
      limit = {left / 1'000'000'000, left % 1'000'000'000};
    }
    ppoll(taps.data(), taps.size(), frames_.empty() ? nullptr : &limit, nullptr);
  }

  std::vector<Port> ports_;
  double ns_per_byte_;
  Time delay_;
  std::size_t frame_size_;
  std::priority_queue<Frame, std::vector<Frame>, Later> frames_;
  std::uint64_t read_ = 0;
  unsigned long long handed_ = 0, late_ = 0, dropped_ = 0;
  Time latest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: network_switch PORTS BITS_PER_S DELAY_NS MTU\n");
    return 2;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };
  sigaction(SIGTERM, &action, nullptr);  // without SA_RESTART: a wait ends
  sigaction(SIGINT, &action, nullptr);
  prctl(PR_SET_TIMERSLACK, 1UL);
  Switch network(std::strtoul(argv[1], nullptr, 10), std::strtod(argv[2], nullptr),
                 std::strtoll(argv[3], nullptr, 10), std::strtoul(argv[4], nullptr, 10));
  std::puts("ready");
  std::fflush(stdout);
  network.run();
}
