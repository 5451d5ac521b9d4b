#pragma once
// One error type: what was expected and found, and where. Text for people is made in one place.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace simreplay {

/// Where something is wrong and what. Empty fields are left out of the message:
///   t.h5: process 17, call 4211 (MPI_Wait): expected an open request, found none; was capture on?
struct Fault {
  std::string file{};
  std::optional<std::int64_t> line{};     // of a text file, from 1
  std::optional<std::int64_t> process{};  // recorded process (rank in MPI_COMM_WORLD)
  std::optional<std::int64_t> call{};     // index within the process, from 0
  std::string operation{};                // MPI function name
  std::string problem{};                  // free text, used instead of expected/found
  std::string expected{};
  std::string found{};
  std::string remedy{};
};

std::string to_string(const Fault& fault);

class Error : public std::runtime_error {
 public:
  explicit Error(Fault fault) : std::runtime_error(to_string(fault)), fault_(std::move(fault)) {}
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace simreplay
