#include "capture/simtrace/timeline.hpp"

#include <algorithm>

#include "capture/simtrace/saturated.hpp"

namespace simreplay::simtrace {
namespace {

constexpr std::size_t remembered_calls = std::size_t{1} << 16;  // `overlaps` has 16 bits

}  // namespace

void Timeline::use(const trace::SignatureTable& table) {
  table_ = &table;
  const bool parts = std::ranges::any_of(table.thread, [](std::uint16_t thread) { return thread != 0; });
  if (!parts || !threads_.empty()) return;
  latest_leaves_.assign(remembered_calls, latest_);  // the calls so far followed each other
  threads_.push_back({latest_, calls_ > 0});
}

Timeline::Times Timeline::add(std::uint16_t signature, std::int64_t computation, std::int64_t duration) {
  calls_++;
  if (!threads_.empty()) [[unlikely]]
    return add_of_thread(signature, computation, duration);
  const std::int64_t enter = saturated_sum(latest_, computation);
  latest_ = saturated_sum(enter, duration);
  return {enter, latest_};
}

Timeline::Times Timeline::add_of_thread(std::uint16_t signature, std::int64_t computation,
                                        std::int64_t duration) {
  const std::size_t number = table_->thread[signature];
  if (number >= threads_.size()) threads_.resize(number + 1);
  Thread& thread = threads_[number];
  const std::uint64_t call = calls_ - 1, overlaps = table_->overlaps[signature];
  if (!thread.has_begun && call > overlaps)
    thread.leave = latest_leaves_[(call - overlaps - 1) % remembered_calls];
  const std::int64_t enter = saturated_sum(thread.leave, computation);
  thread = {saturated_sum(enter, duration), true};
  latest_ = std::max(latest_, thread.leave);
  latest_leaves_[call % remembered_calls] = latest_;
  return {enter, thread.leave};
}

}  // namespace simreplay::simtrace
