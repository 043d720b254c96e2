// touchstone: the command. Each subcommand is defined in a file of its own in this folder.
#include "core/nearest.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/version.h"

namespace touchstone::command {
namespace {

void declare(CLI::App& app, ExitCode& out) {
  add_run(app, out);
  add_check(app, out);
  add_show(app, out);
  add_optimize(app, out);
  add_convert(app, out);
#ifdef TOUCHSTONE_WITH_FAST
  add_bundle(app, out);
#endif
  add_spec(app, out);
  add_completion(app, out);
#ifdef TOUCHSTONE_WITH_CONFORMANCE
  add_conform(app, out);
  add_judge(app, out);
  add_compare(app, out);
  add_bench(app, out);
  add_doctor(app, out);
  add_worker(app, out);
#endif
#ifdef TOUCHSTONE_WITH_FUZZ
  add_fuzz(app, out);
  add_reduce(app, out);
#endif
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string near(const std::string& word, const std::vector<std::string>& known) {
  return did_you_mean(word, std::vector<std::string_view>(known.begin(), known.end()));
}

// Improves CLI11's error, which reports a missing subcommand even if another word was given in its
// place.
Error misused(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const std::vector<std::string> left = app.remaining(true);
  std::string what = error.what(), help;
  if (commands.empty() && !left.empty()) {
    what = "there is no subcommand '" + left.front() + "'";
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      if (!command->get_group().empty()) known.push_back(command->get_name());
    help = near(left.front(), known);
  } else if (!left.empty() && left.front().starts_with("--")) {
    const std::string option = left.front().substr(0, left.front().find('='));
    what = "there is no option '" + option + "'";
    std::vector<std::string> known = option_names(app);
    for (const CLI::App* command : commands) {
      const std::vector<std::string> own = option_names(*command);
      known.insert(known.end(), own.begin(), own.end());
    }
    help = near(option, known);
  }
  return Error(ErrorKind::usage, what)
      .with_help(help + "touchstone --help, touchstone SUBCOMMAND --help");
}

int touchstone_main(int count, char** arguments) {
  CLI::App app("Touchstone assays ONNX runtimes, and is itself one.", "touchstone");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", TOUCHSTONE_VERSION, "Print the version; --json: all about it");
  app.add_flag_callback(
         "-q,--quiet", [] { set_verbosity(Verbosity::quiet); }, "Say nothing on stderr but errors")
      ->trigger_on_parse();
  app.add_flag_callback(
         "-v,--verbose", [] { set_verbosity(Verbosity::verbose); }, "Say what takes how long")
      ->trigger_on_parse();
  const std::map<std::string, Color> colors{
      {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};
  app.add_option_function<std::string>(
         "--color", [&](const std::string& text) { set_color(colors.at(text)); },
         "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->trigger_on_parse();
  ExitCode out = ExitCode::fine;
  declare(app, out);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    const JsonOutput json = json_among(count, arguments);
    if (error.get_name() == "CallForVersion" && json) {
      return static_cast<int>(guarded(json, [&] {
        write_json(json, version_object());
        return ExitCode::fine;
      }));
    }
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return static_cast<int>(fail_with(json, misused(app, error)));
  }
  return static_cast<int>(out);
}

}  // namespace
}  // namespace touchstone::command

int main(int count, char** arguments) {
  return touchstone::command::touchstone_main(count, arguments);
}
