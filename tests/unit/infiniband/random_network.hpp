#pragma once
// Small fabrics, and settings drawn for them.

#include <array>
#include <random>
#include <utility>

#include "tests/unit/infiniband/small_network.hpp"

namespace simreplay::infiniband {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::int64_t number(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(to - from + 1));
  }
  template <class T, std::size_t N>
  const T& of(const std::array<T, N>& choices) {
    return choices[static_cast<std::size_t>(number(0, N - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

inline constexpr std::array<std::pair<const char*, const char*>, 10> fabrics{
    {{"single:6", "minhop"},
     {"single:5,rate=4xFDR,host-rate=4xFDR", "minhop"},
     {"fat-tree:leaves=3,spines=2,hosts=3,rate=4xHDR,host-rate=4xEDR", "ftree"},
     {"fat-tree:leaves=4,spines=1,hosts=2,rate=1xEDR,host-rate=4xEDR", "updn"},
     {"fat-tree:levels=3,pods=2,leaves=2,middles=2,spines=1,hosts=2,cable=50ns", "ftree"},
     {"fat-tree:leaves=2,spines=2,hosts=4,links=2,cable=3us", "minhop"},
     {"torus:4x3,hosts=1", "torus-2QoS"},
     {"mesh:3x3,hosts=1", "dor"},
     {"torus:5,hosts=2", "lash"},
     {"dragonfly+:groups=3,leaves=2,spines=2,hosts=2,global=1", "lash"}}};

inline Settings draw_settings(Draw& draw) {
  Settings s;
  s.mtu = draw.of(std::array<std::int64_t, 3>{256, 1024, 4096});
  s.message_header = draw.of(std::array<std::int64_t, 2>{0, 16});
  const std::int64_t packet = s.mtu + s.packet_header + s.message_header + 63;
  s.switch_buffer = packet * draw.number(1, 5);
  s.adapter_buffer = packet * draw.number(1, 5);
  s.switch_delay = Duration{draw.of(std::array<std::int64_t, 3>{1000, 50'000, 100'000})};
  s.credit_delay = Duration{draw.of(std::array<std::int64_t, 3>{0, 50'000, 400'000})};
  if (draw.number(0, 4) == 0) s.credit_period = Duration{256'000};
  if (draw.number(0, 4) == 0) s.header_wait = 20;
  if (draw.number(0, 4) == 0) s.forwarding = Forwarding::store_and_forward;
  if (draw.number(0, 2) == 0) s.input_order = InputOrder::round_robin;
  if (draw.number(0, 2) == 0) s.lane_order = LaneOrder::fcfs;
  if (draw.number(0, 2) == 0) s.lanes = 5;
  s.high_limit = draw.of(std::array<std::int64_t, 3>{0, 1, 255});
  if (draw.number(0, 4) == 0) {
    s.congestion_control = true;
    s.cc_marking_rate = draw.number(0, 2);
    s.ccti_timer = Duration{draw.of(std::array<std::int64_t, 2>{500'000, 20'000'000})};
    if (draw.number(0, 1) == 0) s.cc_table.assign(128, {1, 3});
  }
  if (draw.number(0, 1) == 0) s.bin = Duration{1'000'000};
  return s;
}

}  // namespace simreplay::infiniband
