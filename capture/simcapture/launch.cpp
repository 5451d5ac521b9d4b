#include "capture/simcapture/launch.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/error.hpp"

namespace simreplay::simcapture {
namespace {

constexpr std::array passed_on = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t child = 0;

/// Ctrl-C on a terminal reaches the child without us; twice would make mpirun abort without cleaning up.
void pass_on(int signal, siginfo_t* info, void*) {
  const bool from_terminal = info->si_code == SI_KERNEL;
  if (child > 0 && !from_terminal) kill(static_cast<pid_t>(child), signal);
}

class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < passed_on.size(); i++) sigaction(passed_on[i], &action, &before_[i]);
  }
  ~SignalsPassedOn() {
    for (std::size_t i = 0; i < passed_on.size(); i++) sigaction(passed_on[i], &before_[i], nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

 private:
  std::array<struct sigaction, passed_on.size()> before_{};
};

/// A preload that the command itself asks for would replace ours: `-x LD_PRELOAD=...` of Open MPI, `-genv
/// LD_PRELOAD ...` or `-env LD_PRELOAD ...` of MPICH.
void join_preload(std::vector<std::string>& command, const std::string& library) {
  const std::string variable = "LD_PRELOAD", assignment = variable + "=";
  for (std::size_t i = 1; i < command.size(); i++) {
    const std::string& option = command[i - 1];
    if (option == "-x" && command[i].starts_with(assignment))
      command[i].insert(assignment.size(), library + ":");
    if ((option == "-genv" || option == "-env") && command[i] == variable && i + 1 < command.size())
      command[i + 1].insert(0, library + ":");
  }
}

/// Open MPI's launcher sends to other hosts only the variables that it is told of; that of MPICH sends all.
std::vector<std::string> with_variables_sent(std::vector<std::string> command, const Preload& preload) {
  if (preload.launcher.empty()) return command;
  join_preload(command, preload.recorder);
  if (preload.launcher != "openmpi") return command;
  std::vector<std::string> options = {"-x", "LD_PRELOAD"};
  for (const auto& [name, value] : preload.variables()) options.insert(options.end(), {"-x", name});
  command.insert(command.begin() + 1, options.begin(), options.end());
  return command;
}

/// Our environment, with the recorder before other preloaded libraries.
std::vector<std::string> environment_with(const Preload& preload) {
  std::string libraries = preload.recorder;
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    libraries += std::string(":") + others;
  std::vector<std::string> environment = {"LD_PRELOAD=" + libraries};
  for (const auto& [name, value] : preload.variables()) environment.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text = *variable;
    const bool ours = text.starts_with("LD_PRELOAD=") || text.starts_with("SIMCAPTURE_");
    if (!ours) environment.emplace_back(text);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

pid_t start(std::vector<std::string> command, std::vector<std::string> environment) {
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : passed_on) sigaddset(&defaults, signal);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, command[0].c_str(), nullptr, &attributes, pointers(command).data(),
                                 pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error({.file = command[0], .problem = std::string("cannot be started: ") + std::strerror(error)});
  return pid;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Preload::variables() const {
  auto all = wishes;
  all.insert(all.begin(), {{"SIMCAPTURE_DIR", folder}, {"SIMCAPTURE_RUN", run}});
  return all;
}

int run(const std::vector<std::string>& command, const Preload& preload) {
  std::vector<std::string> full_command = with_variables_sent(command, preload);
  const SignalsPassedOn signals;
  const pid_t pid = start(std::move(full_command), environment_with(preload));
  child = pid;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace simreplay::simcapture
