#include "capture/simtrace/command_line.hpp"

#include <mpi.h>

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <sstream>

namespace simreplay::simtrace {

namespace po = boost::program_options;

Exit report(const std::string& text, Exit status) {
  if (!text.empty()) fmt::print(stderr, "simtrace: {}\n", text);
  return status;
}

Exit guarded(bool reports, const std::function<Exit()>& work) {
  const auto said = [reports](const char* text, Exit status) { return report(reports ? text : "", status); };
  try {
    return work();
  } catch (const UsageError& e) {
    return said(e.what(), Exit::usage);
  } catch (const std::bad_alloc&) {
    return said("not enough memory", Exit::fault);
  } catch (const std::exception& e) {
    return said(e.what(), Exit::fault);
  }
}

Exit on_all_ranks(int ranks, const std::function<void()>& work) {
  const Exit result = guarded(true, [&] {
    work();
    return Exit::success;
  });
  if (result != Exit::success && ranks > 1) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(result));
  return result;
}

CommandLine::CommandLine(std::string usage, std::string about, std::vector<std::string> operands)
    : usage_(std::move(usage)),
      about_(std::move(about)),
      operands_(std::move(operands)),
      options_("options", 100) {
  add_options()("help,h", "print this text");
}

bool CommandLine::parse(const Arguments& arguments, bool prints) {
  po::options_description all;
  all.add(options_);
  po::positional_options_description positions;
  for (const std::string& operand : operands_) {
    all.add_options()(operand.c_str(), po::value<std::string>());
    positions.add(operand.c_str(), 1);
  }
  try {
    constexpr int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(all).positional(positions).style(style).run(),
              values_);
    if (has("help")) {
      if (prints) fmt::print("{}", help());
      return false;
    }
    po::notify(values_);
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError(fmt::format("{}: expected {} operand(s), found more; usage: simtrace {}", command(),
                                 operands_.size(), usage_));
  } catch (const po::error& e) {
    throw UsageError(fmt::format("{}: {}; options: {}", command(), e.what(), valid_options()));
  }
  check_operands();
  return true;
}

void CommandLine::check_operands() const {
  for (const std::string& operand : operands_)
    if (!has(operand))
      throw UsageError(fmt::format("{}: no {} given; usage: simtrace {}", command(), operand, usage_));
}

std::string CommandLine::help() const {
  std::ostringstream text;
  text << "usage: simtrace " << usage_ << "\n" << about_ << "\n\n" << options_;
  if (!epilogue_.empty()) text << "\n" << epilogue_;
  return text.str();
}

std::string CommandLine::valid_options() const {
  std::string names;
  for (const auto& option : options_.options())
    names += (names.empty() ? "--" : ", --") + option->long_name();
  return names;
}

}  // namespace simreplay::simtrace
