// The engine for one machine whose messages are delivered in the order of simulated time.

#include "replay/engine/channels.tpp"
#include "replay/engine/engine.tpp"
#include "replay/engine/exchange.tpp"
#include "replay/engine/interpreter.tpp"
#include "replay/engine/marks.tpp"
#include "replay/engine/observing.tpp"
#include "replay/engine/ordered.tpp"
#include "replay/engine/outcome.tpp"
#include "replay/engine/strands.tpp"
#include "replay/engine/threads.tpp"

namespace simreplay::engine {
namespace {

Windows::Rules rules_of(const Machine& machine) {
  const network::CostModel model(machine);
  const Duration within = model.fastest(true), between = model.fastest(false);
  return {.reaction = model.reaction(),
          .is_strict = machine.matching_is_simulated || machine.gap_by_arrival,
          .fastest = machine.network.empty() ? std::min(within, between) : within};
}

}  // namespace

InOrder::InOrder(MPI_Comm comm, const Machine& machine, network::Network* network)
    : matching_is_simulated(machine.matching_is_simulated),
      gap_by_arrival(machine.gap_by_arrival),
      access_answer(machine.between.receive_epilog.at(0)),
      windows(comm, network, rules_of(machine)) {
  if (gap_by_arrival && (machine.between.half_duplex || machine.within.half_duplex))
    throw Error({.file = machine.name,
                 .operation = "network.receive-gap = arrival",
                 .expected = "network.duplex = full",
                 .found = "half"});
}

template class Engine<OneMachineInOrder>;

}  // namespace simreplay::engine
