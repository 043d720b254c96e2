// Option texts of all subcommands, read from the parser: shells and the manual page show the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace touchstone::command {

struct OptionText {
  std::vector<std::string> names;    // "-o", "--out"
  std::string value;                 // "NAME=FILE", "" for a flag
  std::vector<std::string> choices;  // of the value, if the option takes only these
  std::string text;
  bool is_flag = false;
  bool may_lack_value = false;  // --json
};

struct CommandText {
  std::string path;  // "fuzz merge"; "" for the program itself
  std::string text;
  std::vector<std::string> positionals;  // "MODEL"
  std::vector<OptionText> options;
  std::vector<std::string> subcommands;
};

// Returns the program and every visible subcommand, parents before children.
std::vector<CommandText> command_texts(const CLI::App& app);

std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);
std::string fish_completion(const std::vector<CommandText>& commands);
std::string manual_page(const std::vector<CommandText>& commands);

}  // namespace touchstone::command
