// The engine for one machine, with an observer.

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

template class Engine<OneMachineObserved>;

}  // namespace simreplay::engine
