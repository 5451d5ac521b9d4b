#pragma once
// Command lines as all programs of the replay read them.

#include <boost/program_options.hpp>

namespace simreplay {

/// Without guessing: `--cpu` must not become `--cpu.speedup`. `program` is named in remedies. Throws Error:
/// unknown options with the nearest valid one.
boost::program_options::variables_map parse_command_line(
    int argc, const char* const* argv, const boost::program_options::options_description& all,
    const boost::program_options::positional_options_description& positional, const char* program);

}  // namespace simreplay
