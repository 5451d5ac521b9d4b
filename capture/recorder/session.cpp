// How recording begins.

#include "capture/recorder/handlers/session.hpp"
#include "capture/recorder/handlers/arguments.hpp"

namespace simreplay::recorder {

void start_with(Record& init) { recorder().start(&init, Nesting::thread()); }

/// The first call seen is not MPI_Init: that one went past us.
void start_late() {
  int runs = 0;
  mpi::initialized(&runs);
  if (runs != 0) recorder().start(nullptr, Nesting::thread());
}

void say_lost(const char* what) {
  static constinit std::atomic_flag said;
  if (Nesting::is_inside() || recorder().is_off() || said.test_and_set(std::memory_order_relaxed)) return;
  warn("%s", what);
}

void Handler<Op::Abort>::set_communicator_if_known(Record& record, MPI_Comm comm) {
  if (comm != predefined.null_communicator) set_communicator(record, comm);
}

}  // namespace simreplay::recorder
