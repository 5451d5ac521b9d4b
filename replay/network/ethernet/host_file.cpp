#include "replay/network/ethernet/host_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "common/error.hpp"
#include "common/mpi_lists.hpp"

namespace simreplay::ethernet {
namespace {

/// The content for all ranks. Throws Error on all of them if rank 0 cannot read it.
std::string shared_content(const std::string& path, MPI_Comm comm) {
  std::string content;
  int readable = 1;
  if (rank_in(comm) == 0) {
    std::ifstream in(path, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(in), {});
    readable = in.is_open() && !in.bad() ? 1 : 0;
  }
  MPI_Bcast(&readable, 1, MPI_INT, 0, comm);
  if (readable == 0) throw Error({.file = path, .expected = "a file that can be read", .found = "none"});
  broadcast(comm, content);
  return content;
}

}  // namespace

std::vector<HostWord> read_host_file(const std::string& path, std::string_view what, std::int32_t hosts,
                                     MPI_Comm comm) {
  std::vector<HostWord> words;
  std::istringstream in(shared_content(path, comm));
  std::string text;
  for (std::int64_t line = 1; std::getline(in, text); line++) {
    std::istringstream parts(text.substr(0, text.find('#')));
    for (std::string word; parts >> word;) words.push_back({word, line});
  }
  if (words.size() < static_cast<std::size_t>(hosts))
    throw Error({.file = path,
                 .expected = fmt::format("{} for each of the {} hosts in use", what, hosts),
                 .found = fmt::format("{}", words.size())});
  words.resize(static_cast<std::size_t>(hosts));
  return words;
}

}  // namespace simreplay::ethernet
