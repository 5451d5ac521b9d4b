#pragma once
// What the bundled programs share: results on stdout, one line each, that a recorded run must not change.

#include <mpi.h>

#include <cstdarg>
#include <cstdio>

/// "rank 2: ..." in one write, so that lines of several processes do not mix.
[[gnu::format(printf, 1, 2)]] inline void report(const char* format, ...) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::printf("rank %d: %s\n", rank, text);
  std::fflush(stdout);
}
