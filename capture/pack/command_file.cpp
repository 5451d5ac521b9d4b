#include "capture/pack/command_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace simreplay::pack {

std::string command_file(const std::string& folder, const std::string& run) {
  return folder + "/" + run + ".command";
}

std::string read_command(const std::string& folder, const std::string& run, const Team& team) {
  std::ifstream file(command_file(folder, run), std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  text.push_back('\0');
  std::vector<char> texts = team.gather(std::move(text));
  const auto begin = std::ranges::find_if(texts, [](char c) { return c != '\0'; });
  std::string command(begin, std::find(begin, texts.end(), '\0'));
  team.broadcast(command);
  return command;
}

}  // namespace simreplay::pack
