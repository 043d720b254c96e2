// Walks the parser's tree of subcommands and options.
#include "tools/touchstone/texts.h"

namespace touchstone::command {
namespace {

// Returns the words of "TEXT:{trusted,untrusted}".
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// Returns the name of the value: "TEXT:{a,b}" and "INT:POSITIVE" lose their checks.
std::string value_name(const std::string& type, const std::vector<std::string>& choices) {
  if (!choices.empty()) return CLI::detail::join(choices, "|");
  const std::size_t check = type.find(':');
  const bool is_ours = check == std::string::npos || type.find('=') < check;
  return is_ours ? type : type.substr(0, check);
}

OptionText text_of(const CLI::Option& option) {
  OptionText out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.is_flag = option.get_items_expected_max() == 0;
  out.may_lack_value = !out.is_flag && option.get_items_expected_min() == 0;
  if (!out.is_flag) {
    const std::string type = option.get_type_name();
    out.choices = choices_in(type);
    out.value = value_name(type, out.choices);
  }
  out.text = option.get_description();
  return out;
}

void add(const CLI::App& app, const std::string& path, std::vector<CommandText>& out) {
  CommandText one{path, app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional()) {
      one.options.push_back(text_of(*option));
    } else {
      one.positionals.push_back(option->get_type_name());
    }
  }
  const auto visible = [](const CLI::App* sub) { return !sub->get_group().empty(); };
  const std::vector<const CLI::App*> children = app.get_subcommands(visible);
  for (const CLI::App* sub : children) one.subcommands.push_back(sub->get_name());
  out.push_back(std::move(one));
  for (const CLI::App* sub : children)
    add(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), out);
}

}  // namespace

std::vector<CommandText> command_texts(const CLI::App& app) {
  std::vector<CommandText> out;
  add(app, "", out);
  return out;
}

}  // namespace touchstone::command
