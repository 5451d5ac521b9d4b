#pragma once
// What `simtrace verify` asks of the calls: those of one process in their order, those of all together.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "capture/simtrace/channels.hpp"
#include "capture/simtrace/collective_log.hpp"
#include "capture/simtrace/enum_table.hpp"
#include "capture/simtrace/epochs.hpp"
#include "capture/simtrace/fault_log.hpp"
#include "capture/simtrace/marks.hpp"
#include "capture/simtrace/membership.hpp"
#include "capture/simtrace/neighborhoods.hpp"
#include "capture/simtrace/requests.hpp"
#include "common/trace/reader.hpp"

namespace simreplay::simtrace {

class Checker {
 public:
  Checker(const trace::Reader& reader, FaultLog& faults);

  /// Looks at a call alone; false if it cannot be followed. Once for each signature.
  bool accepts(const CallName& at, const trace::Signature& s);
  /// The next call of its process.
  void call(const CallName& at, const trace::Signature& s);
  void end_of(std::int32_t process);
  void end_of_all();

  std::int64_t messages() const { return messages_; }
  const Marks& marks() const { return marks_; }
  /// The first call that met processes of another MPI program.
  const std::optional<CallName>& met_others() const { return met_others_; }

 private:
  /// Of a process under way.
  struct State {
    Requests requests;
    bool finished = false;
  };
  using Action = void (Checker::*)(const CallName&, const trace::Signature&);
  static const VerbTable<Action> actions;

  void send(const CallName& at, const trace::Signature& s);
  void receive(const CallName& at, const trace::Signature& s);
  void exchange(const CallName& at, const trace::Signature& s);
  void launch(const CallName& at, const trace::Signature& s);
  void close(const CallName& at, const trace::Signature& s);
  void cancel(const CallName& at, const trace::Signature& s);
  void collective(const CallName& at, const trace::Signature& s);
  void neighbors(const CallName& at, const trace::Signature& s);
  void epoch(const CallName& at, const trace::Signature& s);
  void connect(const CallName& at, const trace::Signature& s);
  void mark(const CallName& at, const trace::Signature& s) { marks_.add(at, s); }
  void finish(const CallName& at, const trace::Signature& s);

  State& state(std::int32_t process);
  void meet(Side side, const Channel& channel, const Half& half, std::int64_t flags);
  void matched(const Channel& channel, const Half& sent, const Half& received);
  void report_unmatched();
  trace::Record record_of(std::int64_t process) const;
  bool is_left_out(std::int64_t process) const { return record_of(process) == trace::Record::left_out; }
  bool concerns_left_out(const trace::Signature& s);

  FaultLog& faults_;
  Membership members_;
  CollectiveLog collectives_;
  Neighborhoods neighborhoods_;
  Epochs epochs_;
  Marks marks_;
  Channels channels_;                          // of messages
  std::vector<trace::Record> records_;         // by process
  std::map<std::int32_t, bool> has_left_out_;  // communicators: a member was not recorded
  std::vector<std::unique_ptr<State>> states_;
  std::set<std::tuple<std::int32_t, std::uint64_t, std::int32_t>>
      freed_receives_;  // by process, call and slot: never completed
  std::int64_t messages_ = 0;
  std::optional<CallName> met_others_;
};

}  // namespace simreplay::simtrace
