#include "replay/network/infiniband/packets/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/error.hpp"
#include "replay/network/infiniband/check.hpp"

namespace simreplay::infiniband {
namespace {

constexpr Duration forever = Duration::max();

[[noreturn]] void refuse(std::int64_t id, std::string expected, std::string found) {
  throw Error({.operation = fmt::format("message {}", id),
               .expected = std::move(expected),
               .found = std::move(found)});
}

}  // namespace

PacketNetwork::PacketNetwork(const Fabric& fabric, const Tables& tables, const Settings& settings,
                             Parts parts, int me)
    : fabric_(fabric), tables_(tables), settings_(settings), parts_(std::move(parts)), me_(me) {
  infiniband::check(settings_, tables.lanes());
  if (tables.switches() != fabric.switches() || tables.max_lid() != fabric.max_lid())
    throw Error({.expected = fmt::format("tables of this fabric ({} switches, LIDs to {})", fabric.switches(),
                                         fabric.max_lid()),
                 .found = fmt::format("tables of another one ({} switches, LIDs to {})", tables.switches(),
                                      tables.max_lid())});
  lanes_ = static_cast<std::size_t>(std::max<std::int64_t>(settings_.lanes, tables.lanes()));
  if (static_cast<std::size_t>(fabric.all_ports()) * lanes_ >= std::size_t{1} << kind_shift)
    throw Error({.expected = "a fabric of fewer ports and lanes", .found = fabric_.name(0) + ", ..."});
  for (const LaneWeight& w : settings_.high_table)
    if (w.weight > 0) high_lanes_ |= 1U << w.lane;
  for (const LaneWeight& w : settings_.low_table)
    if (w.weight > 0) low_lanes_ |= 1U << w.lane;
  lay_out();
  lookahead_ = parts_.count > 1 ? cut_lookahead() : forever;
}

void PacketNetwork::lay_out() {
  const auto ports = static_cast<std::size_t>(fabric_.all_ports());
  out_ = arena_.take<OutPort>(ports);
  rate_of_.resize(ports);
  if (lanes_ > 1) turns_.resize(ports);
  send_ = arena_.take<SendLane>(ports * lanes_);
  receive_ = arena_.take<ReceiveLane>(ports * lanes_);
  large_ = ports * lanes_ > 2048;
  figures_.ports.resize(ports);
  figures_.bin = settings_.bin;
  if (settings_.bin.count() > 0) figures_.busy_ps.resize(ports);
  for (Port p = 0; p < fabric_.all_ports(); p++)
    if (fabric_.peer(p) != nothing) lay_out_port(p);
}

void PacketNetwork::lay_out_port(Port p) {
  const Cable& cable = fabric_.cable(p);
  if (cable.rate.lanes == 0 || cable.delay < Duration{0})
    throw Error(
        {.operation = fmt::format("cable {} - {}", fabric_.port_name(p), fabric_.port_name(fabric_.peer(p))),
         .expected = "a rate and a delay that is not negative",
         .found = fmt::format("{}, {}", to_string(cable.rate), format_duration(cable.delay))});
  const Ratio rate = per_byte(cable.rate);
  auto known = std::find(rates_.begin(), rates_.end(), rate);
  if (known == rates_.end()) known = rates_.insert(rates_.end(), rate);
  OutPort& o = out(p);
  rate_of_[static_cast<std::size_t>(p)] = static_cast<std::uint8_t>(known - rates_.begin());
  o.delay = cable.delay;
  o.peer = fabric_.peer(p);
  o.next_node = fabric_.neighbor(p);
  o.from_host = !fabric_.is_switch(fabric_.node_of(p));
  o.to_host = !fabric_.is_switch(fabric_.neighbor(p));
  if (!o.to_host && o.delay + settings_.switch_delay <= Duration{0})
    throw Error({.operation = fmt::format("cable {} - {}", fabric_.port_name(p), fabric_.port_name(o.peer)),
                 .expected = "a delay of cable and switch above 0",
                 .found = "0"});
  const std::int64_t buffer = o.to_host ? settings_.adapter_buffer : settings_.switch_buffer;
  for (std::size_t lane = 0; lane < lanes_; lane++) {
    SendLane& s = send_lane(p, static_cast<int>(lane));
    s.available = s.capacity = static_cast<std::int32_t>(buffer / credit_block);
    s.part = parts_.of(fabric_.node_of(p));
    s.credit_way = cable.delay + time_of(p, settings_.credit_packet);
  }
}

/// Packets are ready behind a cable and a switch; credits of a packet are known when it starts and are back
/// after its time on the next link.
Duration PacketNetwork::cut_lookahead() const {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (const Ratio& r : rates_) shortest = std::min(shortest, r.times(settings_.packet_header));
  Duration least = forever;
  for (Port p = 0; p < fabric_.all_ports(); p++) {
    if (fabric_.peer(p) == nothing || parts_.of(fabric_.node_of(p)) == parts_.of(fabric_.neighbor(p)))
      continue;
    least = std::min({least, out(p).delay + settings_.switch_delay,
                      Duration{shortest} + settings_.credit_delay + send_[lane_index(p, 0)].credit_way});
  }
  return least;
}

/// Arrivals are certain when the last packet starts on the cable to its host. That one may be all of an empty
/// message, or the last byte of a long one.
network::Bounds PacketNetwork::bounds() const {
  const std::int64_t bytes =
      settings_.packet_header + std::min<std::int64_t>(1, counted(0) + settings_.message_header);
  Duration least = std::chrono::hours(1);  // where no host has a cable
  for (Port p = 0; p < fabric_.all_ports(); p++)
    if (fabric_.peer(p) != nothing && out(p).to_host)
      least = std::min(least, time_of(p, bytes) + out(p).delay);
  return {.lookahead = lookahead_, .notice = least + receiving(0), .entry = sending(0)};
}

std::int64_t PacketNetwork::packets_of(std::int64_t bytes) const {
  return std::max<std::int64_t>(1, (bytes + settings_.mtu - 1) / settings_.mtu);
}

std::int64_t PacketNetwork::packet_bytes(const Message& m, std::int64_t packet) const {
  const std::int64_t payload = std::min(settings_.mtu, counted(m.bytes) - packet * settings_.mtu);
  return payload + settings_.packet_header + (packet == 0 ? settings_.message_header : 0);
}

std::uint8_t PacketNetwork::level_of(std::int32_t source, std::int32_t destination,
                                     std::int32_t wanted) const {
  if (wanted != by_tables) return static_cast<std::uint8_t>(wanted);
  const Node from = fabric_.switch_of(fabric_.host(source)),
             to = fabric_.switch_of(fabric_.host(destination));
  return from == nothing || to == nothing ? std::uint8_t{0} : tables_.service_level(from, to);
}

void PacketNetwork::check(const Injection& i) const {
  for (const std::int32_t host : {i.source, i.destination})
    if (host < 0 || host >= fabric_.hosts())
      refuse(i.id, fmt::format("a host from 0 to {}", fabric_.hosts() - 1), fmt::format("{}", host));
  if (i.bytes < 0 || i.bytes > std::int64_t{1} << 50)
    refuse(i.id, "a size from 0 to 2^50 bytes", fmt::format("{} bytes", i.bytes));
  if (i.time < TimePoint{} || i.time >= time_limit)
    refuse(i.id, "a time that is not negative", fmt::format("{} ps", i.time.time_since_epoch().count()));
  if (const Duration send = sending(i.bytes); i.time + send < advanced_to_)
    refuse(i.id, fmt::format("a time from {} ps on", (advanced_to_ - send).time_since_epoch().count()),
           fmt::format("{} ps", i.time.time_since_epoch().count()));
  if (i.level != by_tables && (i.level < 0 || static_cast<std::size_t>(i.level) >= lanes_))
    refuse(i.id, fmt::format("a service level from 0 to {}", lanes_ - 1), fmt::format("{}", i.level));
  if (i.source != i.destination) check_way(i);
}

/// The way, switch by switch; as cheap as the packets that will go it.
void PacketNetwork::check_way(const Injection& i) const {
  const Node from = fabric_.host(i.source), to = fabric_.host(i.destination);
  Node at = fabric_.neighbor(fabric_.first_port(from));
  for (int passed = 0; at != nothing && at != to && fabric_.is_switch(at); passed++) {
    const int port = tables_.port(at, fabric_.lid(to));
    if (port == 0 || port > fabric_.ports(at) || passed > fabric_.switches()) break;
    at = fabric_.neighbor(fabric_.port(at, port));
  }
  if (at != to)
    throw Error({.operation = fmt::format("message {}", i.id),
                 .problem = fabric_.neighbor(fabric_.first_port(from)) == nothing
                                ? fmt::format("host {} has no cable", fabric_.name(from))
                                : to_string(fabric_, trace(fabric_, tables_, from, to))});
}

void PacketNetwork::inject(const Injection& i) {
  check(i);
  if (!owns(i.source)) refuse(i.id, "a source of this part", fabric_.name(fabric_.host(i.source)));
  const Duration send = sending(i.bytes), software = send + receiving(i.bytes);
  if (i.source == i.destination) {  // does not leave the host
    arrivals_.push_back({.id = i.id,
                         .source = i.source,
                         .destination = i.destination,
                         .bytes = i.bytes,
                         .injected = i.time,
                         .time = i.time + software,
                         .software = software,
                         .payload = i.payload});
    figures_.messages++;
    figures_.bytes += i.bytes;
    figures_.latency.add(software);
    return;
  }
  const std::int32_t index = messages_.take();
  Message& m = messages_[index];
  m.id = i.id;
  m.bytes = i.bytes;
  m.packets = packets_of(counted(i.bytes));
  m.injected = i.time;
  m.requested = i.time + send;
  m.software = software;
  m.payload = i.payload;
  m.source = i.source;
  m.destination = i.destination;
  m.level = level_of(i.source, i.destination, i.level);
  m.lane = tables_.first_lane(m.level);
  waiting_.push({m.requested, i.id, index});
}

/// The adapter learns of a message.
void PacketNetwork::start_message(const Waiting& waiting) {
  Message& m = messages_[waiting.message];
  const Port p = fabric_.first_port(fabric_.host(m.source));
  OutPort& o = out(p);
  if (o.train != nothing) {
    const Train& train = trains_[o.train];
    if (messages_[train.message].lane == m.lane && waiting.time < train.source_end) {
      wake(p, train.source_end);  // behind it
    } else {
      break_train(o.train, waiting.time);
    }
  }
  SendLane& lane = send_lane(p, m.lane);
  if (lane.first == nothing) {
    lane.first = waiting.message;
  } else {
    messages_[lane.last].next = waiting.message;
  }
  lane.last = waiting.message;
  o.waiting = static_cast<std::uint16_t>(o.waiting | (1U << m.lane));
  if (o.train == nothing) serve(p, waiting.time);
}

TimePoint PacketNetwork::next_event() {
  const TimePoint next = events_.next();
  return waiting_.empty() ? next : std::min(next, waiting_.top().time);
}

std::string PacketNetwork::stuck() {
  if (next_event() != EventQueue::never || packets_.used() == 0) return {};
  std::string text = fmt::format("{} packets wait for each other:", format_count(packets_.used()));
  int shown = 0;
  for (Port p = 0; p < fabric_.all_ports(); p++)
    for (int lane = 0; lane < static_cast<int>(lanes_); lane++) {
      if (out(p).from_host || send_lane(p, lane).first == nothing || ++shown > 8) continue;
      text += fmt::format(" {} lane {},", fabric_.port_name(p), lane);
    }
  text.back() = ' ';
  return text + (shown > 8 ? "and more" : "are without credits");
}

std::int64_t PacketNetwork::leaks() {
  std::int64_t lost = packets_.used() + messages_.used();
  for (Port p = 0; p < fabric_.all_ports(); p++)
    for (int lane = 0; lane < static_cast<int>(lanes_); lane++) {
      SendLane& s = send_lane(p, lane);
      credits_.collect(s, TimePoint::max());
      lost += s.capacity - s.available;
    }
  return lost;
}

std::vector<Stage> PacketNetwork::stages_of(std::int32_t source, std::int32_t destination, std::int64_t bytes,
                                            std::uint8_t level, bool with_credits) const {
  Message m;
  m.bytes = bytes;
  const std::int64_t packets = packets_of(counted(bytes));
  const std::array<std::int64_t, 3> sizes{packet_bytes(m, 0), settings_.mtu + settings_.packet_header,
                                          packet_bytes(m, packets - 1)};
  std::vector<Stage> stages;
  Port in = nothing;
  Route next{fabric_.first_port(fabric_.host(source)), tables_.first_lane(level)};
  for (std::uint8_t in_lane = 0;;) {
    const OutPort& o = out(next.out);
    const Port from = next.out;
    Stage s{.out = from, .in = in, .lane = next.lane, .in_lane = in_lane};
    s.cable = o.delay;
    s.capacity = with_credits ? send_[lane_index(from, next.lane)].capacity : 0;
    s.credit_delay = settings_.credit_delay;
    s.credit_period = settings_.credit_period;
    s.credit_way = send_[lane_index(from, next.lane)].credit_way;
    in = o.peer;
    in_lane = next.lane;
    if (!o.to_host) next = route(fabric_.node_of(in), in, destination, level);
    for (std::size_t i = 0; i < sizes.size(); i++) {
      s.bytes[i] = static_cast<std::int32_t>(sizes[i]);
      s.blocks[i] = blocks_of(sizes[i]);
      s.time[i] = time_of(from, sizes[i]);
      if (!o.to_host) s.to_next[i] = o.delay + forwarding_time(from, next.out, sizes[i]);
    }
    stages.push_back(s);
    if (o.to_host) return stages;
  }
}

PacketNetwork::Unloaded PacketNetwork::unloaded(std::int32_t source, std::int32_t destination,
                                                std::int64_t bytes) const {
  if (source == destination) return {};
  const std::vector<Stage> stages =
      stages_of(source, destination, bytes, level_of(source, destination, by_tables), false);
  TrainRun run(stages, packets_of(counted(bytes)), TimePoint{});
  run.run_all();
  const std::size_t last = stages.size() - 1;
  Unloaded result{.switches = static_cast<int>(last)};
  for (const Stage& s : stages) result.cables += s.cable;
  result.switching = result.switches * settings_.switch_delay;
  result.total = run.end(last, run.packets() - 1) + stages[last].cable - TimePoint{};
  return result;
}

}  // namespace simreplay::infiniband
