#include "capture/pack/packer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "capture/pack/communicator_exchange.hpp"
#include "capture/pack/metrics.hpp"
#include "capture/pack/process_packer.hpp"
#include "capture/pack/reconcile.hpp"
#include "capture/pack/survey.hpp"
#include "common/output.hpp"
#include "common/trace/writer.hpp"

namespace simreplay::pack {
namespace {

enum class State : std::int32_t { complete, unfinished, stopped, damaged, missing, left_out };

/// What is said to people, of the process and its calls.
constexpr std::array<const char*, 6> remarks{"",
                                             "",
                                             "process {}: recording stopped after {} calls",
                                             "process {}: its spool is damaged; its first {} calls are kept",
                                             "process {} left nothing behind",
                                             ""};

/// What became of a process, as ranks tell it to the first.
struct Outcome {
  std::int32_t process = 0;
  State state = State::missing;
  std::uint64_t calls = 0;
  std::int64_t elapsed_ns = 0;
};

std::string iso_8601(std::int64_t ns_since_1970) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(ns_since_1970 / 1'000'000'000)));
}

constexpr std::array<const char*, 3> clock_names{"wall", "cpu", "process-cpu"};  // by spool::Clock

trace::Facts facts_of(const World& world, const std::string& command) {
  trace::Facts facts;
  facts.command = command;
  facts.mpi_library = world.mpi_library.substr(0, world.mpi_library.find('\n'));
  facts.started = iso_8601(world.started_ns);
  facts.clock = clock_names[world.clock];  // checked by SpoolReader
  facts.processes = world.processes();
  return facts;
}

class Packer {
 public:
  Packer(const World& world, const Team& team) : world_(world), team_(team) {}

  /// Communicators and metrics get their ids from all processes before calls are encoded.
  Summary run(const std::string& command, const std::string& output) {
    team_.together([&] { survey_own(); });
    const std::vector<trace::Members> communicators = assign_ids(team_, world_.owners, surveys_);
    const std::vector<trace::Metric> metrics = number_metrics(team_, surveys_);
    std::vector<std::string> said;
    const std::vector<trace::Skipped> skipped =
        reconcile(team_, communicators, world_.processes(), surveys_, said);
    const std::optional<trace::Placement> placement = place_own(output);
    std::optional<trace::Writer> writer;
    team_.together([&] { writer.emplace(output, facts_of(world_, command), placement); });
    team_.together([&] { write_own(*writer); });
    writer->commit(communicators, skipped, metrics);
    Summary summary = summarize(team_.gather(std::move(outcomes_)));
    summary.remarks.insert(summary.remarks.end(), said.begin(), said.end());
    return summary;
  }

 private:
  const std::string& path(std::int32_t process) const {
    return world_.spools[static_cast<std::size_t>(process)];
  }

  void survey_own() {
    for (std::int32_t p = 0; p < world_.processes(); p++)
      if (world_.owners[static_cast<std::size_t>(p)] == team_.rank()) surveys_[p] = survey_of(path(p));
  }

  static Survey survey_of(const std::string& path) {
    if (path.empty()) return {};
    SpoolReader spool(path);
    return survey(spool);
  }

  /// Several ranks write into places that must be known before. One appends, which saves it from encoding
  /// everything twice.
  std::optional<trace::Placement> place_own(const std::string& output) const {
    if (team_.is_alone()) return std::nullopt;
    std::vector<trace::Part> parts;
    team_.together([&] {
      for (const auto& [process, survey] : surveys_) parts.push_back({process, extent_of(process, survey)});
    });
    trace::Placement placement = trace::place(team_.comm(), parts);
    team_.together([&] {
      if (team_.is_first()) check_space(output, trace::rewritten_bytes(placement.total, world_.processes()));
    });
    return placement;
  }

  trace::Extent extent_of(std::int32_t process, const Survey& survey) const {
    trace::Nowhere nowhere;
    trace::Encoder encoder(nowhere);
    encode(encoder, process, survey);
    return encoder.extent();
  }

  void write_own(trace::Writer& writer) {
    trace::Encoder encoder(writer);
    for (const auto& [process, survey] : surveys_) {
      writer.begin_process(process);
      const auto [outcome, row] = encode(encoder, process, survey);
      writer.end_process(row);
      outcomes_.push_back(outcome);
    }
  }

  std::pair<Outcome, trace::Process> encode(trace::Encoder& encoder, std::int32_t process,
                                            const Survey& survey) const {
    std::pair<Outcome, trace::Process> result;
    auto& [outcome, row] = result;
    outcome.process = process;
    encoder.begin(process);
    if (!path(process).empty()) encode_calls(encoder, survey, outcome, row);
    encoder.end();
    if (path(process).empty() && world_.chosen) outcome.state = State::left_out;
    row.record = outcome.state == State::complete   ? trace::Record::complete
                 : outcome.state == State::left_out ? trace::Record::left_out
                                                    : trace::Record::cut;
    return result;
  }

  void encode_calls(trace::Encoder& encoder, const Survey& survey, Outcome& outcome,
                    trace::Process& row) const {
    SpoolReader spool(path(outcome.process));
    const spool::Header& header = spool.header();
    const Ranks ranks(outcome.process, world_.processes(), survey.communicators);
    ProcessPacker packer(encoder, ranks, header, survey);
    spool.each(
        [&](const spool::Record& record, std::span<const std::int64_t> items) { packer.add(record, items); });

    const bool is_whole = survey.is_whole && packer.is_sound();
    outcome.state = !is_whole               ? State::damaged
                    : header.stopped != 0   ? State::stopped
                    : header.finalized == 0 ? State::unfinished
                                            : State::complete;
    if (outcome.state == State::complete && header.exited_ns != 0) packer.exit(header.exited_ns);
    outcome.calls = packer.calls();
    outcome.elapsed_ns = packer.elapsed_ns();
    row = {packer.calls(), trace::Record::complete, header.overhead_ps, header.host};
  }

  static Summary summarize(std::vector<Outcome> outcomes) {
    std::ranges::sort(outcomes, {}, &Outcome::process);
    Summary summary;
    summary.processes = static_cast<std::int32_t>(outcomes.size());
    for (const Outcome& o : outcomes) {
      summary.calls += o.calls;
      summary.seconds = std::max(summary.seconds, static_cast<double>(o.elapsed_ns) * 1e-9);
      if (o.state != State::complete && o.state != State::left_out) summary.incomplete.push_back(o.process);
      const std::string remark =
          fmt::format(fmt::runtime(remarks[static_cast<std::size_t>(o.state)]), o.process, o.calls);
      if (!remark.empty()) summary.remarks.push_back(remark);
    }
    return summary;
  }

  const World& world_;
  const Team& team_;
  std::map<std::int32_t, Survey> surveys_;  // of the processes that this rank owns
  std::vector<Outcome> outcomes_;
};

}  // namespace

Summary pack(const World& world, const std::string& command, const std::string& output, const Team& team) {
  return Packer(world, team).run(command, output);
}

}  // namespace simreplay::pack
