// simtrace: looks at trace files, checks, makes and compares them.

#include <fmt/format.h>

#include <cstdio>

#include "capture/simtrace/command_line.hpp"
#include "capture/simtrace/diff.hpp"
#include "capture/simtrace/generate.hpp"
#include "capture/simtrace/info.hpp"
#include "capture/simtrace/pack.hpp"
#include "capture/simtrace/verify.hpp"

namespace {

using namespace simreplay::simtrace;

constexpr Command commands[] = {
    {"info", "what a trace holds", info_command},
    {"verify", "check that a trace fits together", verify_command},
    {"diff", "compare two traces", diff_command},
    {"generate", "write a synthetic trace", generate_command},
    {"pack", "write a trace from recorded spools", pack_command},
};

void print_help() {
  fmt::print("usage: simtrace COMMAND ...\n\n");
  for (const Command& c : commands) fmt::print("  {:<10} {}\n", c.name, c.help);
  fmt::print("\n`simtrace COMMAND --help` says more. Exit status: 0 success, 1 fault, 2 wrong use.\n");
}

std::string command_names() {
  std::string names;
  for (const Command& c : commands) names += (names.empty() ? "" : ", ") + std::string(c.name);
  return names;
}

Exit run(const Arguments& arguments) {
  if (arguments.empty()) throw UsageError("no command given; commands: " + command_names());
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h") return print_help(), Exit::success;
  if (name == "--version") return fmt::print("simtrace {}\n", SIMREPLAY_VERSION), Exit::success;
  for (const Command& c : commands)
    if (c.name == name) return c.run({arguments.begin() + 1, arguments.end()});
  throw UsageError(fmt::format("unknown command '{}'; commands: {}", name, command_names()));
}

}  // namespace

int main(int argc, char** argv) {
  return static_cast<int>(guarded(true, [&] { return run({argv + 1, argv + argc}); }));
}
