#include "tests/unit/collectives/message_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace simreplay::test {
namespace {

using collectives::Message;
using Kind = Message::Kind;

struct InFlight {
  std::int64_t bytes;
  int hops, step;
  Knowledge knowledge;
};

struct Channel {
  std::vector<InFlight> messages;
  std::size_t taken = 0;
};

struct Member {
  std::vector<Message> program;
  std::vector<Message> started;  // receives
  std::size_t at = 0, finished = 0;
  int hops = 0, step = 0;
  Knowledge knowledge = 0;
};

class MessageMachine {
 public:
  MessageMachine(const collectives::Algorithm& algorithm, const std::vector<collectives::Call>& calls)
      : members_(calls.size()), channels_(calls.size() * calls.size()) {
    collectives::Rounds rounds;
    for (std::size_t r = 0; r < calls.size(); r++) {
      rounds.clear();
      algorithm.rounds(calls[r], rounds);
      members_[r].program.assign(rounds.messages().begin(), rounds.messages().end());
      members_[r].knowledge = Knowledge{1} << r;
    }
  }

  Outcome run() {
    for (bool moved = true; moved && out_.fault.empty();) {
      moved = false;
      for (int r = 0; r < size(); r++)
        while (out_.fault.empty() && step(r)) moved = true;
    }
    if (out_.fault.empty()) out_.fault = left_over();
    for (const Member& m : members_) {
      out_.knowledge.push_back(m.knowledge);
      out_.hops = std::max(out_.hops, m.hops);
      out_.steps = std::max(out_.steps, m.step);
    }
    return out_;
  }

 private:
  int size() const { return static_cast<int>(members_.size()); }
  Member& member(int r) { return members_[static_cast<std::size_t>(r)]; }
  Channel& channel(int from, int to) { return channels_[static_cast<std::size_t>(from * size() + to)]; }

  /// False if the member has ended or must wait.
  bool step(int r) {
    Member& m = member(r);
    if (m.at == m.program.size()) return false;
    const Message& next = m.program[m.at];
    if (next.kind >= Kind::pay_barrier) {
      m.at++;
      return true;
    }
    if (next.kind != Kind::finish && (next.peer < 0 || next.peer >= size() || next.peer == r)) {
      out_.fault = fmt::format("member {} names peer {}", r, next.peer);
      return false;
    }
    const bool waits = next.kind == Kind::receive || next.kind == Kind::await_signal;
    if (waits && !take(r, next)) return false;
    if (next.kind == Kind::start_receive) m.started.push_back(next);
    if (next.kind == Kind::finish && !finish(r)) return false;
    if (next.kind == Kind::send || next.kind == Kind::synchronous_send || next.kind == Kind::start_send ||
        next.kind == Kind::signal)
      put(r, next);
    m.at++;
    return true;
  }

  void put(int r, const Message& sent) {
    Member& m = member(r);
    m.step++;
    channel(r, sent.peer).messages.push_back({sent.bytes, m.hops + 1, m.step, m.knowledge});
    out_.messages++;
    out_.bytes += sent.bytes;
  }

  bool take(int r, const Message& wanted) {
    Channel& c = channel(wanted.peer, r);
    if (c.taken == c.messages.size()) return false;
    const InFlight& got = c.messages[c.taken++];
    if (got.bytes != wanted.bytes)
      out_.fault = fmt::format("member {} expects {} bytes of {}, which sent {}", r, wanted.bytes,
                               wanted.peer, got.bytes);
    Member& m = member(r);
    m.hops = std::max(m.hops, got.hops);
    m.step = std::max(m.step, got.step);
    m.knowledge |= got.knowledge;
    return true;
  }

  bool finish(int r) {
    Member& m = member(r);
    for (; m.finished < m.started.size(); m.finished++)
      if (!take(r, m.started[m.finished])) return false;
    m.started.clear();
    m.finished = 0;
    return true;
  }

  std::string left_over() {
    for (int r = 0; r < size(); r++)
      if (member(r).at < member(r).program.size()) return fmt::format("member {} waits for ever", r);
    for (int from = 0; from < size(); from++)
      for (int to = 0; to < size(); to++)
        if (channel(from, to).taken < channel(from, to).messages.size())
          return fmt::format("a message from {} to {} is not received", from, to);
    for (int r = 0; r < size(); r++)
      if (!member(r).started.empty())
        return fmt::format("member {} started a receive that it does not finish", r);
    return {};
  }

  std::vector<Member> members_;
  std::vector<Channel> channels_;
  Outcome out_;
};

}  // namespace

Outcome run(const collectives::Algorithm& algorithm, const std::vector<collectives::Call>& calls) {
  return MessageMachine(algorithm, calls).run();
}

}  // namespace simreplay::test
