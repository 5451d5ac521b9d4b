#pragma once
// Output that is not a trace: whole files, and a terminal if somebody watches.

#include <cstdint>
#include <string>

namespace simreplay {

/// Refuses, before any work is done, an output that exists (without `force`) or that cannot be created
/// where it is wanted. Throws Error.
void check_output(const std::string& path, bool force);

/// Refuses an output of about `bytes` where the disk has no room for it: MPI-IO and HDF5 do not survive a
/// disk that fills up while they write. Throws Error.
void check_space(const std::string& path, std::uint64_t bytes);

/// Writes under a temporary name and renames, so that no half file bears the name. Throws Error.
void write_file(const std::string& path, const std::string& content);

/// True if what this process writes to stderr ends on a terminal. Under mpirun stderr is a pipe to the
/// launcher, so the launcher's own stderr is looked at.
bool stderr_is_watched();

}  // namespace simreplay
