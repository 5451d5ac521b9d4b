// To be preloaded into MPI ranks that stand for hosts of their own but share the processors of one computer
// (scripts/testbed/hosts.sh). A rank that waits polls and yields; here it sleeps a moment instead, so that it
// leaves the processor to those that have something to do, and is served first when it wakes. How long: the
// nanoseconds in SLEEP_IN_YIELD, 20,000 if it is not there; 0: it yields. To wake a rank costs a processor
// some 20 us.

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

extern "C" int sched_yield() noexcept {
  thread_local const int exact = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(exact);
  static const char* const given = std::getenv("SLEEP_IN_YIELD");
  static const timespec moment{0, given ? std::atol(given) : 20'000};
  if (moment.tv_nsec == 0) return static_cast<int>(syscall(SYS_sched_yield));
  nanosleep(&moment, nullptr);
  return 0;
}
