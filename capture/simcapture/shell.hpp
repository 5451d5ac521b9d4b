#pragma once
// Words of a command as a shell reads them.

#include <string>
#include <vector>

namespace simreplay::simcapture {

inline std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Words are quoted only where they need it.
inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?`") == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : quoted(word));
  }
  return text;
}

}  // namespace simreplay::simcapture
