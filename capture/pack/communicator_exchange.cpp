#include "capture/pack/communicator_exchange.hpp"

#include <span>

namespace simreplay::pack {
namespace {

using Words = std::vector<std::int64_t>;

void add(Words& words, const trace::Members& members) {
  words.push_back(static_cast<std::int64_t>(members.runs.size()));
  for (const trace::Members::Run& r : members.runs) words.insert(words.end(), {r.first, r.stride, r.count});
}

Words words_of(std::span<const LocalCommunicator> communicators) {
  Words words;
  for (const LocalCommunicator& c : communicators) {
    words.push_back(static_cast<std::int64_t>(c.creator));
    add(words, c.local);
    add(words, c.remote);
  }
  return words;
}

/// Takes apart what words_of() made.
class Parser {
 public:
  explicit Parser(const Words& words) : words_(words) {}

  std::vector<LocalCommunicator> communicators() {
    std::vector<LocalCommunicator> all;
    while (at_ < words_.size()) {
      LocalCommunicator& c = all.emplace_back();
      c.creator = static_cast<Op>(word());
      c.local = members();
      c.remote = members();
    }
    return all;
  }

 private:
  std::int32_t word() { return static_cast<std::int32_t>(words_[at_++]); }

  trace::Members members() {
    trace::Members m;
    m.runs.resize(static_cast<std::size_t>(word()));
    for (trace::Members::Run& r : m.runs) {
      r.first = word();
      r.stride = word();
      r.count = word();
    }
    return m;
  }

  const Words& words_;
  std::size_t at_ = 0;
};

void send(const Words& words, int to, MPI_Comm comm) {
  MPI_Send(words.data(), static_cast<int>(words.size()), MPI_INT64_T, to, 0, comm);
}

Words receive(int from, MPI_Comm comm) {
  MPI_Status status;
  int count = 0;
  MPI_Probe(from, 0, comm, &status);
  MPI_Get_count(&status, MPI_INT64_T, &count);
  Words words(static_cast<std::size_t>(count));
  MPI_Recv(words.data(), count, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE);
  return words;
}

/// One process at a time: rank 0 need not hold the communicators of all of them.
void ask(std::vector<LocalCommunicator>& communicators, MPI_Comm comm) {
  send(words_of(communicators), 0, comm);
  const Words ids = receive(0, comm);
  for (std::size_t i = 0; i < communicators.size(); i++)
    communicators[i].id = static_cast<std::int32_t>(ids[i]);
}

void answer(CommunicatorIds& ids, int rank, MPI_Comm comm) {
  const Words words = receive(rank, comm);
  std::vector<LocalCommunicator> communicators = Parser(words).communicators();
  ids.assign(communicators);
  Words answers;
  for (const LocalCommunicator& c : communicators) answers.push_back(c.id);
  send(answers, rank, comm);
}

}  // namespace

std::vector<trace::Members> assign_ids(const Team& team, const std::vector<int>& owners,
                                       std::map<std::int32_t, Survey>& own) {
  if (!team.is_first()) {
    for (auto& [process, survey] : own) ask(survey.communicators, team.comm());
    return {};
  }
  const auto processes = static_cast<std::int32_t>(owners.size());
  CommunicatorIds ids(processes);
  for (std::int32_t p = 0; p < processes; p++) {
    const int owner = owners[static_cast<std::size_t>(p)];
    if (owner == 0)
      ids.assign(own.at(p).communicators);
    else
      answer(ids, owner, team.comm());
  }
  return ids.members();
}

}  // namespace simreplay::pack
