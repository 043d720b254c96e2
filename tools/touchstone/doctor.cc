// touchstone doctor: which of the released runtimes that are targets can start here. --install NAME
// makes the environment of one; without the script that does so, it says what would.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/data.h"
#include "conformance/targets/host.h"
#include "conformance/targets/launch.h"
#include "tools/touchstone/command.h"

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct DoctorArgs {
  std::string install;
  JsonOutput json;
};

ExitCode install(const std::string& name) {
  const auto known = targets::released_runtimes();
  if (std::ranges::find(known, name) == known.end())
    throw Error(ErrorKind::usage, "there is no runtime '" + name + "' to install")
        .with_help(fmt::format("runtimes: {}", fmt::join(known, ", ")));
  const fs::path script = conformance::data_folder() / "tools/setup.sh";
  if (!fs::exists(script)) {
    const std::string file =
        (conformance::data_folder() / ("requirements-" + name + ".txt")).string();
    throw Error(ErrorKind::unsupported, "an installation makes no environments")
        .with_help(fmt::format("python3 -m venv {0} && {0}/bin/python -m pip install -r '{1}'; "
                               "then the target is {0}:python={0}/bin/python",
                               name, file));
  }
  const int code = conformance::run_beside_data({"/bin/bash", script.string(), name});
  if (code != 0)
    throw Error(ErrorKind::file, fmt::format("{} ended with exit code {}", script.string(), code))
        .with_help(
            fmt::format("in {}: tools/setup.sh {}", conformance::data_folder().string(), name));
  inform("{} is installed: {}\n", name, conformance::python_of_runtime(name));
  return ExitCode::fine;
}

// Starts a runtime's worker once, and returns what it says of itself.
Json state_of(std::string_view name) {
  Json state{{"name", name}, {"version", nullptr}, {"python", nullptr}, {"detail", ""}};
  try {
    const targets::Launch started =
        targets::launch(std::string(name), "", targets::share_of_memory(1));
    state["python"] = started.command.front();
    state["version"] = targets::Host(started.command, std::chrono::seconds(1)).describe().version;
  } catch (const Error& error) {
    state["detail"] = error.message + (error.help.empty() ? "" : ": " + error.help);
  }
  return state;
}

ExitCode doctor(const DoctorArgs& args) {
  if (!args.install.empty()) return install(args.install);
  Json states = Json::array();
  for (const std::string_view name : targets::released_runtimes()) {
    const Json& state = states.emplace_back(state_of(name));
    if (args.json.takes_stdout()) continue;
    const bool starts = !state["version"].is_null();
    fmt::print("{:11}  {}\n", name,
               starts ? fmt::format("{}, {}", state["version"].get<std::string>(),
                                    state["python"].get<std::string>())
                      : printable(state["detail"].get<std::string>()));
  }
  if (args.json) write_json(args.json, {{"schema", "touchstone.doctor/1"}, {"runtimes", states}});
  return ExitCode::fine;
}

}  // namespace

void add_doctor(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<DoctorArgs>();
  CLI::App* command =
      app.add_subcommand("doctor", "Say which released runtimes can be targets here");
  command->add_option("--install", args->install, "Make the environment of this one")
      ->type_name("NAME");
  add_json(*command, args->json);
  command->callback([args, &out] { out = guarded(args->json, [&] { return doctor(*args); }); });
}

}  // namespace touchstone::command
