// Samples for people: as a table, as a line, and on a terminal.

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/performance/live.hpp"
#include "common/units.hpp"

namespace simreplay::performance {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t header_lines = 2;
constexpr auto shortest_time_between_drawings = 100ms;

std::string time(double seconds) {
  return format_duration(Duration{static_cast<std::int64_t>(std::clamp(seconds, 0.0, 4e6) * 1e12)});
}

std::string rate(double per_second) {
  return per_second >= 1e6   ? fmt::format("{:.1f} M", per_second * 1e-6)
         : per_second >= 1e3 ? fmt::format("{:.1f} k", per_second * 1e-3)
                             : fmt::format("{:.0f}", per_second);
}

std::string whole(const LiveSample& s) {
  std::string text = time(s.seconds);
  if (s.progress) text += fmt::format("  {:.1f} % done", 100 * *s.progress);
  if (s.simulated_seconds) text += "  simulated " + time(*s.simulated_seconds);
  if (s.remaining_seconds) text += "  remaining " + time(*s.remaining_seconds);
  return text + fmt::format("  {} calls/s  round trip {} every {}", rate(s.calls_per_second),
                            time(s.round_trip_seconds), time(s.period_seconds));
}

/// Load, communication and idle time as one bar of `width` characters.
std::string bar(const LiveProcessor& p, std::size_t width) {
  const auto characters = [width](double share) {
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  };
  const std::size_t load = characters(p.load);
  const std::size_t busy = std::max(load, characters(p.load + p.communication));
  return std::string(load, '#') + std::string(busy - load, '=') + std::string(width - busy, '.');
}

constexpr const char* row_format = "{:>9}  {:>4} {:>5} {:>5}  {:<{}}  {:>8}  {:>9}  {}";
constexpr std::size_t row_without_bar = 60;

std::string titles(std::size_t width) {
  return fmt::format(row_format, "processor", "load", "comm.", "idle", "# load = comm . idle", width, "queue",
                     "memory", "sends to");
}

std::string row(const LiveProcessor& p, std::size_t width) {
  const auto percent = [](double share) { return fmt::format("{:.0f}%", 100 * share); };
  return fmt::format(row_format, p.processor, percent(p.load), percent(p.communication), percent(p.idle),
                     bar(p, width), width, p.queue, p.memory > 0 ? format_bytes(p.memory) : "",
                     p.to >= 0 ? std::to_string(p.to) : "");
}

/// Which processors are shown: all, or as many of the busiest as of the idlest.
struct Choice {
  std::vector<std::size_t> first, last;
  std::size_t left_out = 0;
};

Choice choose(const std::vector<LiveProcessor>& processors, std::size_t rows) {
  Choice choice;
  std::vector<std::size_t> order(processors.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() <= rows) return {order, {}, 0};
  std::ranges::stable_sort(order, [&](auto a, auto b) { return processors[a].load > processors[b].load; });
  const std::size_t shown = std::max<std::size_t>(rows, 3) - 1, busiest = (shown + 1) / 2;
  choice.left_out = order.size() - std::min(order.size(), shown);
  choice.first.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(busiest));
  choice.last.assign(order.end() - static_cast<std::ptrdiff_t>(shown - busiest), order.end());
  return choice;
}

/// The terminal's lines and columns.
std::pair<std::size_t, std::size_t> size_of(std::FILE* terminal) {
  winsize size{};
  if (ioctl(fileno(terminal), TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {24, 80};
  return {size.ws_row, size.ws_col};
}

}  // namespace

std::string to_table(const LiveSample& sample, std::size_t rows, std::size_t columns) {
  const std::size_t width = std::max<std::size_t>(columns, row_without_bar + 20) - row_without_bar;
  std::string table;
  const auto add = [&](const std::string& line) {
    const std::string cut = line.substr(0, columns);
    table += cut.substr(0, cut.find_last_not_of(' ') + 1) + '\n';
  };
  add(whole(sample));
  add(titles(width));
  const Choice choice = choose(sample.processors, rows - std::min(rows, header_lines));
  for (const std::size_t i : choice.first) add(row(sample.processors[i], width));
  if (choice.left_out > 0)
    add(fmt::format("      ...  {} others, neither as busy nor as idle",
                    format_count(static_cast<std::int64_t>(choice.left_out))));
  for (const std::size_t i : choice.last) add(row(sample.processors[i], width));
  return table;
}

std::string to_text_line(const LiveSample& sample) {
  std::string line = whole(sample);
  if (sample.processors.empty()) return line;
  const auto [least, most] = std::ranges::minmax_element(sample.processors, {}, &LiveProcessor::load);
  const auto queue = std::ranges::max_element(sample.processors, {}, &LiveProcessor::queue);
  line += fmt::format("  load {:.0f}% ({}) to {:.0f}% ({})", 100 * least->load, least->processor,
                      100 * most->load, most->processor);
  if (queue->queue > 0) line += fmt::format("  longest queue {} ({})", queue->queue, queue->processor);
  return line;
}

void LiveScreen::show(const LiveSample& sample) {
  const auto now = std::chrono::steady_clock::now();
  if (lines_ > 0 && now - last_ < shortest_time_between_drawings) return;
  last_ = now;
  const auto [rows, columns] = size_of(terminal_);
  draw(to_table(sample, rows - 1, columns));
}

void LiveScreen::clear() {
  if (lines_ > 0) draw("");
}

/// Up to the first line of the table before, and over it; what is left of that is erased. In one write, so
/// that the terminal never shows a half.
void LiveScreen::draw(const std::string& table) {
  std::string text = lines_ > 0 ? fmt::format("\x1b[{}F", lines_) : "";
  for (const char c : table) text += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
  text += "\x1b[J";
  lines_ = static_cast<std::size_t>(std::ranges::count(table, '\n'));
  std::fwrite(text.data(), 1, text.size(), terminal_);
  std::fflush(terminal_);
}

}  // namespace simreplay::performance
