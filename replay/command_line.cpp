#include "replay/command_line.hpp"

#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/machine.hpp"

namespace simreplay {

namespace po = boost::program_options;

po::variables_map parse_command_line(int argc, const char* const* argv, const po::options_description& all,
                                     const po::positional_options_description& positional,
                                     const char* program) {
  const std::string help = std::string("see ") + program + " --help";
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional).style(style).run(),
              values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : all.options()) names.push_back("--" + option->long_name());
    const std::string near = nearest(e.get_option_name(), names);
    throw Error({.operation = e.get_option_name(),
                 .problem = "unknown option",
                 .remedy = near.empty() ? help : "did you mean " + near + "?"});
  } catch (const po::error& e) {
    throw Error({.problem = e.what(), .remedy = help});
  }
  return values;
}

}  // namespace simreplay
