#pragma once
// What every wrapper does: clock, the call itself, clock, and a record by the handler of its operation.

#include "capture/recorder/recorder.hpp"

namespace simreplay::recorder {

/// Knows how to record an operation. A handler has
///   before(arguments by reference)       keeps what the call will overwrite; may replace a status that the
///                                        program ignores by one of its own
///   after(record, result, arguments)     completes the record and appends it
///   sees_failures                        whether after() also runs when the call failed
/// Operations without a handler of their own involve no other process: they are recorded by name and time.
template <Op op>
struct Handler {
  static constexpr bool sees_failures = true;
  template <class... A>
  void before(A&...) {}
  template <class... A>
  void after(Record& record, int, A...) {
    recorder().append_local(record);
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
  static bool is_inside() { return depth_ > 0; }
  /// Tells threads apart.
  static const void* thread() { return &depth_; }

 private:
  static inline constinit thread_local int depth_ = 0;
};

template <Op op, class R, class... A>
R recorded(Next<R(A...)>& next, std::type_identity_t<A>... arguments) {
  Handler<op> handler;
  handler.before(arguments...);
  Record record;
  record.kind = static_cast<std::uint16_t>(op);
  const Recorder::ProcessorTime processor_time(recorder());
  record.enter = now();
  const R result = next(arguments...);
  record.leave = now();
  const Recorder::Lock lock(recorder());
  recorder().pass(record.enter);
  if constexpr (!Handler<op>::sees_failures)
    if (result != R{MPI_SUCCESS}) {
      record.kind = static_cast<std::uint16_t>(Op::Other);  // it did nothing but take time
      recorder().append_local(record);
      return result;
    }
  handler.after(record, static_cast<int>(result), arguments...);
  return result;
}

void start_late();

/// For functions whose time alone is recorded although they communicate: says so once in the process.
void say_lost(const char* what);

template <Op op, class R, class... A>
R intercept(Next<R(A...)>& next, std::type_identity_t<A>... arguments) {
  const Nesting nesting;
  if (!nesting.is_outermost()) return next(arguments...);
  if (!recorder().hears(Nesting::thread())) [[unlikely]] {
    if (!recorder().is_waiting()) return next(arguments...);
    if constexpr (info(op).verb != Verb::start) {
      start_late();
      if (!recorder().hears(Nesting::thread())) return next(arguments...);
    }
  }
  return recorded<op>(next, arguments...);
}

}  // namespace simreplay::recorder
