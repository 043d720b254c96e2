// Exit codes, color, JSON output and error printing for all subcommands: the only file of the
// project that prints.
#include "tools/touchstone/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/files.h"

namespace touchstone::command {
namespace {

Color color_wanted = Color::automatic;
Verbosity verbosity = Verbosity::normal;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool colored(Stream stream) {
  if (color_wanted != Color::automatic) return color_wanted == Color::always;
  if (is_set("NO_COLOR")) return false;
  if (is_set("FORCE_COLOR")) return true;
  return isatty(stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO) != 0;
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain:
      return "0";
    case Style::bold:
      return "1";
    case Style::dim:
      return "2";
    case Style::red:
      return "1;31";
    case Style::green:
      return "32";
    case Style::yellow:
      return "33";
  }
  return "0";
}

std::string in_words(ErrorKind kind) {
  std::string words(name(kind));
  std::replace(words.begin(), words.end(), '_', '-');
  return words;
}

void print_line(std::string_view label, std::string_view text) {
  fmt::print(stderr, "  {}{} {}\n", styled(Stream::err, Style::dim, label),
             std::string(label.size() < 5 ? 5 - label.size() : 0, ' '), printable(text));
}

// A place begins with its kind ("node 'act3' (Clip), main graph"), which becomes the line's label.
void print_place(std::string_view place) {
  const std::size_t space = place.find(' ');
  const bool labelled = space != std::string_view::npos && place[0] >= 'a' && place[0] <= 'z';
  if (labelled) {
    print_line(place.substr(0, space), place.substr(space + 1));
  } else {
    print_line("at", place);
  }
}

}  // namespace

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::usage;
    case ErrorKind::invalid_model:
      return ExitCode::invalid;
    case ErrorKind::invalid_input:
      return ExitCode::invalid;
    case ErrorKind::unsupported:
      return ExitCode::unsupported;
    case ErrorKind::out_of_memory:
      return ExitCode::limit;
    case ErrorKind::limit:
      return ExitCode::limit;
    case ErrorKind::cancelled:
      return ExitCode::interrupted;
    case ErrorKind::file:
      return ExitCode::file;
    case ErrorKind::internal:
      return ExitCode::bug;
  }
  return ExitCode::bug;
}

void add_json(CLI::App& command, JsonOutput& output) {
  command
      .add_option_function<std::vector<std::string>>(
          "--json",
          [&output](const std::vector<std::string>& values) {
            output.wanted = true;
            if (!values.empty()) output.file = values.front();
          },
          "One JSON object, to the file F or to stdout")
      ->expected(0, 1)
      ->trigger_on_parse()
      ->type_name("[F]");
}

JsonOutput json_among(int count, char** arguments) {
  JsonOutput output;
  for (int k = 1; k < count; ++k) {
    const std::string_view word = arguments[k];
    if (word == "--json") {
      output.wanted = true;
      if (k + 1 < count && arguments[k + 1][0] != '-') output.file = arguments[k + 1];
    } else if (word.starts_with("--json=")) {
      output.wanted = true;
      output.file = word.substr(7);
    }
  }
  return output;
}

void write_json(const JsonOutput& output, const nlohmann::ordered_json& object) {
  // A name in a model need not be UTF-8: invalid bytes become U+FFFD, so that the object is always
  // valid JSON.
  const std::string text =
      object.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  output.written = true;
  if (output.file.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    write_atomically(output.file, text);
  }
}

void set_verbosity(Verbosity wanted) { verbosity = wanted; }
bool says(Verbosity level) { return verbosity >= level; }

void set_color(Color wanted) { color_wanted = wanted; }

std::string styled(Stream stream, Style style, std::string_view text) {
  if (style == Style::plain || !colored(stream)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(style), text);
}

namespace {

// Returns the size and code of the first UTF-8 character; 1 and the byte if it is no valid UTF-8.
std::pair<std::size_t, std::uint32_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size < 2 || text.size() < size) return {1, lead};
  std::uint32_t number = lead & (0x7fU >> size);
  for (std::size_t k = 1; k < size; ++k) {
    if (byte(k) >> 6 != 2) return {1, lead};
    number = number << 6 | (byte(k) & 0x3fU);
  }
  return {size, number};
}

// True for control characters, and for characters that are invisible or change the text direction.
bool is_unprintable(std::size_t size, std::uint32_t number) {
  if (size == 1) return number < 0x20 || number >= 0x7f;  // no UTF-8 from 0x80 on
  return number < 0xa0 || (number >= 0x200b && number <= 0x200f) ||
         (number >= 0x2028 && number <= 0x202e) || (number >= 0x2060 && number <= 0x206f) ||
         (number >= 0xd800 && number < 0xe000) || number == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [size, number] = first_character(text);
    if (text[0] == '\n') {
      out += "\\n";
    } else if (!is_unprintable(size, number)) {
      out += text.substr(0, size);
    } else if (size == 1) {
      out += fmt::format("\\x{:02x}", number);
    } else {
      out += fmt::format("\\u{:04x}", number);
    }
    text.remove_prefix(size);
  }
  return out;
}

void print_error(const Error& error) {
  const std::string code =
      fmt::format("error[{}]", error.rule.empty() ? in_words(error.kind) : error.rule);
  fmt::print(stderr, "{}: {}\n", styled(Stream::err, Style::red, printable(code)),
             printable(error.message));
  if (!error.place.empty()) print_place(error.place);
  if (!error.rule_text.empty()) {
    print_line("rule", error.spec_line.empty()
                           ? error.rule_text
                           : fmt::format("{:<25}  {}", error.rule_text, error.spec_line));
  }
  if (!error.help.empty()) print_line("help", error.help);
}

nlohmann::ordered_json dropped_fields(const std::set<std::string>& fields) {
  if (!fields.empty())
    inform("{}: not in the saved file: {}\n", styled(Stream::err, Style::yellow, "note"),
           fmt::join(fields, ", "));
  return fields;
}

namespace {

void write_error(const JsonOutput& json, const Error& error) {
  if (!json || json.written) return;
  try {
    write_json(json, {{"schema", "touchstone.error/1"},
                      {"kind", in_words(error.kind)},
                      {"message", error.message},
                      {"rule", error.rule},
                      {"place", error.place},
                      {"rule_text", error.rule_text},
                      {"spec", error.spec_line},
                      {"help", error.help},
                      {"exit_code", static_cast<int>(exit_code(error.kind))}});
  } catch (const Error& second) {
    print_error(second);
  }
}

}  // namespace

ExitCode fail_with(const JsonOutput& json, const Error& error) {
  write_error(json, error);
  std::fflush(stdout);
  print_error(error);
  return exit_code(error.kind);
}

ExitCode guarded(const JsonOutput& json, const std::function<ExitCode()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    return fail_with(json, error);
  } catch (const std::bad_alloc&) {
    return fail_with(json, Error(ErrorKind::out_of_memory, "no memory is left"));
  } catch (const std::length_error&) {  // a vector or string longer than memory can hold
    return fail_with(json,
                     Error(ErrorKind::out_of_memory, "more is asked for than memory can hold"));
  } catch (const std::filesystem::filesystem_error& error) {
    return fail_with(json, Error(ErrorKind::file, error.what()));
  } catch (const std::exception& error) {
    return fail_with(
        json,
        Error(ErrorKind::internal, error.what())
            .with_help("this is a defect of touchstone: please report it with the command line"));
  }
}

}  // namespace touchstone::command
