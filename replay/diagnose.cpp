#include "replay/diagnose.hpp"

#include <cmath>

#include "common/mpi_session.hpp"
#include "replay/engine/replay.hpp"
#include "replay/report/summary.hpp"

namespace simreplay {
namespace {

using performance::Remedy;

template <class T>
void share(std::vector<T>& all, MPI_Comm comm) {
  auto n = static_cast<int>(all.size());
  MPI_Bcast(&n, 1, MPI_INT, 0, comm);
  all.resize(static_cast<std::size_t>(n));
  MPI_Bcast(all.data(), n * static_cast<int>(sizeof(T)), MPI_BYTE, 0, comm);
}

/// What rank 0 wants, on all ranks.
Remedy shared(Remedy remedy, MPI_Comm comm) {
  auto kind = static_cast<int>(remedy.kind);
  MPI_Bcast(&kind, 1, MPI_INT, 0, comm);
  remedy.kind = static_cast<Remedy::Kind>(kind);
  share(remedy.faster, comm);
  return remedy;
}

Machine with(const Remedy& remedy, Machine machine) {
  constexpr double steps = 64;  // speeds are exact, so they need few digits
  for (const auto& [process, factor] : remedy.faster)
    machine.faster[process] = Ratio(static_cast<std::uint64_t>(std::max(std::round(factor * steps), 1.0)),
                                    static_cast<std::uint64_t>(steps));
  if (remedy.kind != Remedy::Kind::ideal_network) return machine;
  machine.model = Machine::Model::base;
  machine.network.clear();
  machine.network_settings.clear();
  machine.gap_by_arrival = false;
  machine.between = machine.within = {};
  machine.barrier_overhead = {};
  return machine;
}

}  // namespace

performance::Diagnosis diagnose(const trace::Reader& trace, const Machine& machine,
                                const performance::Run& run, const performance::Criteria& criteria,
                                MPI_Comm comm) {
  performance::Diagnosis d;
  if (rank_in(comm) == 0) d = performance::diagnose(run, criteria);
  auto findings = static_cast<int>(d.findings.size());
  MPI_Bcast(&findings, 1, MPI_INT, 0, comm);
  d.findings.resize(static_cast<std::size_t>(findings));
  for (performance::Finding& f : d.findings) {
    const Remedy remedy = shared(f.remedy, comm);
    if (remedy.kind == Remedy::Kind::none) continue;
    const engine::Outcome outcome = engine::replay(trace, with(remedy, machine), comm, nullptr, {});
    f.remaining_ps =
        static_cast<double>(report::gather(outcome, 0, trace.path(), trace.facts(), comm).predicted_ps);
    f.is_predicted = true;
  }
  return d;
}

}  // namespace simreplay
