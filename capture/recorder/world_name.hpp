#pragma once
// What tells an MPI program from others that the same command starts.

namespace simreplay::recorder {

/// The name that the launcher gave the program, the same in all its `size` processes.
void name_world(char (&name)[128], int size);

}  // namespace simreplay::recorder
