// Code shared by all subcommands: exit codes, color, JSON output, and error printing.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace touchstone::command {

// Exit code of the process, with the same meaning in every subcommand.
enum class ExitCode {
  fine = 0,
  mismatch = 1,
  usage = 2,
  invalid = 3,  // the model, or a value at run time, violates a rule of the standard
  unsupported = 4,
  crashed = 5,
  limit = 6,
  file = 7,
  bug = 70,
  interrupted = 130,
};
ExitCode exit_code(ErrorKind kind);

// --json [F]: writes one object to F, or to stdout.
struct JsonOutput {
  bool wanted = false;
  std::string file;
  mutable bool written = false;
  explicit operator bool() const { return wanted; }
  bool takes_stdout() const { return wanted && file.empty(); }
};
void add_json(CLI::App& command, JsonOutput& output);
JsonOutput json_among(int count, char** arguments);  // of a command line that was not parsed
void write_json(const JsonOutput& output, const nlohmann::ordered_json& object);

// Use of color: the default depends on the terminal, NO_COLOR and FORCE_COLOR.
enum class Color { automatic, always, never };
void set_color(Color wanted);
enum class Stream { out, err };
enum class Style { plain, bold, dim, red, green, yellow };
std::string styled(Stream stream, Style style, std::string_view text);

// Escapes untrusted text of a model for a terminal: control characters become \x1b and the like.
std::string printable(std::string_view text);

// Amount of messages on stderr: quiet has errors only, verbose also tells what takes how long.
enum class Verbosity { quiet, normal, verbose };
void set_verbosity(Verbosity wanted);
bool says(Verbosity level);

template <class... Args>
void inform(fmt::format_string<Args...> format, Args&&... args) {
  if (says(Verbosity::normal)) fmt::print(stderr, format, std::forward<Args>(args)...);
}
template <class... Args>
void say_more(fmt::format_string<Args...> format, Args&&... args) {
  if (says(Verbosity::verbose)) fmt::print(stderr, format, std::forward<Args>(args)...);
}

void print_error(const Error& error);  // to stderr
ExitCode fail_with(const JsonOutput& json,
                   const Error& error);  // and to --json, if it has no object

// Reports on stderr the fields of a file that the saved one lacks; returns them for --json.
nlohmann::ordered_json dropped_fields(const std::set<std::string>& fields);

// Runs `body` and turns an exception into a failure.
ExitCode guarded(const JsonOutput& json, const std::function<ExitCode()>& body);

// These declare the subcommands, whose bodies run guarded; each is defined in a file of its own.
void add_run(CLI::App& app, ExitCode& out);
void add_check(CLI::App& app, ExitCode& out);
void add_show(CLI::App& app, ExitCode& out);
void add_optimize(CLI::App& app, ExitCode& out);
void add_convert(CLI::App& app, ExitCode& out);
void add_bundle(CLI::App& app, ExitCode& out);
void add_spec(CLI::App& app, ExitCode& out);
void add_conform(CLI::App& app, ExitCode& out);
void add_doctor(CLI::App& app, ExitCode& out);
void add_bench(CLI::App& app, ExitCode& out);
void add_completion(CLI::App& app, ExitCode& out);
void add_worker(CLI::App& app, ExitCode& out);
void add_judge(CLI::App& app, ExitCode& out);
void add_compare(CLI::App& app, ExitCode& out);
void add_fuzz(CLI::App& app, ExitCode& out);
void add_reduce(CLI::App& app, ExitCode& out);

}  // namespace touchstone::command
