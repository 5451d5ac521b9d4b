#include "replay/engine/replay.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>

#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "replay/network/models.hpp"

namespace simreplay::engine {
namespace {

template <class Clock>
Outcome run(const trace::Reader& trace, const Machine& machine, MPI_Comm comm, trace::Rewriter* rewritten,
            const Progress& progress, network::Network* network) {
  std::unique_ptr<Engine<Clock>> engine;
  together(comm, [&] {
    engine =
        std::make_unique<Engine<Clock>>(trace, std::span(&machine, 1), comm, rewritten, progress, network);
  });
  return engine->run();
}

}  // namespace

bool is_ordered(const Machine& machine) {
  return !machine.network.empty() || machine.matching_is_simulated || machine.gap_by_arrival;
}

Outcome replay(const trace::Reader& trace, const Machine& machine, MPI_Comm comm, trace::Rewriter* rewritten,
               const Progress& progress, bool is_observed) {
  if (!is_ordered(machine))
    return (is_observed ? run<OneMachineObserved> : run<OneMachine>)(trace, machine, comm, rewritten,
                                                                     progress, nullptr);
  std::int32_t nodes = 0;
  together(comm, [&] {
    const std::int32_t processes = trace.facts().processes;
    if (processes > MessageId::most_processes)
      throw Error({.file = trace.path(),
                   .expected = fmt::format("at most {} processes where messages come in order",
                                           format_count(MessageId::most_processes)),
                   .found = format_count(processes)});
    nodes = Placement(machine, processes).nodes(processes);
  });
  const std::unique_ptr<network::Network> network = network::make(machine, nodes, comm);
  Outcome outcome = run<OneMachineInOrder>(trace, machine, comm, rewritten, progress, network.get());
  if (network && !outcome.failed) outcome.network = network->report();
  return outcome;
}

}  // namespace simreplay::engine
