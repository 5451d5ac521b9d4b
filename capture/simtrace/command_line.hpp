#pragma once
// How the sub-commands of simtrace read their arguments and refuse wrong ones.

#include <boost/program_options.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simreplay::simtrace {

/// Words after the name of the command.
using Arguments = std::vector<std::string>;

/// Wrong use of the program; the text names what is valid. Exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Exit : int { success = 0, fault = 1, usage = 2 };

/// One line on standard error, unless `text` is empty. Returns `status`.
Exit report(const std::string& text, Exit status);
/// Runs `work`; an exception becomes an exit status and, if `reports`, one line on standard error.
Exit guarded(bool reports, const std::function<Exit()>& work);
/// Runs collective `work`. A failure may have hit this rank alone, and the others would wait for it for ever:
/// where there are others, the job is aborted.
Exit on_all_ranks(int ranks, const std::function<void()>& work);

/// One sub-command.
struct Command {
  std::string_view name;
  std::string_view help;  // one line
  Exit (*run)(const Arguments&);
};

/// The options of one sub-command and its operands (arguments without a dash), all of them required.
class CommandLine {
 public:
  /// `usage`: what follows `simtrace `, its first word is the name of the command.
  CommandLine(std::string usage, std::string about, std::vector<std::string> operands);

  boost::program_options::options_description_easy_init add_options() { return options_.add_options(); }
  /// Printed below the options by --help.
  void add_help(std::string text) { epilogue_ = std::move(text); }

  /// False if help was asked for and printed. Throws UsageError.
  bool parse(const Arguments& arguments, bool prints = true);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  template <class T>
  const T& get(const std::string& name) const {
    return values_[name].as<T>();
  }
  const std::string& text(const std::string& name) const { return get<std::string>(name); }

 private:
  std::string help() const;
  std::string valid_options() const;
  std::string command() const { return usage_.substr(0, usage_.find(' ')); }
  void check_operands() const;

  std::string usage_, about_, epilogue_;
  std::vector<std::string> operands_;
  boost::program_options::options_description options_;
  boost::program_options::variables_map values_;
};

}  // namespace simreplay::simtrace
