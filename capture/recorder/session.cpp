// How recording begins.

#include "capture/recorder/handlers/session.hpp"
#include "capture/recorder/handlers/point_to_point.hpp"

namespace simreplay::recorder {
namespace {

int succeed(const void*, int, MPI_Datatype, int, int, MPI_Comm) { return MPI_SUCCESS; }

/// A send that only the recorder sees.
void call_that_does_nothing() {
  static constinit Next<decltype(MPI_Send)> nothing{succeed};
  recorded<Op::Send>(nothing, nullptr, 1, predefined.byte, 0, 0, predefined.world);
}

}  // namespace

void start_with(Record& init) { recorder().start(call_that_does_nothing, &init); }

/// The first call seen is not MPI_Init: that one went past us.
void start_late() {
  int runs = 0;
  mpi::initialized(&runs);
  if (runs != 0) recorder().start(call_that_does_nothing, nullptr);
}

void Handler<Op::Abort>::set_communicator_if_known(Record& record, MPI_Comm comm) {
  if (comm != predefined.null_communicator) set_communicator(record, comm);
}

}  // namespace simreplay::recorder
