#include "capture/pack/reconcile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace simreplay::pack {
namespace {

/// What one process left out before it resumed recording, in ids and ranks of the trace.
struct LeftOut {
  std::uint32_t resume;
  std::int32_t process, source, destination, communicator, tag;
  spool::Skipped what;
  std::int64_t calls;
};
struct Alone {
  std::int32_t process, communicator;
  std::int64_t calls;
};

std::vector<LeftOut> translated(std::int32_t process, std::int32_t processes, const Survey& survey) {
  const Ranks ranks(process, processes, survey.communicators);
  std::vector<LeftOut> rows;
  for (const spool::Record& r : survey.skipped) {
    if (!ranks.knows(r.communicator)) continue;
    const std::int32_t peer = ranks.world_rank(r.communicator, r.peer);
    const auto what = static_cast<spool::Skipped>(r.flags);
    const bool sends = what == spool::sent;
    if (what != spool::collective && peer < 0) continue;
    rows.push_back({r.request, process, sends ? process : peer, sends ? peer : process,
                    ranks.id(r.communicator), r.tag, what, r.bytes});
  }
  return rows;
}

/// By channel: messages whose receives are in the trace and whose sends are not, or the other way round.
std::vector<trace::Skipped> unpaired(const std::vector<LeftOut>& rows, std::uint32_t resume) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>, std::int64_t> balance;
  for (const LeftOut& row : rows)
    if (row.what != spool::collective && row.resume == resume)
      balance[{row.source, row.destination, row.communicator, row.tag}] +=
          row.what == spool::sent ? row.calls : -row.calls;
  std::vector<trace::Skipped> skipped;
  for (const auto& [key, n] : balance)
    if (n != 0)
      skipped.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), n});
  return skipped;
}

/// Members that recorded a communicator's collectives from an earlier one on than others did.
std::vector<Alone> alone(const std::vector<LeftOut>& rows, const std::vector<trace::Members>& communicators) {
  std::map<std::int32_t, std::map<std::int32_t, std::int64_t>> left_out;  // communicator, process
  for (const LeftOut& row : rows)
    if (row.what == spool::collective && row.resume == 0)
      left_out[row.communicator][row.process] += row.calls;
  std::vector<Alone> result;
  for (auto& [communicator, of_process] : left_out) {
    std::int64_t most = 0;
    for (const auto& [process, n] : of_process) most = std::max(most, n);
    for (const std::int32_t member : communicators[static_cast<std::size_t>(communicator)].world_ranks())
      if (const std::int64_t missing = most - of_process[member]; missing > 0)
        result.push_back({member, communicator, missing});
  }
  return result;
}

void remark_on_later(const std::vector<LeftOut>& rows, std::vector<std::string>& remarks) {
  std::uint32_t last = 0;
  for (const LeftOut& row : rows) last = std::max(last, row.resume);
  for (std::uint32_t resume = 1; resume <= last; resume++)
    if (const auto open = unpaired(rows, resume); !open.empty())
      remarks.push_back(
          fmt::format("recording was resumed ({}) with messages on their way, as from process {} to {} with "
                      "tag {}; the replay may take them for others",
                      resume, open[0].source, open[0].destination, open[0].tag));
}

}  // namespace

std::vector<trace::Skipped> reconcile(const Team& team, const std::vector<trace::Members>& communicators,
                                      std::int32_t processes, std::map<std::int32_t, Survey>& own,
                                      std::vector<std::string>& remarks) {
  std::vector<LeftOut> rows;
  for (const auto& [process, survey] : own) {
    const auto more = translated(process, processes, survey);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  rows = team.gather(std::move(rows));
  std::vector<Alone> lonely;
  std::vector<trace::Skipped> skipped;
  if (team.is_first()) {
    skipped = unpaired(rows, 0);
    lonely = alone(rows, communicators);
    remark_on_later(rows, remarks);
  }
  team.broadcast(lonely);
  for (const Alone& a : lonely)
    if (const auto survey = own.find(a.process); survey != own.end())
      survey->second.alone[a.communicator] = a.calls;
  return skipped;
}

}  // namespace simreplay::pack
