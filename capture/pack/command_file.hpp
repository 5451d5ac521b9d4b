#pragma once
// The command that was recorded, as text in a file beside the spools: RUN.command.

#include <string>

#include "capture/pack/team.hpp"

namespace simreplay::pack {

std::string command_file(const std::string& folder, const std::string& run);

/// The text, from the lowest rank that sees the file; empty if none does. Collective.
std::string read_command(const std::string& folder, const std::string& run, const Team& team);

}  // namespace simreplay::pack
