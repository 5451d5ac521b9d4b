#pragma once
// What every wrapper does: clock, the call itself, clock, and a record by the handler of its operation.

#include "capture/recorder/recorder.hpp"

namespace simreplay::recorder {

/// Knows how to record an operation. A handler has
///   before(arguments by reference)       keeps what the call will overwrite; may replace a status that the
///                                        program ignores by one of its own
///   after(record, result, arguments)     completes the record and appends it
///   sees_failures                        whether after() also runs when the call failed
/// Operations without a handler of their own are recorded by time alone.
template <Op op>
struct Handler {
  static constexpr bool sees_failures = false;
  template <class... A>
  void before(A&...) {}
  template <class... A>
  void after(Record& record, int, A...) {
    recorder().append(record);
  }
};

/// MPI calls that the MPI library makes while it serves one of the program (or in callbacks) are not
/// recorded.
class Nesting {
 public:
  Nesting() { depth_++; }
  ~Nesting() { depth_--; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool is_outermost() const { return depth_ == 1; }

 private:
  static inline constinit thread_local int depth_ = 0;
};

template <Op op, class... A>
int recorded(Next<int(A...)>& next, std::type_identity_t<A>... arguments) {
  Handler<op> handler;
  handler.before(arguments...);
  Record record;
  record.kind = static_cast<std::uint16_t>(op);
  record.enter = now();
  const int result = next(arguments...);
  record.leave = now();
  if (result != MPI_SUCCESS && !Handler<op>::sees_failures) return result;
  const Recorder::Lock lock(recorder());
  handler.after(record, result, arguments...);
  return result;
}

void start_late();

template <Op op, class... A>
int intercept(Next<int(A...)>& next, std::type_identity_t<A>... arguments) {
  const Nesting nesting;
  if (!nesting.is_outermost()) return next(arguments...);
  if (!recorder().is_on()) [[unlikely]] {
    if (!recorder().is_waiting()) return next(arguments...);
    if constexpr (info(op).verb != Verb::start) {
      start_late();
      if (!recorder().is_on()) return next(arguments...);
    }
  }
  return recorded<op>(next, arguments...);
}

}  // namespace simreplay::recorder
