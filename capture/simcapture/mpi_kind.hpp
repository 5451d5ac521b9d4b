#pragma once
// Which MPI library the program uses, for each kind has a recorder of its own.

#include <string>
#include <vector>

namespace simreplay::simcapture {

/// By binary interface: "openmpi" or "mpich", which stands for its relatives, too; empty if it is not known.
using MpiKind = std::string;

bool is_mpi_kind(const std::string& name);

/// Of a launcher that says so when it is asked for its version.
MpiKind kind_of_launcher(const std::string& program);

/// Of the first program among the words of a command that loads an MPI library.
MpiKind kind_of_program(const std::vector<std::string>& command);

/// The recorder's library for programs of this kind, or of the kind that we were built with:
/// SIMCAPTURE_LIBRARY, or beside this program. Throws Error if there is none.
std::string find_recorder(const MpiKind& kind);

}  // namespace simreplay::simcapture
