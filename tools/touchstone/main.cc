// touchstone: the command. It knows its subcommands; each is a file of its own beside this one.
#include "tools/touchstone/command.h"

namespace touchstone {
namespace {

void declare(CLI::App& app, ExitCode& out) {
  add_run(app, out);
  add_check(app, out);
  add_show(app, out);
  add_optimize(app, out);
  add_convert(app, out);
  add_spec(app, out);
#ifdef TOUCHSTONE_WITH_CONFORMANCE
  add_conform(app, out);
  add_judge(app, out);
  add_compare(app, out);
  add_bench(app, out);
  add_worker(app, out);
#endif
}

int touchstone_main(int count, char** arguments) {
  CLI::App app("Touchstone assays ONNX runtimes, and is itself one.", "touchstone");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", TOUCHSTONE_VERSION);
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
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    // CLI11 misses a subcommand before it sees that another word stood in its place.
    const std::vector<std::string> left = app.remaining();
    const bool misnamed = app.get_subcommands().empty() && !left.empty();
    const std::string what =
        misnamed ? "there is no subcommand '" + left.front() + "'" : std::string(error.what());
    print_error(
        Error(ErrorKind::usage, what).with_help("touchstone --help, touchstone SUBCOMMAND --help"));
    return static_cast<int>(ExitCode::usage);
  }
  return static_cast<int>(out);
}

}  // namespace
}  // namespace touchstone

int main(int count, char** arguments) { return touchstone::touchstone_main(count, arguments); }
