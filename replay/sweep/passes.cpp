#include "replay/sweep/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "common/mpi_session.hpp"
#include "replay/engine/engine.hpp"
#include "replay/engine/replay.hpp"

namespace simreplay::sweep {
namespace {

using engine::FewMachines, engine::ManyMachines, engine::OneMachine;

/// A communicator of the same ranks.
class OwnComm {
 public:
  explicit OwnComm(MPI_Comm of) { MPI_Comm_dup(of, &comm_); }
  ~OwnComm() { MPI_Comm_free(&comm_); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class Sweeper {
 public:
  Sweeper(const trace::Reader& trace, std::span<const Variant> variants, MPI_Comm comm,
          const std::function<void(double, TimePoint)>& progress)
      : trace_(trace), variants_(variants), comm_(comm), progress_(progress) {
    result_.rows.resize(variants.size());
  }

  void run(std::span<const std::size_t> members) {
    if (members.size() > FewMachines::machines)
      pass<ManyMachines>(members);
    else if (members.size() > 1)
      pass<FewMachines>(members);
    else
      pass<OneMachine>(members);
  }
  Result take() { return std::move(result_); }

 private:
  template <class Clock>
  void pass(std::span<const std::size_t> members) {
    std::vector<Machine> machines;
    for (const std::size_t m : members) machines.push_back(variants_[m].machine);
    machines.resize(Clock::machines, machines.back());
    // What a pass that failed has left under way must not reach the next.
    const OwnComm comm(comm_);
    const engine::Outcome outcome = replay<Clock>(comm.get(), machines, members.size());
    int alone = outcome.needs_single_machines ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MAX, comm_);
    if (alone != 0) {
      for (const std::size_t m : members) pass<OneMachine>({&m, 1});
      return;
    }
    for (std::size_t i = 0; i < members.size(); i++) {
      report::Summary& row = result_.rows[members[i]];
      row = report::gather(outcome, i, trace_.path(), trace_.facts(), comm_);
      row.processes = {};  // of thousands of machines they would fill the memory
      row.machine = machines[i];
    }
    result_.passes++;
    done_ += members.size();
  }

  template <class Clock>
  engine::Outcome replay(MPI_Comm comm, std::span<const Machine> machines, std::size_t members) {
    const auto of_all = [this, members](double share, TimePoint now) {
      progress_((static_cast<double>(done_) + share * static_cast<double>(members)) /
                    static_cast<double>(variants_.size()),
                now);
    };
    if constexpr (Clock::machines == 1) return engine::replay(trace_, machines[0], comm, nullptr, of_all);
    std::unique_ptr<engine::Engine<Clock>> engine;
    together(comm_, [&] {
      engine = std::make_unique<engine::Engine<Clock>>(trace_, machines, comm, nullptr, of_all);
    });
    return engine->run();
  }

  const trace::Reader& trace_;
  std::span<const Variant> variants_;
  MPI_Comm comm_;
  const std::function<void(double, TimePoint)>& progress_;
  Result result_;
  std::size_t done_ = 0;
};

}  // namespace

std::string shape_of(const Machine& m, bool trace_has_metrics) {
  const bool is_alone = m.as_recorded || engine::is_ordered(m) || m.noise.numerator() != 0 ||
                        !m.noise_profile.empty() || (trace_has_metrics && !m.speedups.empty());
  if (is_alone) return "";
  std::string shape = fmt::format("{} {} {}", m.processes_per_node, m.placement, m.within.eager_limit);
  for (const MessageCosts* c : {&m.between, &m.within})
    shape += fmt::format(" {} {}", c->eager_limit, c->half_duplex);
  for (const auto& [operation, algorithm] : m.collectives) shape += " " + operation + "=" + algorithm;
  return shape;
}

std::vector<std::vector<std::size_t>> passes_of(std::span<const Variant> variants, bool trace_has_metrics) {
  std::map<std::string, std::vector<std::size_t>> groups;
  std::vector<std::vector<std::size_t>> passes;
  for (std::size_t i = 0; i < variants.size(); i++) {
    const std::string shape = shape_of(variants[i].machine, trace_has_metrics);
    if (shape.empty())
      passes.push_back({i});
    else
      groups[shape].push_back(i);
  }
  const auto speed = [&](std::size_t i) { return variants[i].machine.cpu_speedup.value(); };
  for (auto& [shape, members] : groups) {
    std::ranges::stable_sort(members, {},
                             speed);  // what equally fast machines have in common is computed once
    for (std::size_t first = 0; first < members.size(); first += ManyMachines::machines) {
      const auto from = members.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t n = std::min(members.size() - first, ManyMachines::machines);
      passes.emplace_back(from, from + static_cast<std::ptrdiff_t>(n));
    }
  }
  std::ranges::sort(passes);  // the order in which they were named
  return passes;
}

Result run(const trace::Reader& trace, std::span<const Variant> variants, MPI_Comm comm,
           const std::function<void(double share, TimePoint now)>& progress) {
  Sweeper sweeper(trace, variants, comm, progress);
  for (const auto& members : passes_of(variants, !trace.metrics().empty())) sweeper.run(members);
  return sweeper.take();
}

}  // namespace simreplay::sweep
