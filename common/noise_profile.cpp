#include "common/noise_profile.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common/error.hpp"

namespace simreplay {
namespace {

class ProfileReader {
 public:
  explicit ProfileReader(const std::string& path) : path_(path), in_(path) {
    if (!in_) throw Error({.file = path, .expected = "a noise profile", .found = "none that can be read"});
  }

  NoiseProfile read() {
    read_header();
    Duration free_from{}, noise{};
    while (next_line()) {
      const Detour d = detour(free_from);
      free_from = d.begin + d.duration;
      noise += d.duration;
      profile_.detours.push_back(d);
    }
    if (noise >= profile_.length)
      refuse("detours that leave time for computation", fmt::format("{} of noise", format_duration(noise)));
    return std::move(profile_);
  }

 private:
  void read_header() {
    if (!next_line())
      throw Error(
          {.file = path_, .expected = "`unit UNIT length NUMBER` before all detours", .found = "nothing"});
    if (words_.size() != 4 || words_[0] != "unit" || words_[2] != "length")
      refuse("`unit UNIT length NUMBER` before all detours", text());
    unit_ = words_[1];
    profile_.length = time(words_[3]);
    if (profile_.length <= Duration{}) refuse("a length above 0", text());
  }

  Detour detour(Duration free_from) {
    if (words_.size() != 2) refuse("begin and duration of a detour", text());
    const Detour d{time(words_[0]), time(words_[1])};
    if (d.begin < free_from)
      refuse(fmt::format("a detour that begins after the one before, which ends at {}",
                         format_duration(free_from)),
             text());
    if (d.duration > profile_.length - d.begin)
      refuse(fmt::format("a detour that ends within the length of {}", format_duration(profile_.length)),
             text());
    return d;
  }

  /// False at the end; lines without words are passed over.
  bool next_line() {
    for (std::string text; std::getline(in_, text);) {
      line_++;
      std::istringstream words(text.substr(0, text.find('#')));
      words_.assign(std::istream_iterator<std::string>(words), {});
      if (!words_.empty()) return true;
    }
    return false;
  }

  Duration time(const std::string& number) const try {
    return parse_duration(number + unit_);
  } catch (const std::invalid_argument& e) {
    throw Error({.file = path_, .line = line_, .problem = e.what()});
  }
  std::string text() const { return fmt::format("'{}'", fmt::join(words_, " ")); }
  [[noreturn]] void refuse(std::string expected, std::string found) const {
    throw Error({.file = path_, .line = line_, .expected = std::move(expected), .found = std::move(found)});
  }

  std::string path_, unit_;
  std::ifstream in_;
  std::int64_t line_ = 0;
  std::vector<std::string> words_;
  NoiseProfile profile_;
};

}  // namespace

NoiseProfile read_noise_profile(const std::string& path) { return ProfileReader(path).read(); }

std::string to_text(const NoiseProfile& profile, std::string_view comment) {
  const auto ns = [](Duration d) { return d.count() / 1000; };
  std::string text;
  while (!comment.empty()) {
    const std::string_view line = comment.substr(0, comment.find('\n'));
    comment.remove_prefix(std::min(comment.size(), line.size() + 1));
    text += fmt::format("# {}\n", line);
  }
  text += fmt::format("unit ns length {}\n", ns(profile.length));
  for (const Detour& d : profile.detours) text += fmt::format("{} {}\n", ns(d.begin), ns(d.duration));
  return text;
}

}  // namespace simreplay
