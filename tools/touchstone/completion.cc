// touchstone completion SHELL: prints the completion script of a shell, or the manual page. The
// build installs all four.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/touchstone/command.h"
#include "tools/touchstone/texts.h"

namespace touchstone::command {
namespace {

// Quotes for a shell by single quotes; `quote` is how one is written inside of them.
std::string shell_quoted(const std::string& text, std::string_view quote = "'\\''") {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> names_of(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// A zsh specification: brackets and colons end its parts.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const OptionText& option, const std::string& name) {
  std::string spec = "*" + name;
  if (!option.is_flag && name.starts_with("--")) spec += "=";
  spec += "[" + zsh_escaped(option.text) + "]";
  if (option.is_flag) return shell_quoted(spec);
  spec += option.may_lack_value ? "::" : ":";
  spec += zsh_escaped(option.value.empty() ? "value" : option.value) + ":";
  spec += option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
  return shell_quoted(spec);
}

// Escapes text of a manual page: a dash is a minus, and no line is a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with(".") || out.starts_with("'") ? "\\&" + out : out;
}

std::string roff_options(const CommandText& command) {
  std::string out;
  for (const OptionText& option : command.options) {
    out += ".TP\n";
    for (std::size_t k = 0; k < option.names.size(); ++k)
      out += fmt::format("{}\\fB{}\\fR", k == 0 ? "" : ", ", roff(option.names[k]));
    if (!option.value.empty()) out += fmt::format(" \\fI{}\\fR", roff(option.value));
    out += "\n" + roff(option.text) + "\n";
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::string out =
      "# bash completion of touchstone, printed by `touchstone completion bash`.\n"
      "_touchstone() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"${command:+$command }$word\" in\n";
  for (const CommandText& one : commands) {
    if (!one.path.empty()) out += fmt::format("      '{0}') command='{0}' ;;\n", one.path);
  }
  out +=
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$command $before\" in\n";
  for (const CommandText& one : commands) {
    for (const OptionText& option : one.options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names)
        out +=
            fmt::format("    '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n",
                        one.path, name, fmt::join(option.choices, " "));
    }
  }
  out +=
      "  esac\n"
      "  local options= words=\n"
      "  case \"$command\" in\n";
  for (const CommandText& one : commands)
    out += fmt::format("    '{}') options='{}' words='{}' ;;\n", one.path,
                       fmt::join(names_of(one), " "), fmt::join(one.subcommands, " "));
  return out +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    [[ -z $command ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _touchstone touchstone\n";
}

std::string zsh_completion(const std::vector<CommandText>& commands) {
  std::string out =
      "#compdef touchstone\n"
      "# zsh completion of touchstone, printed by `touchstone completion zsh`.\n"
      "local -a commands=(\n";
  for (const CommandText& one : commands) {
    if (!one.path.empty() && one.path.find(' ') == std::string::npos)
      out += "  " + shell_quoted(one.path + ":" + zsh_escaped(one.text)) + "\n";
  }
  out += ")\n_arguments -C";
  for (const OptionText& option : commands.front().options) {
    for (const std::string& name : option.names) out += " \\\n  " + zsh_option(option, name);
  }
  out +=
      " \\\n  '1: :->command' '*:: :->rest'\n"
      "case $state in\n"
      "  command) _describe command commands ;;\n"
      "  rest) case $words[1] in\n";
  for (const CommandText& one : commands) {
    if (one.path.empty() || one.path.find(' ') != std::string::npos) continue;
    out += fmt::format("    {}) _arguments", one.path);
    for (const OptionText& option : one.options) {
      for (const std::string& name : option.names) out += " \\\n      " + zsh_option(option, name);
    }
    if (!one.subcommands.empty())
      out += fmt::format(" \\\n      '1::subcommand:({})'", fmt::join(one.subcommands, " "));
    out += " \\\n      '*:file:_files' ;;\n";
  }
  return out + "  esac ;;\nesac\n";
}

std::string fish_completion(const std::vector<CommandText>& commands) {
  std::string out = "# fish completion of touchstone, printed by `touchstone completion fish`.\n";
  for (const CommandText& one : commands) {
    const std::size_t space = one.path.rfind(' ');
    const std::string own = one.path.substr(space == std::string::npos ? 0 : space + 1);
    const std::string seen =
        one.path.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + own;
    for (const std::string& name : one.subcommands) {
      const std::string path = one.path.empty() ? name : one.path + " " + name;
      for (const CommandText& sub : commands) {
        if (sub.path == path)
          out += fmt::format("complete -c touchstone -n {} -a {} -d {}\n",
                             shell_quoted(seen, "\\'"), name, shell_quoted(sub.text, "\\'"));
      }
    }
    for (const OptionText& option : one.options) {
      out += fmt::format("complete -c touchstone -n {}", shell_quoted(seen, "\\'"));
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      else if (!option.is_flag && !option.may_lack_value)
        out += " -r";
      out += fmt::format(" -d {}\n", shell_quoted(option.text, "\\'"));
    }
  }
  return out;
}

std::string manual_page(const std::vector<CommandText>& commands) {
  std::string out = fmt::format(
      ".TH TOUCHSTONE 1 \"\" \"touchstone {}\" \"User commands\"\n"
      ".SH NAME\ntouchstone \\- runs, checks and judges ONNX models, and assays ONNX runtimes\n"
      ".SH SYNOPSIS\n\\fBtouchstone\\fR [\\fIOPTIONS\\fR] \\fISUBCOMMAND\\fR ...\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      TOUCHSTONE_VERSION, roff(commands.front().text));
  out += roff_options(commands.front()) + ".SH SUBCOMMANDS\n";
  for (const CommandText& one : commands) {
    if (one.path.empty()) continue;
    out += fmt::format(".SS \"touchstone {}", roff(one.path));
    for (const std::string& value : one.positionals) out += " " + roff(value);
    out += "\"\n" + roff(one.text) + ".\n" + roff_options(one);
  }
  return out +
         ".SH EXIT STATUS\n"
         ".TP\n0\nfine\n.TP\n1\na mismatch was found\n.TP\n2\nusage\n"
         ".TP\n3\nthe model, or a value at run time, is invalid\n.TP\n4\nunsupported\n"
         ".TP\n5\nthe target crashed\n.TP\n6\na limit or time\\-out\n.TP\n7\nfiles\n"
         ".TP\n70\na defect of touchstone\n.TP\n130\ninterrupted\n"
         ".SH ENVIRONMENT\n"
         ".TP\nNO_COLOR, FORCE_COLOR\nuse of color, without \\-\\-color\n"
         ".TP\nTOUCHSTONE_ISA\nthe instruction set: sse41, avx2, avx512\n"
         ".TP\nTOUCHSTONE_DATA\nthe folder of data files, share/touchstone of an installation\n"
         ".TP\nTOUCHSTONE_PYTHON\nthe Python interpreter of targets and of the suite maker\n"
         ".TP\nXDG_CACHE_HOME\nwhere suites are kept\n";
}

void add_completion(CLI::App& app, ExitCode& out) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a shell's completion script, or the manual page");
  command->add_option("shell", *shell, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([shell, &app, &out] {
    out = guarded(JsonOutput(), [&] {
      const std::vector<CommandText> commands = command_texts(app);
      const std::string text = *shell == "bash"   ? bash_completion(commands)
                               : *shell == "zsh"  ? zsh_completion(commands)
                               : *shell == "fish" ? fish_completion(commands)
                                                  : manual_page(commands);
      fmt::print("{}", text);
      return ExitCode::fine;
    });
  });
}

}  // namespace touchstone::command
