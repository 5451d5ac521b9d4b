#include "common/error.hpp"

#include <fmt/format.h>

namespace simreplay {

std::string to_string(const Fault& f) {
  std::string where;
  const auto add = [&where](const std::string& part, const char* separator) {
    where += (where.empty() ? "" : separator) + part;
  };
  if (f.process) add(fmt::format("process {}", *f.process), ", ");
  if (f.call) add(fmt::format("call {}", *f.call), ", ");
  if (!f.operation.empty()) add(f.call ? fmt::format("({})", f.operation) : f.operation, f.call ? " " : ", ");

  std::string text = f.file;
  if (f.line) text += fmt::format(":{}", *f.line);
  if (!where.empty()) text += (text.empty() ? "" : ": ") + where;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : ": ") + part; };
  if (!f.problem.empty()) append(f.problem);
  if (!f.expected.empty()) append("expected " + f.expected + (f.found.empty() ? "" : ", found " + f.found));
  if (!f.remedy.empty()) text += "; " + f.remedy;
  return text;
}

}  // namespace simreplay
