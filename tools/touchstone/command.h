// What every subcommand shares: exit codes, colour, JSON output, and how an error is printed.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace touchstone {

// The process's exit code: one meaning each, the same in every subcommand.
enum class ExitCode {
  fine = 0,
  mismatch = 1,
  usage = 2,
  invalid = 3,  // the model, or a value met while running, breaks a rule of the standard
  unsupported = 4,
  crashed = 5,
  limit = 6,
  file = 7,
  bug = 70,
  interrupted = 130,
};
ExitCode exit_code(ErrorKind kind);

// --json [F]: one object to F, or to stdout.
struct JsonOutput {
  bool wanted = false;
  std::string file;
  mutable bool written = false;
  explicit operator bool() const { return wanted; }
  bool takes_stdout() const { return wanted && file.empty(); }
};
void add_json(CLI::App& command, JsonOutput& output);
void write_json(const JsonOutput& output, const nlohmann::ordered_json& object);

// Text goes where the terminal, --color, NO_COLOR and FORCE_COLOR let it be coloured.
enum class Color { automatic, always, never };
void set_color(Color wanted);
enum class Stream { out, err };
enum class Style { plain, bold, dim, red, green, yellow };
std::string styled(Stream stream, Style style, std::string_view text);

// Bytes that a hostile model chose, made fit for a terminal: control characters become \x1b and the
// like.
std::string printable(std::string_view text);

void print_error(const Error& error);  // to stderr

// Names on stderr the fields of a file that the one saved from it has not; the same for --json.
nlohmann::ordered_json dropped_fields(const std::set<std::string>& fields);

// Runs `body` and turns what it throws into a printed error and its exit code. Where --json has no
// object yet, the error is it.
ExitCode guarded(const JsonOutput& json, const std::function<ExitCode()>& body);

// Declares a subcommand whose body runs guarded; each file of this folder has one such function.
void add_run(CLI::App& app, ExitCode& out);
void add_check(CLI::App& app, ExitCode& out);
void add_show(CLI::App& app, ExitCode& out);
void add_optimize(CLI::App& app, ExitCode& out);
void add_convert(CLI::App& app, ExitCode& out);
void add_spec(CLI::App& app, ExitCode& out);
void add_conform(CLI::App& app, ExitCode& out);
void add_bench(CLI::App& app, ExitCode& out);
void add_worker(CLI::App& app, ExitCode& out);
void add_judge(CLI::App& app, ExitCode& out);
void add_compare(CLI::App& app, ExitCode& out);

}  // namespace touchstone
