// main() of the test programs that run under MPI: all ranks enter every test case together.
//
// - What a rank prints is kept in a file and shown only if that rank fails or is ended, as one piece.
// - Ranks meet after each test case. A rank that has failed waits for the others a few seconds; if they
//   do not come, for they wait inside the test for a message from it, it leaves and the job ends.
// - Shortly before the launcher's time limit (MPIEXEC_TIMEOUT) each rank says in which test case it hangs.
// - The exit status is the maximum over the ranks; no test case at all is a failure.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

namespace {

constexpr unsigned seconds_to_wait_after_failure = 3;

MPI_Comm meeting = MPI_COMM_NULL;  // of the harness alone, so that it cannot meet messages of a test

/// Standard output of this rank, redirected to a file. Used in signal handlers: system calls only.
class CapturedOutput {
 public:
  void start(int rank, int size) {
    title_ = "---- rank " + std::to_string(rank) + " of " + std::to_string(size) + " ----\n";
    std::FILE* file = std::tmpfile();
    if (file == nullptr) return;  // then output appears at once, mixed with that of other ranks
    file_ = fileno(file);
    terminal_ = dup(STDOUT_FILENO);
    dup2(file_, STDOUT_FILENO);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a rank may end without a chance to flush
  }

  /// Puts everything out that was flushed.
  void show() const {
    if (file_ < 0) return;
    write_all(title_.data(), title_.size());
    char buffer[4096];
    off_t offset = 0;
    for (ssize_t n; (n = pread(file_, buffer, sizeof buffer, offset)) > 0; offset += n) {
      write_all(buffer, static_cast<std::size_t>(n));
    }
  }

  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
  }

 private:
  void write_all(const char* data, std::size_t size) const {
    while (size > 0) {
      const ssize_t n = write(terminal_, data, size);
      if (n <= 0) return;
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  std::string title_;
  int file_ = -1;
  int terminal_ = -1;
};

CapturedOutput output;

extern "C" {

// Catch2 reports the signal and the test case to standard output and raises the signal again, which then
// comes here. SIGTERM is how the launcher ends the other ranks, which so say where they were.
static void show_output_and_crash(int signal) {
  output.show();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

static void leave(int) { std::raise(SIGTERM); }

}  // extern "C"

class Meetings : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  inline static int test_cases = 0;

  // Returns bool in Catch2 2 and nothing in Catch2 3.
  using Ended = decltype(std::declval<Catch::EventListenerBase&>().assertionEnded(
      std::declval<const Catch::AssertionStats&>()));

  Ended assertionEnded(const Catch::AssertionStats& stats) override {
    if (stats.assertionResult.getResultType() == Catch::ResultWas::FatalErrorCondition) {
      crashed_ = true;
    } else if (!stats.assertionResult.isOk() && !failed_) {
      failed_ = true;
      seconds_left_ = alarm(seconds_to_wait_after_failure);
    }
    return Ended();
  }

  void testCaseEnded(const Catch::TestCaseStats&) override {
    if (crashed_) return;  // called from a signal handler
    MPI_Barrier(meeting);
    if (failed_) alarm(seconds_left_);
    failed_ = false;
    ++test_cases;
  }

 private:
  bool failed_ = false;
  bool crashed_ = false;
  unsigned seconds_left_ = 0;  // of the launcher's time limit
};

CATCH_REGISTER_LISTENER(Meetings)

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  session.configData().rngSeed = 1;  // the same on all ranks: they must agree on the order of test cases
  if (const int status = session.applyCommandLine(argc, argv); status != 0) return status;

  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &meeting);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(meeting, &rank);
  MPI_Comm_size(meeting, &size);

  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM}) {
    std::signal(signal, show_output_and_crash);
  }
  std::signal(SIGALRM, leave);
  if (const char* limit = std::getenv("MPIEXEC_TIMEOUT"))
    alarm(static_cast<unsigned>(std::atoi(limit)) * 9 / 10);

  output.start(rank, size);
  int status = session.run();
  alarm(0);
  CapturedOutput::flush();
  const auto& config = session.configData();
  if (config.listTests || config.listTags || config.listReporters || config.showHelp) {
    status = 0;
    if (rank == 0) output.show();
  } else {
    if (Meetings::test_cases == 0) status = std::max(status, 1);
    if (status != 0) output.show();
  }

  int worst = status;
  MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, meeting);
  MPI_Comm_free(&meeting);
  MPI_Finalize();
  return std::min(worst, 255);
}
