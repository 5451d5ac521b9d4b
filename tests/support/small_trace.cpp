#include "tests/support/small_trace.hpp"

#include "common/trace/encoder.hpp"
#include "common/trace/writer.hpp"

namespace simreplay::test {

ProcessScript& ProcessScript::call(Op op, trace::Signature s, std::vector<std::int64_t> items) {
  s.op = op;
  calls_.push_back({s, std::move(items), gap_, 0});
  gap_ = 0;
  return *this;
}

ProcessScript& ProcessScript::send(int to, std::int64_t bytes, int tag, std::int32_t communicator) {
  return call(Op::Send, {.communicator = communicator, .peer = to, .tag = tag, .bytes = bytes});
}

ProcessScript& ProcessScript::receive(int from, std::int64_t bytes, int tag, std::int32_t communicator) {
  return call(Op::Recv, {.communicator = communicator, .peer = from, .tag = tag, .bytes = bytes});
}

ProcessScript& ProcessScript::isend(int to, std::int64_t bytes, int request, int tag) {
  return call(Op::Isend, {.peer = to, .tag = tag, .request = request, .bytes = bytes});
}

ProcessScript& ProcessScript::irecv(int from, std::int64_t bytes, int request, int tag) {
  return call(Op::Irecv, {.peer = from, .tag = tag, .request = request, .bytes = bytes});
}

ProcessScript& ProcessScript::collective(Op op, std::int64_t bytes, int root, std::vector<std::int64_t> items,
                                         std::int32_t communicator) {
  return call(op, {.communicator = communicator, .peer = root, .bytes = bytes}, std::move(items));
}

SmallTrace::SmallTrace(int processes) : communicators_{trace::Members::world(processes), {}} {
  for (int p = 0; p < processes; p++) processes_.emplace_back(p).init();
}

std::int32_t SmallTrace::communicator(std::vector<std::int32_t> world_ranks, std::int32_t first_group) {
  communicators_.push_back(trace::Members::of(world_ranks));
  communicators_.back().first_group = first_group;
  return static_cast<std::int32_t>(communicators_.size()) - 1;
}

void SmallTrace::overhead(std::int64_t ps) {
  for (ProcessScript& p : processes_) p.overhead_ps_.fill(ps);
}

void SmallTrace::write(const std::string& path) const {
  trace::Facts facts;
  facts.kind = "generated";
  facts.processes = static_cast<std::int32_t>(processes_.size());
  facts.tick_ps = 1;
  trace::Writer writer(path, facts);
  trace::Encoder encoder(writer);
  for (const ProcessScript& p : processes_) {
    writer.begin_process(p.process_);
    encoder.begin(p.process_);
    if (p.record_ == trace::Record::left_out) {
      encoder.end();
      writer.end_process({.record = p.record_, .host = ""});
      continue;
    }
    for (const ProcessScript::Call& c : p.calls_) {
      trace::Signature s = c.signature;
      s.items = c.items;
      encoder.add(s, c.gap, c.duration);
    }
    if (p.record_ == trace::Record::complete) encoder.add({.op = Op::Finalize}, p.gap_, 0);
    encoder.end();
    writer.end_process({.calls = 0, .record = p.record_, .overhead_ps = p.overhead_ps_, .host = "host"});
  }
  writer.commit(communicators_, skipped_, metrics_);
}

}  // namespace simreplay::test
