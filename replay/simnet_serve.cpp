// simnet as a server: JSON lines in, JSON lines out (docs/models/infiniband.md). Rank 0 talks to the client
// and tells the others.

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.hpp"
#include "common/handles.hpp"
#include "replay/simnet_runs.hpp"

namespace simreplay {
namespace {

using namespace infiniband;
using Json = nlohmann::json;

struct CloseFile {
  using Handle = std::FILE*;
  static Handle null() { return nullptr; }
  static void free(Handle f) { std::fclose(f); }
};
struct CloseDescriptor {
  using Handle = int;
  static Handle null() { return -1; }
  static void free(Handle d) { close(d); }
};

/// What rank 0 tells all ranks.
struct Command {
  enum Kind { inject, advance, figures, end_of_client, shutdown } kind = inject;
  Injection message{};
  TimePoint until{};
};

/// One client on one fresh network.
class Session {
 public:
  Session(const NetOptions& options, const Fabric& fabric, const Tables& tables, std::FILE* in,
          std::FILE* out)
      : fabric_(fabric), reader_(fabric), in_(in), out_(out) {
    together(MPI_COMM_WORLD, [&] {
      network_ = std::make_unique<ParallelNetwork>(MPI_COMM_WORLD, fabric, tables, options.settings);
    });
  }

  /// True if another client may come.
  bool run() {
    for (;;) {
      Command c;
      if (rank_in(MPI_COMM_WORLD) == 0) c = next_command();
      MPI_Bcast(&c, sizeof c, MPI_BYTE, 0, MPI_COMM_WORLD);
      switch (c.kind) {
        case Command::inject:
          advance(c.message.time, false);
          if (network_->owns(c.message.source)) network_->inject(c.message);
          break;
        case Command::advance:
          advance(c.until, true);
          break;
        case Command::figures:
          answer_figures();
          break;
        case Command::end_of_client:
        case Command::shutdown:
          advance(EventQueue::never, true);
          return c.kind == Command::end_of_client;
      }
    }
  }

 private:
  /// The next request that can be obeyed; others are answered with what is wrong about them.
  Command next_command() {
    for (std::string line; read_line(line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        return parse(line);
      } catch (const std::exception& e) {
        answer({{"error", e.what()}, {"line", lines_}});
        failed_ = true;
      }
    }
    return {.kind = Command::end_of_client};
  }

  Command parse(const std::string& line) {
    Json request;
    try {
      request = Json::parse(line);
    } catch (const Json::exception&) {
      throw std::invalid_argument(fmt::format("expected a JSON object, found `{}`", line));
    }
    if (!request.is_object())
      throw std::invalid_argument(fmt::format("expected a JSON object, found `{}`", line));
    if (request.contains("advance_ps")) {
      if (request["advance_ps"] == "end") return {.kind = Command::advance, .until = EventQueue::never};
      if (!request["advance_ps"].is_number_integer())
        throw std::invalid_argument("expected advance_ps as a whole number or \"end\"");
      return {.kind = Command::advance,
              .until = TimePoint{Duration{request["advance_ps"].get<std::int64_t>()}}};
    }
    if (request.contains("figures")) return {.kind = Command::figures};
    if (request.contains("shutdown")) return {.kind = Command::shutdown};
    Command c{.kind = Command::inject, .message = reader_.read(request, next_id_)};
    network_->part().check(c.message);
    if (!ids_.insert(c.message.id).second)
      throw std::invalid_argument(fmt::format("id {} is given twice", c.message.id));
    next_id_ = std::max(next_id_, c.message.id) + 1;
    return c;
  }

  bool read_line(std::string& line) {
    line.clear();
    int c = 0;
    while ((c = std::fgetc(in_)) != EOF && c != '\n') line.push_back(static_cast<char>(c));
    lines_++;
    return c != EOF || !line.empty();
  }

  void advance(TimePoint until, bool say_so) {
    network_->run(until);
    if (until == EventQueue::never) network_->check_progress();
    // Arrivals may be known before their time: they are told in the order of their times.
    const std::vector<Arrival> all = gather_arrivals(network_->take_arrivals(), MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) != 0) return;
    known_.insert(known_.end(), all.begin(), all.end());
    const auto before = [](const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time < b.time : a.id < b.id;
    };
    std::sort(known_.begin(), known_.end(), before);
    const auto first_later =
        std::find_if(known_.begin(), known_.end(), [until](const Arrival& a) { return a.time >= until; });
    for (auto a = known_.begin(); a != first_later; ++a) answer(arrival_json(*a, fabric_, network_->part()));
    known_.erase(known_.begin(), first_later);
    if (!say_so) return;
    if (until == EventQueue::never) {
      answer({{"advanced_ps", "end"}});
    } else {
      answer({{"advanced_ps", until.time_since_epoch().count()}});
    }
  }

  void answer_figures() {
    const Figures f = network_->gather_figures();
    if (rank_in(MPI_COMM_WORLD) == 0) answer(nlohmann::ordered_json::parse(to_json(f, fabric_)));
  }

  void answer(const nlohmann::ordered_json& json) {
    const std::string text = json.dump() + "\n";
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
  }

 public:
  bool failed() const { return failed_; }

 private:
  const Fabric& fabric_;
  MessageReader reader_;
  std::FILE *in_, *out_;  // rank 0
  std::unique_ptr<ParallelNetwork> network_;
  std::vector<Arrival> known_;
  std::set<std::int64_t> ids_;
  std::int64_t next_id_ = 0, lines_ = 0;
  bool failed_ = false;
};

UniqueHandle<CloseDescriptor> listen_at(const std::string& path) {
  const auto refuse = [&path](const char* what) {
    throw Error({.file = path, .problem = fmt::format("{}: {}", what, std::strerror(errno))});
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error({.file = path,
                 .expected = fmt::format("a path below {} characters", sizeof address.sun_path),
                 .found = fmt::format("{}", path.size())});
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueHandle<CloseDescriptor> listening(socket(AF_UNIX, SOCK_STREAM, 0));
  if (!listening) refuse("no socket");
  if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    refuse("cannot be bound");
  if (listen(listening.get(), 4) != 0) refuse("cannot be listened at");
  return listening;
}

}  // namespace

void serve(const NetOptions& options, const Fabric& fabric, const Tables& tables, const MpiSession& mpi) {
  if (options.socket.empty()) {
    Session session(options, fabric, tables, stdin, stdout);
    session.run();
    together(MPI_COMM_WORLD, [&] {
      if (session.failed()) throw Error({.problem = "some requests were refused; their answers say why"});
    });
    return;
  }
  UniqueHandle<CloseDescriptor> listening;
  together(MPI_COMM_WORLD, [&] {
    if (mpi.rank() == 0) listening = listen_at(options.socket);
  });
  std::signal(SIGPIPE, SIG_IGN);  // clients may leave
  for (bool more = true; more;) {
    UniqueHandle<CloseFile> in, out;
    if (mpi.rank() == 0) {
      const int client = accept(listening.get(), nullptr, nullptr);
      in = UniqueHandle<CloseFile>(fdopen(client, "r"));
      out = UniqueHandle<CloseFile>(fdopen(dup(client), "w"));
    }
    more = Session(options, fabric, tables, in.get(), out.get()).run();
  }
  if (mpi.rank() == 0) unlink(options.socket.c_str());
}

}  // namespace simreplay
