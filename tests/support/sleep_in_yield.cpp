// To be preloaded into MPI ranks that stand for hosts of their own but share the processors of one computer
// (scripts/testbed/hosts.sh). A rank that waits polls and yields; here it sleeps a moment instead, so that it
// leaves the processor to those that have something to do, and is served first when it wakes.

#include <sys/prctl.h>

#include <ctime>

extern "C" int sched_yield() noexcept {
  thread_local const int exact = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(exact);
  const timespec moment{0, 20'000};
  nanosleep(&moment, nullptr);
  return 0;
}
