#pragma once
// Text files line by line, whatever ends their lines.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simreplay::infiniband {

/// The lines of a text; `name` is that of its file, for messages.
class Lines {
 public:
  /// Throws Error if the file cannot be read.
  static Lines of_file(const std::string& path);
  Lines(std::string name, std::string content);

  bool next();                                     // to the next line, also an empty one
  std::string_view text() const { return text_; }  // of the current one, without blanks around it
  std::int64_t number() const { return number_; }  // from 1
  const std::string& name() const { return name_; }
  bool had_mark() const { return had_mark_; }  // a byte order mark
  bool had_returns() const { return had_returns_; }
  void restart();

  /// Throws Error about the current line, or about another one.
  [[noreturn]] void refuse(std::string expected, std::string found) const {
    refuse(std::move(expected), std::move(found), number_);
  }
  [[noreturn]] void refuse(std::string expected, std::string found, std::int64_t line) const;
  /// Where something is, for notes: "file:12".
  std::string place(std::int64_t line) const;

 private:
  std::string name_, content_;
  std::string_view text_;
  std::size_t next_ = 0;
  std::int64_t number_ = 0;
  bool had_mark_ = false, had_returns_ = false;
};

/// Takes a line apart from left to right.
class Cursor {
 public:
  explicit Cursor(const Lines& lines) : lines_(lines), rest_(lines.text()) {}

  void skip_blanks();
  bool at_end();
  /// True, and past it, if the text goes on with `token`.
  bool take(std::string_view token);
  void expect(std::string_view token, std::string_view what);
  std::int64_t decimal(std::string_view what, std::int64_t least, std::int64_t most);
  std::uint64_t hex(std::string_view what);  // with or without 0x
  std::string quoted(std::string_view what);
  std::string word();  // up to the next blank; may be empty
  std::string_view rest() const { return rest_; }
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  const Lines& lines_;
  std::string_view rest_;
};

}  // namespace simreplay::infiniband
