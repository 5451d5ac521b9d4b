#pragma once
// What recording costs, measured where the program runs.

#include "capture/recorder/recorder.hpp"

namespace simreplay::recorder {

/// By kind of call: the time that lies between the records of calls which follow each other at once. Of the
/// processor's time where that is what is recorded.
trace::Overheads measure_overheads(Recorder& recorder, bool of_processor_time);
/// The same of a mark, in ps.
std::int64_t measure_mark_overhead(Recorder& recorder);

}  // namespace simreplay::recorder
