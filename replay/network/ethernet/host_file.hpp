#pragma once
// Files that say something of every host: a word for each, in the order of hosts; `#` begins a comment.

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simreplay::ethernet {

struct HostWord {
  std::string word;
  std::int64_t line = 0;
};

/// Collective: read by rank 0 for all. `what` ("a rate") is for messages. Words of further hosts are left
/// out. Throws Error, on all ranks alike, if there are not enough.
std::vector<HostWord> read_host_file(const std::string& path, std::string_view what, std::int32_t hosts,
                                     MPI_Comm comm);

}  // namespace simreplay::ethernet
