#include "replay/network/alpha_beta.hpp"

#include <limits>
#include <stdexcept>

namespace simreplay::network {

AlphaBeta::AlphaBeta(const MessageCosts& costs, Machine::Model model)
    : alpha_(costs.send_prolog.at(0) + costs.latency.at(0) + costs.receive_epilog.at(0)) {
  constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  way_ = costs.per_byte.at(longest);
  receiver_ = costs.receive_per_byte.at(longest);
  if (model == Machine::Model::base) {
    sender_ = costs.send_per_byte.at(longest);
  } else if (const Ratio& gap = costs.gap_per_byte.at(longest); gap.value() > receiver_.value()) {
    receiver_ = gap;  // LogGOPS: the sender's O passes while the first bytes travel; max(O, G) remains
  }
}

Duration AlphaBeta::of(int messages, std::int64_t bytes) const {
  std::int64_t sum = 0;
  bool over = __builtin_mul_overflow(alpha_.count(), messages, &sum);
  for (const Ratio* part : {&sender_, &way_, &receiver_})
    over = __builtin_add_overflow(sum, part->times(bytes), &sum) || over;
  if (over) throw std::overflow_error("a collective takes longer than simulated time lasts");
  return Duration{sum};
}

}  // namespace simreplay::network
