#pragma once
// Generated traces without MPI: written serially, so that serial tests can use them.

#include <string>

#include "capture/simtrace/patterns.hpp"
#include "common/trace/writer.hpp"

namespace simreplay::test {

inline simtrace::Job job_of(std::string_view pattern, std::int32_t processes, std::int64_t steps,
                            std::uint64_t seed = 1) {
  simtrace::Job job;
  job.pattern = simtrace::find_pattern(pattern);
  job.processes = processes;
  job.steps = steps;
  job.seed = seed;
  prepare(job);
  return job;
}

inline void write_generated(const simtrace::Job& job, const std::string& path) {
  trace::Facts facts;
  facts.kind = "generated";
  facts.processes = job.processes;
  trace::Writer writer(path, facts);
  trace::Encoder encoder(writer);
  for (std::int32_t p = 0; p < job.processes; p++) {
    writer.begin_process(p);
    run_process(job, encoder, p);
    writer.end_process({});
  }
  writer.commit(communicators_of(job));
}

}  // namespace simreplay::test
