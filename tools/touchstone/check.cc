// touchstone check MODEL: lists every rule of the format and of the operators that the model
// violates, worst first.
#include <fmt/format.h>

#include "core/error.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/reports.h"

namespace touchstone::command {
namespace {

struct CheckArgs {
  std::string model;
  // A graph of a million nodes takes 2 GiB.
  LimitArgs limits{.preset = "untrusted", .memory = "4G"};
  JsonOutput json;
};

ExitCode check_model(const CheckArgs& args) {
  const Limits limits = args.limits.limits();
  const CommandBudget budget(limits);
  const std::vector<Error> breaches =
      breaches_of([&] { return load_model(args.model, limits); }, limits);
  if (args.json) write_json(args.json, check_report(args.model, breaches));
  for (const Error& breach : breaches) print_error(breach);
  if (breaches.empty()) {
    if (!args.json.takes_stdout())
      fmt::print("{}: {}\n", printable(args.model), styled(Stream::out, Style::green, "valid"));
    return ExitCode::fine;
  }
  inform("{} {}\n", breaches.size(), breaches.size() == 1 ? "breach" : "breaches");
  return exit_code(breaches.front().kind);
}

}  // namespace

void add_check(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<CheckArgs>();
  CLI::App* command = app.add_subcommand("check", "Hold a model against the rules");
  command->add_option("model", args->model, "An .onnx file, trusted with nothing")
      ->required()
      ->type_name("MODEL");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return check_model(*args); }); });
}

}  // namespace touchstone::command
