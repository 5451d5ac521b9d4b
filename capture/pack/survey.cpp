#include "capture/pack/survey.hpp"

#include <string>
#include <unordered_map>

namespace simreplay::pack {
namespace {

using spool::Completion;
using spool::Record;

/// Where the spool says what was posted: in fields of a record, or in words of a list of starts.
struct Posted {
  Record* record;
  std::int64_t* start;
};

/// Only wildcards are filled in: a receive from MPI_PROC_NULL ends with a status that names no tag.
void correct(auto& flags, auto& peer, auto& tag, std::int64_t& bytes, const Completion& completion) {
  if ((completion.flags & Completion::cancelled) != 0) flags |= trace::cancelled;
  if ((completion.flags & Completion::received) == 0) return;
  if (peer == spool::any_rank) peer = completion.source;
  if (tag == spool::any_tag) tag = completion.tag;
  bytes = completion.bytes;
}

void correct(const Posted& posted, const Completion& completion) {
  if (Record* r = posted.record; r != nullptr)
    return correct(r->flags, r->peer, r->tag, r->bytes, completion);
  std::int64_t* s = posted.start;
  correct(s[start_flags], s[start_peer], s[start_tag], s[start_bytes], completion);
}

class Surveyor {
 public:
  Surveyor(Survey& result, std::int32_t processes) : result_(result), processes_(processes) {}

  void visit(Record& record, std::span<std::int64_t> items) {
    if (record.kind == spool::communicator_kind) return introduce(record, items);
    if (record.kind == spool::metric_kind) return name(record, items);
    if (record.kind == spool::skipped_kind) return result_.skipped.push_back(record);
    if (record.kind == spool::own_time_kind || record.kind == spool::thread_kind) return;
    const OpInfo& op = info(static_cast<Op>(record.kind));
    if (op.verb == Verb::post_receive || op.verb == Verb::post_send)
      posted_[record.request] = {&record, nullptr};
    if (op.items == Items::starts)
      for (; items.size() >= start_words; items = items.subspan(start_words))
        posted_[static_cast<std::uint32_t>(items[start_request])] = {nullptr, items.data()};
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

  void name(const Record& record, std::span<const std::int64_t> items) {
    const std::int64_t characters = record.bytes;
    if (record.peer != std::ssize(result_.metrics) || record.tag < 0 ||
        record.tag >= static_cast<std::int32_t>(trace::MetricKind::kinds) || characters < 0 ||
        static_cast<std::uint64_t>(characters) > items.size_bytes()) {
      result_.is_whole = false;
      return;
    }
    const std::string text(reinterpret_cast<const char*>(items.data()), static_cast<std::size_t>(characters));
    result_.metrics.push_back({{static_cast<trace::MetricKind>(record.tag), text}, 0});
  }

  void complete(std::span<const std::int64_t> items) {
    for (; items.size() >= spool::words_per_completion; items = items.subspan(spool::words_per_completion)) {
      const Completion completion = spool::first_completion(items);
      const auto it = posted_.find(completion.request);
      if (it == posted_.end()) continue;
      correct(it->second, completion);
      posted_.erase(it);
    }
  }

  Survey& result_;
  std::int32_t processes_;
  std::unordered_map<std::uint32_t, Posted> posted_;
};

}  // namespace

Survey survey(SpoolReader& spool) {
  Survey result;
  Surveyor surveyor(result, spool.header().size);
  const bool readable =
      spool.each([&](Record& record, std::span<std::int64_t> items) { surveyor.visit(record, items); });
  result.is_whole = result.is_whole && readable;
  return result;
}

}  // namespace simreplay::pack
