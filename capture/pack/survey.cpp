#include "capture/pack/survey.hpp"

#include <unordered_map>

namespace simreplay::pack {
namespace {

using spool::Completion;
using spool::Record;

void correct(Record& posted, const Completion& completion) {
  if ((completion.flags & Completion::cancelled) != 0) posted.flags |= trace::cancelled;
  if ((completion.flags & Completion::received) == 0) return;
  // Only wildcards are filled in: a receive from MPI_PROC_NULL ends with a status that names no tag.
  if (posted.peer == spool::any_rank) posted.peer = completion.source;
  if (posted.tag == spool::any_tag) posted.tag = completion.tag;
  posted.bytes = completion.bytes;
}

class Surveyor {
 public:
  Surveyor(Survey& result, std::int32_t processes) : result_(result), processes_(processes) {}

  void visit(Record& record, std::span<const std::int64_t> items) {
    if (record.kind == spool::communicator_kind) return introduce(record, items);
    if (record.kind == spool::own_time_kind) return;
    const OpInfo& op = info(static_cast<Op>(record.kind));
    if (op.verb == Verb::post_receive || op.verb == Verb::post_send) posted_[record.request] = &record;
    if (op.verb == Verb::complete || op.verb == Verb::release) complete(items);
  }

 private:
  void introduce(const Record& record, std::span<const std::int64_t> items) {
    LocalCommunicator c;
    c.creator = static_cast<Op>(record.tag);
    const auto expected = static_cast<std::int32_t>(result_.communicators.size()) + 2;
    if (record.communicator != expected || !parse(items, processes_, c)) {
      result_.is_whole = false;
      return;
    }
    result_.communicators.push_back(std::move(c));
  }

  void complete(std::span<const std::int64_t> items) {
    for (; items.size() >= spool::words_per_completion; items = items.subspan(spool::words_per_completion)) {
      const Completion completion = spool::first_completion(items);
      const auto it = posted_.find(completion.request);
      if (it == posted_.end()) continue;
      correct(*it->second, completion);
      posted_.erase(it);
    }
  }

  Survey& result_;
  std::int32_t processes_;
  std::unordered_map<std::uint32_t, Record*> posted_;
};

}  // namespace

Survey survey(SpoolReader& spool) {
  Survey result;
  Surveyor surveyor(result, spool.header().size);
  const bool readable =
      spool.each([&](Record& record, std::span<const std::int64_t> items) { surveyor.visit(record, items); });
  result.is_whole = result.is_whole && readable;
  return result;
}

}  // namespace simreplay::pack
