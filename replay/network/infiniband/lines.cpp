#include "replay/network/infiniband/lines.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "common/error.hpp"

namespace simreplay::infiniband {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

Lines Lines::of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    throw Error({.file = path, .expected = "a file", .found = "none that can be read"});
  return {path, std::move(content)};
}

Lines::Lines(std::string name, std::string content) : name_(std::move(name)), content_(std::move(content)) {
  restart();
}

void Lines::restart() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  had_mark_ = content_.compare(0, mark.size(), mark) == 0;
  next_ = had_mark_ ? mark.size() : 0;
  number_ = 0;
  text_ = {};
}

bool Lines::next() {
  if (next_ >= content_.size()) return false;
  const std::size_t end = std::min(content_.find('\n', next_), content_.size());
  std::string_view line = std::string_view(content_).substr(next_, end - next_);
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
    had_returns_ = true;
  }
  text_ = trimmed(line);
  next_ = end + 1;
  number_++;
  return true;
}

void Lines::refuse(std::string expected, std::string found, std::int64_t line) const {
  throw Error({.file = name_, .line = line, .expected = std::move(expected), .found = std::move(found)});
}

std::string Lines::place(std::int64_t line) const { return fmt::format("{}:{}", name_, line); }

void Cursor::skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

bool Cursor::at_end() {
  skip_blanks();
  return rest_.empty();
}

bool Cursor::take(std::string_view token) {
  if (rest_.substr(0, token.size()) != token) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void Cursor::expect(std::string_view token, std::string_view what) {
  if (!take(token)) refuse(what);
}

std::int64_t Cursor::decimal(std::string_view what, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc() || value < least || value > most)
    refuse(fmt::format("{} from {} to {}", what, least, most));
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::uint64_t Cursor::hex(std::string_view what) {
  const std::string_view before = rest_;
  if (!take("0x")) take("0X");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, 16);
  if (error != std::errc()) {
    rest_ = before;
    refuse(what);
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::string Cursor::quoted(std::string_view what) {
  const std::size_t end = rest_.empty() ? std::string_view::npos : rest_.find('"', 1);
  if (rest_.empty() || rest_[0] != '"' || end == std::string_view::npos) refuse(what);
  std::string value(rest_.substr(1, end - 1));
  rest_.remove_prefix(end + 1);
  return value;
}

std::string Cursor::word() {
  skip_blanks();
  const std::size_t end = std::min(rest_.find_first_of(blanks), rest_.size());
  std::string value(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return value;
}

void Cursor::refuse(std::string_view expected) const {
  constexpr std::size_t enough = 40;
  lines_.refuse(std::string(expected),
                rest_.empty() ? "the end of the line" : fmt::format("`{}`", rest_.substr(0, enough)));
}

}  // namespace simreplay::infiniband
