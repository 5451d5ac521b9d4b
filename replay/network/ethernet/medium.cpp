#include "replay/network/ethernet/medium.hpp"

#include <algorithm>
#include <numeric>

#include "common/error.hpp"

namespace simreplay::ethernet {
namespace {

constexpr std::uint64_t most_parts = std::uint64_t{1} << 48;  // 2^62 ps of them, 2^16 times, fit 128 bits
constexpr auto longest = static_cast<std::uint64_t>(time_limit.time_since_epoch().count());

[[noreturn]] void refuse_time() {
  throw Error(
      {.operation = "shared-ethernet", .problem = "a transfer takes longer than times can be (53 days)"});
}

}  // namespace

Medium::Medium(const Ratio& per_byte, std::int32_t most_senders) : per_byte_(per_byte) {
  const auto divide_by = [this](std::uint64_t n) {
    const std::uint64_t factor = n / std::gcd(parts_, n);
    if (factor > most_parts / parts_) return false;
    parts_ *= factor;
    return true;
  };
  bool exact = divide_by(per_byte.denominator());
  for (std::uint64_t s = 2; s <= static_cast<std::uint64_t>(most_senders); s++) exact = divide_by(s) && exact;
  if (exact) return;
  while (parts_ <= most_parts / 2) parts_ *= 2;
  slack_ = parts_ >> 20;
}

Medium::Work Medium::work_of(std::int64_t bytes) const {
  const Uint128 product = static_cast<Uint128>(bytes) * per_byte_.numerator();
  const Uint128 whole = product / per_byte_.denominator(), rest = product % per_byte_.denominator();
  if (whole > longest) refuse_time();
  return whole * parts_ + (rest * parts_ + per_byte_.denominator() - 1) / per_byte_.denominator();
}

TimePoint Medium::next_end() const {
  if (transfers_.empty()) return TimePoint::max();
  const Work end = transfers_.top().end;
  if (end <= progress_ + slack_) return now_;
  const Work left = end - slack_ - progress_;
  const auto s = static_cast<std::uint64_t>(senders());
  if (left / parts_ > longest / s) refuse_time();
  const Uint128 ps = (left * s + parts_ - 1) / parts_;
  if (ps > longest - static_cast<std::uint64_t>(now_.time_since_epoch().count())) refuse_time();
  return now_ + Duration{static_cast<std::int64_t>(ps)};
}

void Medium::move_to(TimePoint now) {
  const Duration passed = now - now_;
  now_ = now;
  if (transfers_.empty() || passed == Duration{0}) return;
  const auto ps = static_cast<std::uint64_t>(passed.count());
  progress_ += static_cast<Uint128>(ps) * parts_ / static_cast<std::uint64_t>(senders());
  busy_ += passed;
  sender_time_ps_ += static_cast<Int128>(passed.count()) * senders();
}

std::optional<Medium::Transfer> Medium::take_ended(TimePoint now) {
  move_to(now);
  if (transfers_.empty() || transfers_.top().end > progress_ + slack_) return std::nullopt;
  const Transfer ended = transfers_.top();
  transfers_.pop();
  return ended;
}

void Medium::start(TimePoint now, std::int32_t sender, Work work) {
  move_to(now);
  if (transfers_.empty()) progress_ = 0;
  transfers_.push({progress_ + work, sender});
  most_ = std::max(most_, static_cast<std::int32_t>(transfers_.size()));
}

void Medium::go_on(const Transfer& ended, Work work) { transfers_.push({ended.end + work, ended.sender}); }

}  // namespace simreplay::ethernet
