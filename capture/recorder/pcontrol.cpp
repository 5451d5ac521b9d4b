// MPI_Pcontrol: 0 pauses the recording, 1 resumes it. Other levels are left to other tools. Names of regions,
// which some tools take behind levels 1 and -1, are not looked at: a call cannot tell whether it was given
// one.

#include <cstdarg>

#include "capture/recorder/intercept.hpp"

namespace simreplay::recorder {
namespace {

using Pcontrol = int(const int, void*, void*, void*, void*);

/// What else the program passed is handed on as it came: pointers, or numbers that fit one.
int controlled(Next<Pcontrol>& next, int level, std::va_list arguments) {
  void* others[4];
  for (void*& other : others) other = va_arg(arguments, void*);
  const Nesting nesting;
  if (nesting.is_outermost() && recorder().hears(Nesting::thread())) {
    const Recorder::Lock lock(recorder());
    recorder().control(level);
  }
  return next(level, others[0], others[1], others[2], others[3]);
}

}  // namespace
}  // namespace simreplay::recorder

extern "C" [[gnu::visibility("default")]] int MPI_Pcontrol(const int level, ...) {
  static constinit simreplay::recorder::Next<simreplay::recorder::Pcontrol> next{"MPI_Pcontrol"};
  std::va_list arguments;
  va_start(arguments, level);
  const int result = simreplay::recorder::controlled(next, level, arguments);
  va_end(arguments);
  return result;
}

extern "C" [[gnu::visibility("default")]] int PMPI_Pcontrol(const int level, ...) {
  static constinit simreplay::recorder::Next<simreplay::recorder::Pcontrol> next{"PMPI_Pcontrol"};
  std::va_list arguments;
  va_start(arguments, level);
  const int result = simreplay::recorder::controlled(next, level, arguments);
  va_end(arguments);
  return result;
}
